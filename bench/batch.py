"""Measures the speed of a batch, and the latency of hits and misses while the batch runs."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bench.misses import Visitor
from bench.programs import CHECKOUT, PORTAL_TOKEN, Program, Stage, family_of, processor_s
from bench.results import Report

DELAY_S = 0.2
CONCURRENCY = 8
HIT = "/detran/v1/decode/ZZZ9Z99"


def batch(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Run batches of lookups with an upstream that takes 0.2 s; time single lookups.

    The single lookups run on the idle portal, beside a batch, and beside ``bench.control``. The
    control process sends as many upstream requests and uses as much processor time as the batch
    process. It shows which part of the slowdown is due to the machine.
    """
    upstream = stage.upstream()
    address = f"{upstream.url}/d/{DELAY_S * 1000:.0f}"
    portal = stage.portal(address, BATCH_CONCURRENCY=str(CONCURRENCY))
    visitor = Visitor(portal.port)
    visitor.ask(HIT)
    plates = iter(all_plates())
    turns: dict[str, dict[str, list[float]]] = {
        name: {"hits": [], "misses": []} for name in ("idle", "beside", "control")
    }
    # A batch of this many plates lasts longer than the measurement beside it.
    count = round(2 * seconds * CONCURRENCY / DELAY_S * 1.5)
    ideal_s = count * DELAY_S / CONCURRENCY
    alone, interrupted, cpu_ms = [], [], []
    # The p99 of hits may be 0.3 ms in one idle turn and 0.6 ms in the next, so this benchmark takes
    # more turns than the others.
    rounds = 2 * rounds + 1
    for _ in range(rounds):
        _measure(portal, plates, seconds, turns["idle"])
        alone.append(_timed(portal, plates, count, lambda: None))
        cpu_before = _batch_cpu_s(portal)
        interrupted.append(
            _timed(
                portal, plates, count, lambda: _measure(portal, plates, seconds, turns["beside"])
            )
        )
        cpu_s = _batch_cpu_s(portal)
        # If the batch process was restarted, its processor time began again at 0.
        cpu_ms.append((cpu_s - cpu_before if cpu_s > cpu_before else cpu_s) / count * 1000)
        command = ["-m", "bench.control", address, str(CONCURRENCY), f"{cpu_ms[-1]:.1f}"]
        control = subprocess.Popen([sys.executable, *command], cwd=CHECKOUT)
        try:
            time.sleep(1)  # until the control process has started
            _measure(portal, plates, seconds, turns["control"])
        finally:
            control.kill()
            control.wait()
    for kind in ("hits", "misses"):
        beside, control_turn, idle = (turns[name][kind] for name in ("beside", "control", "idle"))
        name = f"p99 of {kind} beside a batch over"
        report.compare(f"{name} idle", beside, idle, "ms", 1.25, "at most")
        report.compare(
            f"{name} a process of the same use", beside, control_turn, "ms", 1.25, "at most"
        )
    ideal = [ideal_s] * rounds
    report.compare("a batch over its lookups / concurrency", alone, ideal, "s", 1.25, "at most")
    slowed = statistics.median(interrupted) / ideal_s
    report.note(f"the same while clients use the rest of the processors: {slowed:.2f}")
    report.note(f"processor time of the batch process, ms a lookup: {cpu_ms[-1]:.1f}")


def _timed(portal: Program, plates: Any, count: int, beside: Callable[[], None]) -> float:
    """Run a batch, call ``beside`` while it runs, and return the batch's duration in seconds."""
    started_at = time.monotonic()
    number = start_batch(portal, [next(plates) for _ in range(count)])
    beside()
    _wait(portal, number)
    return time.monotonic() - started_at


def _batch_cpu_s(portal: Program) -> float:
    """Return the processor time of the batch process so far, or 0 if there is no batch process."""
    main = os.getpriority(os.PRIO_PROCESS, portal.process.pid)
    for pid in family_of(portal.process.pid):
        with suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, pid) > main:
                return processor_s(pid)
    return 0.0


def _measure(portal: Program, plates: Any, seconds: float, into: dict[str, list[float]]) -> None:
    """Measure hits, then misses, for ``seconds`` each. Append the p99 in ms of each to ``into``."""
    into["hits"].append(_p99(portal, lambda: HIT, seconds, 1))
    into["misses"].append(_p99(portal, lambda: f"/detran/v1/decode/{next(plates)}", seconds, 4))


def _p99(portal: Program, path: Callable[[], str], seconds: float, clients: int) -> float:
    times: list[float] = []
    lock = threading.Lock()

    def ask() -> None:
        visitor = Visitor(portal.port)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with lock:
                target = path()
            taken = visitor.timed(target)
            with lock:
                times.append(taken)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)[int(len(times) * 0.99)] * 1e3


def start_batch(portal: Program, plates: list[str]) -> str:
    found = send(portal, "/api/v1/batches", {"plates": plates, "ask": ["decode"]})
    send(portal, f"/api/v1/batches/{found['id']}/start", {})
    return str(found["id"])


def _wait(portal: Program, number: str) -> None:
    while (found := send(portal, f"/api/v1/batches/{number}"))["state"] == "running":
        time.sleep(0.1)
    if found["counts"]["done"] != found["counts"]["total"]:
        raise RuntimeError(f"the batch ended as {found['state']}: {found['counts']}")


def send(portal: Program, path: str, body: object = None) -> Any:
    request = urllib.request.Request(
        portal.url + path,
        None if body is None else json.dumps(body).encode(),
        {"Authorization": PORTAL_TOKEN, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def all_plates() -> Any:
    letters = "ABCDEFGHIJ"
    for number in range(1_000_000):
        first, rest = divmod(number, 10_000)
        yield (
            f"{letters[first // 10 % 10]}{letters[first % 10]}Q{rest // 1000}"
            f"{letters[rest // 100 % 10]}{rest % 100:02}"
        )
