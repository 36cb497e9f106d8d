"""Measures lookups over an emulated network, with an upstream that speaks TLS.

The upstream runs in a network namespace of its own. A TUN device there and one here are joined by
``python -m bench.network ROUND_TRIP_MS``, which delivers each IP packet after half a round trip.
Handshakes, slow start and closes are the kernel's own. This needs root and Linux.
"""

import ctypes
import fcntl
import os
import selectors
import shutil
import statistics
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import requests
import trustme

from bench.batch import all_plates, send, start_batch
from bench.caches import nginx
from bench.debian import find
from bench.misses import Visitor
from bench.programs import CHECKOUT, OPERATOR_TOKEN, Program, Stage, environment
from bench.programs import stage as new_stage
from bench.results import Report

ROUND_TRIPS_MS = (20, 60, 150)
UPSTREAM_MS = 300
PAUSE_S = 5.0  # longer than a spare connection lives
# The time from a page's first response to its script's requests. Chromium took 80 to 300 ms.
SCRIPT_S = 0.1
CONCURRENCY = 8
LOOKUPS = 12 * CONCURRENCY  # of a batch
_NAMESPACE, _NEAR, _FAR = "bench-far", "10.213.7.1", "10.213.7.2"
_TUN, _TUNSETIFF, _NEW_NETWORK = 0x1001, 0x400454CA, 0x40000000
_DECODE = "/detran/v1/decode/"


def network(_: Stage, report: Report, seconds: float, rounds: int) -> None:  # noqa: ARG001
    """Compare lookups with those of a session of ``requests`` that keeps its connection open."""
    if os.geteuid() != 0 or not shutil.which("ip") or not Path("/dev/net/tun").exists():
        report.note("no root, no ip command or no TUN devices: the network is left out")
        return
    for round_trip_ms in ROUND_TRIPS_MS:
        with _emulated(round_trip_ms), new_stage() as place:
            _measure(place, report, rounds, round_trip_ms)


def _measure(stage: Stage, report: Report, rounds: int, round_trip_ms: int) -> None:
    authority = stage.folder("tls") / "authority.pem"
    upstream = _upstream(stage, authority)
    address = f"https://{_FAR}:{upstream.port}/d/{UPSTREAM_MS}"
    with mock.patch.dict(os.environ, SSL_CERT_FILE=str(authority)):
        portal = stage.portal(address)
        of_three = stage.portal(address, "three", UPSTREAM_SPARES="3", WORKERS="1")
    plates = iter(all_plates())
    session = requests.Session()
    session.verify, session.trust_env = str(authority), False
    session.headers["Authorization"] = OPERATOR_TOKEN
    visitor, several = Visitor(portal.port).sign_in(), Visitor(of_three.port).sign_in()
    peer = find("nginx")
    cache = Visitor(nginx(stage, peer, upstream.port, "https", _FAR).port) if peer else None

    def direct() -> float:
        return _timed(lambda: session.get(address + _DECODE + next(plates)).content)

    def miss() -> float:
        return visitor.timed(_DECODE + next(plates))

    def page() -> float:
        plate = next(plates)
        visitor.ask(f"/placa/{plate}")
        time.sleep(SCRIPT_S)
        return visitor.timed(f"/placa/{plate}/painel/resumo")

    def whole_page() -> float:
        return several.timed(f"/placa/{next(plates)}?completo=1")

    def slot() -> float:
        number = start_batch(portal, [next(plates) for _ in range(LOOKUPS)])
        began, began_at = 0, 0.0
        while (done := send(portal, f"/api/v1/batches/{number}")["counts"]["done"]) < LOOKUPS:
            if began == 0 and done >= CONCURRENCY:
                began, began_at = done, time.perf_counter()
            time.sleep(0.02)
        return (time.perf_counter() - began_at) / (LOOKUPS - began) * CONCURRENCY

    def after_pause() -> float:
        time.sleep(PAUSE_S)
        return miss()

    direct(), miss(), whole_page(), slot()  # open the connections, and start the batch process
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for kind, measure, turns in (
            ("session", direct, 5),
            ("miss", miss, 5),
            ("page", page, 5),
            ("whole", whole_page, 5),
            ("slot", slot, 1),
            ("pause", after_pause, 1),
        ):
            times = [measure() for _ in range(turns)]
            found.setdefault(kind, []).append(statistics.median(times) * 1e3)
        if cache is not None:
            times = [cache.timed(f"/d/{UPSTREAM_MS}{_DECODE}{next(plates)}") for _ in range(5)]
            found.setdefault("nginx", []).append(statistics.median(times) * 1e3)
    where = f"over an open connection, round trip {round_trip_ms} ms, TLS upstream {UPSTREAM_MS} ms"
    for kind, text, goal in (
        ("miss", "a miss", 1.05),
        ("nginx", "nginx's miss", 1.05),
        ("page", "a cold page over its slowest lookup", 1.08),
        ("whole", "a whole page, UPSTREAM_SPARES=3, after another, over its slowest lookup", 1.08),
        ("slot", "a batch's lookup", 1.05),
        ("pause", "the first miss after a pause", 2.0),
    ):
        if kind in found:
            name = f"{text} {where}"
            report.compare(name, found[kind], found["session"], "ms", goal, "at most")


