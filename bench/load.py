"""Generates load on 16 connections with wrk, or with an asyncio client if wrk is missing."""

import asyncio
import http.client
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.debian import Peer, find
from bench.programs import PORTAL_TOKEN, Program

CONNECTIONS = 16
SCRIPT = Path(__file__).with_name("load.lua")


@dataclass(frozen=True, slots=True)
class Load:
    """The result of one turn. ``p50_s`` and ``p99_s`` are percentiles of the latency."""

    requests: int
    seconds: float
    errors: int
    p50_s: float
    p99_s: float

    @property
    def per_s(self) -> float:
        return self.requests / self.seconds


def press(
    program: Program,
    paths: Sequence[str],
    seconds: float,
    pause_ms: int = 0,
    **named: str,
) -> Load:
    """Request the paths in turn for ``seconds``. Raises RuntimeError unless every status is 2xx.

    ``named`` are further request headers, with "_" for "-".
    """
    headers = {"Authorization": PORTAL_TOKEN}
    headers |= {name.replace("_", "-"): value for name, value in named.items()}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    file = program.directory / "paths.txt"
    file.write_text("\n".join(paths))
    wrk = find("wrk")
    if wrk is None:
        load = asyncio.run(_press(program.port, paths, seconds, pause_ms, lines))
    else:
        load = _wrk(wrk, program, file, seconds, pause_ms, lines)
    if load.errors or not load.requests:
        raise RuntimeError(f"{program.name}: {load.errors} errors in {load.requests} requests")
    return load


def _wrk(
    wrk: Peer, program: Program, file: Path, seconds: float, pause_ms: int, headers: Sequence[str]
) -> Load:
    env = {**os.environ, **wrk.env, "LOAD_PATHS": str(file), "LOAD_PAUSE_MS": str(pause_ms)}
    env["LOAD_HEADERS"] = "\n".join(headers)
    output = subprocess.run(
        [
            *(wrk.path, "-t2", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s"),
            *("--timeout", "20s", "-s", str(SCRIPT), program.url),
        ],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return read_figures(output)


def read_figures(output: str) -> Load:
    line = next(line for line in output.splitlines() if line.startswith("FIGURES"))
    requests, microseconds, errors, p50, p99 = (int(part) for part in line.split()[1:])
    return Load(requests, microseconds / 1e6, errors, p50 / 1e6, p99 / 1e6)


async def _press(
    port: int, paths: Sequence[str], seconds: float, pause_ms: int, headers: Sequence[str]
) -> Load:
    """Generate the load with asyncio, which is too slow for the full rate of nginx."""
    head = "\r\n".join(["Host: 127.0.0.1", *headers])
    requests = [f"GET {path} HTTP/1.1\r\n{head}\r\n\r\n".encode() for path in paths]
    latencies: list[float] = []
    errors = 0
    ends_at = time.perf_counter() + seconds

    async def one(first: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = first * len(requests) // CONNECTIONS
        while (started := time.perf_counter()) < ends_at:
            writer.write(requests[turn % len(requests)])
            turn += 1
            head = await reader.readuntil(b"\r\n\r\n")
            lower = head.lower()
            if b"content-length:" in lower:
                length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
            else:
                await _read_chunks(reader)
            errors += not head.startswith(b"HTTP/1.1 2")
            latencies.append(time.perf_counter() - started)
            if pause_ms:
                await asyncio.sleep(pause_ms / 1000)
        writer.close()

    await asyncio.gather(*(one(number) for number in range(CONNECTIONS)))
    latencies.sort()
    half, last = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
    return Load(len(latencies), seconds, errors, half, last)


async def _read_chunks(reader: asyncio.StreamReader) -> None:
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()


def ask_each(portals: Sequence[Program], paths: Sequence[str], connections: int) -> float:
    """Request each path once, with the next client that is free. Return the seconds taken.

    Each portal has so many ``connections``. Raises RuntimeError unless every status is 200.
    """
    numbers = itertools.count()
    failed: list[str] = []

    def client(portal: Program) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=60)
        connection.connect()
        sock = connection.sock
        sent = 0
        while (number := next(numbers)) < len(paths) and not failed:
            request = (
                f"GET {paths[number]} HTTP/1.1\r\nHost: portal\r\n"
                f"Authorization: {PORTAL_TOKEN}\r\n\r\n"
            )
            sock.sendall(request.encode())
            answer = sock.recv(65_536)
            head, _, body = answer.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            missing = length - len(body)
            while missing > 0:
                missing -= len(sock.recv(65_536))
            sent += 1
            if not head.startswith(b"HTTP/1.1 200"):
                failed.append(head.decode("latin-1"))
        connection.close()

    threads = [
        threading.Thread(target=client, args=(portal,))
        for portal in portals
        for _ in range(connections)
    ]
    started_at = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise RuntimeError(failed[0])
    return time.perf_counter() - started_at
