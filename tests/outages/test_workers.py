"""Real worker processes under a crowd and under the knife: never paid twice, never lost."""

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
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, in_turn, one, together
from tests.outages.visitor import signed_in

HEADER = {"Authorization": PORTAL_TOKEN}
WORKERS = 4


@pytest.fixture
def server(upstream: FaultUpstream, secondary: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url, secondary.url), workers=WORKERS) as running:
        yield running


def ledger_of(server: PortalProcess) -> list[dict[str, str]]:
    printed = server.command_line("ledger", "--csv")
    assert printed.returncode == 0, printed.stderr
    return list(csv.DictReader(io.StringIO(printed.stdout)))


def calls(*upstreams: FaultUpstream) -> int:
    return sum(each.count() for each in upstreams)


def crowd(plate: str, cookie: dict[str, str], count: int) -> list[Ask]:
    """Scripts by both credentials, and people, all after one plate."""
    path = path_of("decode", plate)
    kinds = [
        Ask(path, HEADER),
        Ask(f"{path}?at={PORTAL_TOKEN}"),
        Ask(f"/placa/{plate}?completo=1", cookie),
    ]
    return [kinds[index % 3] for index in range(count)]


def test_500_at_once_over_4_processes_cost_one_call_an_operation_and_all_are_answered(
    server, upstream, secondary
):
    upstream.default(faults.slow_first_byte(0.5))
    answers = together(server.port, crowd("ABC1D23", signed_in(server), 500))
    assert {answer.status for answer in answers} == {200}
    assert [upstream.count(path_of(name)) for name in ("decode", "renainf", "renajud")] == [1, 1, 1]
    assert secondary.count() == 0
    scripts = {answer.body for answer in answers if b"<html" not in answer.body}
    assert scripts == {factories.decode_body("ABC1D23")}
    assert len(ledger_of(server)) == 3


def test_500_at_once_against_two_failing_addresses_cost_two_calls(server, upstream, secondary):
    """Varnish made 200 calls of 200 requests here."""
    for each in (upstream, secondary):
        each.default(faults.slow_first_byte(0.3, faults.status(500)))
    path = path_of("decode")
    answers = together(server.port, [Ask(path, HEADER)] * 500)
    assert {answer.status for answer in answers} == {502}
    assert (upstream.count(), secondary.count()) == (1, 1)
    assert len(ledger_of(server)) == 2


@pytest.mark.parametrize("death", ["refused", "reset", "500"])
def test_the_primary_dies_in_mid_traffic_and_nobody_notices(server, upstream, secondary, death):
    """1,500 requests over 300 plates by 64 connections; the fault at 40 %."""
    plates = [f"ABC1D{number % 100:02}" for number in range(100)]
    plates += [f"DEF{number % 10}G{number % 100:02}" for number in range(200)]
    unique = sorted(set(plates))
    asks = [Ask(path_of("decode", plate), HEADER) for plate in unique * 8]
    at = int(len(unique) * 0.4)

    def strike() -> None:
        upstream.wait_for_calls(at, 60)
        match death:
            case "refused":
                upstream.stop()
            case "reset":
                upstream.default(faults.reset_before_a_byte())
            case _:
                upstream.default(faults.status(500))

    striker = threading.Thread(target=strike)
    striker.start()
    answers = in_turn(server.port, asks, clients=64)
    striker.join()
    assert len(answers) == len(asks)
    assert {answer.status for answer in answers} == {200}
    assert calls(upstream, secondary) <= len(unique) + 64

    def ledger_agrees() -> bool:
        """A server that dies cuts off what it may not have read: such a row reads "broken", and
        the fake that cut it has not counted it. All others are counted one for one."""
        rows, counted = ledger_of(server), calls(upstream, secondary)
        cut_off = sum(row["outcome"] == "broken" for row in rows) if death == "refused" else 0
        return len(rows) - cut_off <= counted <= len(rows)

    wait_until(ledger_agrees, "an equal ledger")


def test_a_worker_killed_in_mid_call_costs_one_call_more_and_ends_nothing(
    server, upstream, secondary
):
    """Whoever waited at other workers is answered; the leader's call stays in the ledger."""
    gate = threading.Event()
    upstream.script("/", faults.held(gate), faults.good())
    path = path_of("decode")
    with ThreadPoolExecutor(2000) as pool:
        asked: list[Future[Answer]] = []
        # All of a crowd may be taken by one worker, and then nobody waits at another.
        while len(held := _connections(server)) < 2 or held.total() < len(asked):
            if held.total() == len(asked):
                asked += [pool.submit(one, server.port, Ask(path, HEADER)) for _ in range(40)]
            time.sleep(0.05)
        upstream.wait_for_calls(1)
        time.sleep(0.3)
        leader = _holder_of_a_lease(server)
        server.kill_worker(leader)
        upstream.wait_for_calls(2)
        statuses = Counter(each.result().status for each in asked)
    gate.set()
    assert calls(upstream, secondary) == 2
    assert statuses == {0: held[leader], 200: held.total() - held[leader]}
    wait_until(lambda: len(server.worker_pids()) == WORKERS, "the replacement")
    assert one(server.port, Ask(path, HEADER)).status == 200
    outcomes = sorted(row["outcome"] for row in ledger_of(server))
    assert outcomes == ["answered", "maybe"]


def _connections(server: PortalProcess) -> Counter[int]:
    """How many clients each worker has taken: the kernel says."""
    taken: Counter[int] = Counter()
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    here, established = f":{server.port:04X}", "01"
    ours = {
        f"socket:[{words[9]}]"
        for words in lines
        if words[1].endswith(here) and words[3] == established
    }
    for pid in server.worker_pids():
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                taken[pid] += str(descriptor.readlink()) in ours
    return +taken  # without those that have none


def _holder_of_a_lease(server: PortalProcess) -> int:
    """Which worker holds the lock of a lease file: the kernel says."""
    (lease,) = (server.data_dir / "leases").iterdir()
    inode = lease.stat().st_ino
    with Path("/proc/locks").open() as locks:
        for line in locks:
            words = line.split()
            if "FLOCK" in words and words[-3].endswith(f":{inode}"):
                return int(words[-4])
    raise AssertionError("nobody holds the lease")


def test_a_restart_loses_no_paid_answer(server, upstream, secondary):
    asks = [Ask(path_of("decode", f"ABC1D{number:02}"), HEADER) for number in range(30)]
    assert {answer.status for answer in in_turn(server.port, asks, clients=8)} == {200}
    server.stop()
    server.start()
    assert {answer.status for answer in in_turn(server.port, asks, clients=8)} == {200}
    assert calls(upstream, secondary) == 30


def test_a_purge_beside_the_running_server_leaves_no_byte_within_a_second(server, upstream):
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


def test_metrics_add_up_over_the_workers_and_a_killed_one_takes_nothing_away(server, upstream):
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


def test_a_stop_just_after_the_start_does_not_wait_for_workers_that_still_load(upstream):
    started = time.monotonic()
    with PortalProcess(managed(upstream.url), workers=WORKERS) as early:
        assert early.stop() == 0
    assert time.monotonic() - started < 15
