"""Real worker processes under load and when killed: no call is repeated or lost."""

import csv
import io
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests import factories
from tests.effort import cases, long
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, in_turn, one, together
from tests.outages.visitor import signed_in

HEADER = {"Authorization": PORTAL_TOKEN}
WORKERS = 4


@pytest.fixture
def server(upstream: FaultUpstream, secondary: FaultUpstream) -> Iterator[PortalProcess]:
    settings = managed(upstream.url, secondary.url) | PATIENT
    with PortalProcess(settings, workers=WORKERS) as running:
        yield running


def ledger_of(server: PortalProcess) -> list[dict[str, str]]:
    printed = server.command_line("ledger", "--csv")
    assert printed.returncode == 0, printed.stderr
    return list(csv.DictReader(io.StringIO(printed.stdout)))


def calls(*upstreams: FaultUpstream) -> int:
    return sum(each.count() for each in upstreams)


def crowd(plate: str, cookie: dict[str, str], count: int) -> list[Ask]:
    """Return requests for one plate: JSON with a header or a parameter, and pages."""
    path = path_of("decode", plate)
    kinds = [
        Ask(path, HEADER),
        Ask(f"{path}?at={PORTAL_TOKEN}"),
        Ask(f"/placa/{plate}?completo=1", cookie),
    ]
    return [kinds[index % 3] for index in range(count)]


each_crowd = pytest.mark.parametrize("clients", [150, *long(500)])


@each_crowd
def test_concurrent_misses_make_one_call_per_operation(
    server: PortalProcess, upstream: FaultUpstream, secondary: FaultUpstream, clients: int
) -> None:
    upstream.default(faults.slow_first_byte(0.5))
    answers = together(server.port, crowd("ABC1D23", signed_in(server), clients))
    assert {answer.status for answer in answers} == {200}
    assert [upstream.count(path_of(name)) for name in ("decode", "renainf", "renajud")] == [1, 1, 1]
    assert secondary.count() == 0
    scripts = {answer.body for answer in answers if b"<html" not in answer.body}
    assert scripts == {factories.decode_body("ABC1D23")}
    assert len(ledger_of(server)) == 3


@each_crowd
def test_concurrent_misses_of_a_failure_make_two_calls(
    server: PortalProcess, upstream: FaultUpstream, secondary: FaultUpstream, clients: int
) -> None:
    for each in (upstream, secondary):
        each.default(faults.slow_first_byte(0.3, faults.status(500)))
    path = path_of("decode")
    answers = together(server.port, [Ask(path, HEADER)] * clients)
    assert {answer.status for answer in answers} == {502}
    assert (upstream.count(), secondary.count()) == (1, 1)
    assert len(ledger_of(server)) == 2


@pytest.mark.parametrize("death", ["refused", *long("reset", "500")])
def test_primary_failure_in_mid_traffic_fails_no_request(
    server: PortalProcess, upstream: FaultUpstream, secondary: FaultUpstream, death: str
) -> None:
    """600 or 1,600 requests for 200 plates over 64 connections; the fault occurs after 80 calls."""
    plates = [f"ABC1D{number % 100:02}" for number in range(100)]
    plates += [f"DEF{number % 10}G{number % 100:02}" for number in range(200)]
    unique = sorted(set(plates))
    asks = [Ask(path_of("decode", plate), HEADER) for plate in unique * cases(3, 8)]
    at = int(len(unique) * 0.4)

    def inject_fault() -> None:
        upstream.wait_for_calls(at, 60)
        match death:
            case "refused":
                upstream.stop()
            case "reset":
                upstream.default(faults.reset_before_a_byte())
            case _:
                upstream.default(faults.status(500))

    fault_thread = threading.Thread(target=inject_fault)
    fault_thread.start()
    answers = in_turn(server.port, asks, clients=64)
    fault_thread.join()
    assert len(answers) == len(asks)
    assert {answer.status for answer in answers} == {200}
    assert calls(upstream, secondary) <= len(unique) + 64

    def ledger_agrees() -> bool:
        """Return whether the ledger's rows match the upstream's calls.

        A stopped upstream cuts off calls that it may not have read. The rows of these calls have
        the outcome "broken", and the fake upstream may not have counted them.
        """
        rows, counted = ledger_of(server), calls(upstream, secondary)
        cut_off = sum(row["outcome"] == "broken" for row in rows) if death == "refused" else 0
        return len(rows) - cut_off <= counted <= len(rows)

    wait_until(ledger_agrees, "a matching ledger")