def _timed(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def _upstream(stage: Stage, authority: Path) -> Program:
    """Start the upstream in the namespace, with a certificate of a new authority."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(authority))
    certificate = made.issue_cert(_FAR)
    key, chain = authority.with_name("key.pem"), authority.with_name("chain.pem")
    certificate.private_key_pem.write_to_path(str(key))
    chain.write_bytes(b"".join(each.bytes() for each in certificate.cert_chain_pems))
    command = ["ip", "netns", "exec", _NAMESPACE, sys.executable, "-m", "bench.serve", "upstream"]
    return stage.run("far", [*command, "{port}", _FAR, str(chain), str(key)], host=_FAR)


@contextmanager
def _emulated(round_trip_ms: int) -> Iterator[None]:
    """Join this network namespace and a new one by a link with this round trip."""
    _ip("netns", "add", _NAMESPACE)
    relay = None
    try:
        for device, address, inside in (
            ("bench-near", _NEAR, ()),
            ("bench-far", _FAR, ("-netns", _NAMESPACE)),
        ):
            _ip(*inside, "tuntap", "add", "dev", device, "mode", "tun")
            _ip(*inside, "addr", "add", f"{address}/30", "dev", device)
            _ip(*inside, "link", "set", device, "up")
        command = [sys.executable, "-m", "bench.network", str(round_trip_ms)]
        relay = subprocess.Popen(command, cwd=CHECKOUT, env=environment())
        yield
    finally:
        if relay is not None:
            relay.kill()
            relay.wait()
        _ip("link", "del", "bench-near")
        _ip("netns", "del", _NAMESPACE)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _device(name: str) -> int:
    number = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(number, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN))
    return number


def main(round_trip_s: float) -> None:
    """Carry packets between both devices, each after half a round trip."""
    near = _device("bench-near")
    with Path(f"/run/netns/{_NAMESPACE}").open("rb") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    far = _device("bench-far")
    on_the_way: deque[tuple[float, int, bytes]] = deque()
    with selectors.DefaultSelector() as selector:
        selector.register(near, selectors.EVENT_READ, far)
        selector.register(far, selectors.EVENT_READ, near)
        while True:
            now = time.monotonic()
            while on_the_way and on_the_way[0][0] <= now:
                _, to, packet = on_the_way.popleft()
                os.write(to, packet)
            pause_s = max(0.0, on_the_way[0][0] - now) if on_the_way else None
            for key, _ in selector.select(pause_s):
                packet = os.read(key.fd, 65_536)
                on_the_way.append((time.monotonic() + round_trip_s / 2, key.data, packet))


if __name__ == "__main__":
    main(float(sys.argv[1]) / 1000)