def test_worker_killed_in_mid_call_costs_one_more_call(
    server: PortalProcess, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """Requests at other workers are answered, and the ledger keeps the lost call."""
    gate = threading.Event()
    upstream.script("/", faults.held(gate), faults.good())
    path = path_of("decode")
    with ThreadPoolExecutor(2000) as pool:
        futures: list[Future[Answer]] = []
        # One worker may accept all connections, so add requests until two workers hold some.
        while len(held := _connections(server)) < 2 or held.total() < len(futures):
            if held.total() == len(futures):
                futures += [pool.submit(one, server.port, Ask(path, HEADER)) for _ in range(40)]
            time.sleep(0.05)
        upstream.wait_for_calls(1)
        time.sleep(0.3)
        leader = _holder_of_a_lease(server)
        server.kill_worker(leader)
        upstream.wait_for_calls(2)
        statuses = Counter(each.result().status for each in futures)
    gate.set()
    assert calls(upstream, secondary) == 2
    assert statuses == {0: held[leader], 200: held.total() - held[leader]}
    wait_until(lambda: len(server.worker_pids()) == WORKERS, "the replacement")
    assert one(server.port, Ask(path, HEADER)).status == 200
    outcomes = sorted(row["outcome"] for row in ledger_of(server))
    assert outcomes == ["answered", "maybe"]


def _connections(server: PortalProcess) -> Counter[int]:
    """Return the number of connections that each worker has accepted, from /proc."""
    accepted: Counter[int] = Counter()
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    here, established = f":{server.port:04X}", "01"
    sockets = {
        f"socket:[{words[9]}]"
        for words in lines
        if words[1].endswith(here) and words[3] == established
    }
    for pid in server.worker_pids():
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                accepted[pid] += str(descriptor.readlink()) in sockets
    return +accepted  # drops workers without connections


def _holder_of_a_lease(server: PortalProcess) -> int:
    """Return the worker that holds the lock of the lease file, from /proc/locks."""
    (lease,) = (server.data_dir / "leases").iterdir()
    inode = lease.stat().st_ino
    with Path("/proc/locks").open() as locks:
        for line in locks:
            words = line.split()
            if "FLOCK" in words and words[-3].endswith(f":{inode}"):
                return int(words[-4])
    raise AssertionError("no process holds the lease")


def test_restart_keeps_stored_answers(
    server: PortalProcess, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    asks = [Ask(path_of("decode", f"ABC1D{number:02}"), HEADER) for number in range(30)]
    assert {answer.status for answer in in_turn(server.port, asks, clients=8)} == {200}
    server.stop()
    server.start()
    assert {answer.status for answer in in_turn(server.port, asks, clients=8)} == {200}
    assert calls(upstream, secondary) == 30


def test_purge_on_a_running_server_completes_in_a_second(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    for operation in ("decode", "renainf", "renajud"):
        for plate in ("ABC1234", "ABC1C34", "DEF4G56"):
            assert one(server.port, Ask(path_of(operation, plate), HEADER)).status == 200
    files = [path for path in server.data_dir.rglob("*") if path.is_file()]
    assert any(b"ABC1234" in path.read_bytes() for path in files)
    done = server.command_line("purge", "abc-1234")
    ended = time.monotonic()
    assert done.returncode == 0, done.stderr
    files = [path for path in server.data_dir.rglob("*") if path.is_file()]
    for name in (b"ABC1234", b"ABC1C34"):
        assert not any(name in path.read_bytes() for path in files)
    time.sleep(max(0.0, 1.1 - (time.monotonic() - ended)))
    only = {**HEADER, "Cache-Control": "only-if-cached"}
    asks = [Ask(path_of("decode", plate), only) for plate in ("ABC1234", "ABC1C34") * 8]
    assert {one(server.port, ask).status for ask in asks} == {504}
    assert one(server.port, Ask(path_of("decode", "DEF4G56"), only)).status == 200
    assert len(ledger_of(server)) == 9
    with sqlite3.connect(server.data_dir / "portal.sqlite") as db:
        assert db.execute("SELECT count(*) FROM ledger WHERE subject = ''").fetchone() == (6,)
    db.close()


def metrics_of(server: PortalProcess) -> dict[str, float]:
    lines = server.get("/metrics").text.splitlines()
    parts = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in parts}


def lookups(counted: dict[str, float]) -> float:
    return sum(value for name, value in counted.items() if name.startswith("portal_lookups_total"))


def test_metrics_sum_over_workers_including_killed_ones(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    asks = [Ask(path_of("decode", f"ABC1D{number % 10:02}"), HEADER) for number in range(200)]
    in_turn(server.port, asks, clients=16)
    wait_until(lambda: lookups(metrics_of(server)) == 200, "the full count")
    server.kill_worker()
    wait_until(lambda: len(server.worker_pids()) == WORKERS, "the replacement")
    counted = metrics_of(server)
    assert lookups(counted) == 200
    attempts = 'portal_upstream_attempts_total{base="primary",operation="decode",outcome='
    assert counted[attempts + '"answered"}'] == upstream.count() == 10
    assert counted['portal_breaker_state{base="primary",state="closed"}'] == 1
    assert not re.search("ABC1D|" + PORTAL_TOKEN, server.get("/metrics").text)


def test_stop_does_not_wait_for_loading_workers(upstream: FaultUpstream) -> None:
    """A worker has over 120 s to load. ``stop`` fails if the portal runs 30 s later."""
    with PortalProcess(managed(upstream.url) | PATIENT, workers=WORKERS) as early:
        assert early.stop() == 0
