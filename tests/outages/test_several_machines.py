"""Two portals that share only a Redis, a PostgreSQL and a secret key."""

import csv
import io
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

import pytest

from portal.gateway.ledger import Ledger, UpstreamCall
from tests import factories
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess, opened
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.one_tenant import NAMESPACE
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Answer, Ask, one, together
from tests.outages.visitor import signed_in

pytestmark = pytest.mark.long

redis = pytest.importorskip("redis", reason="redis-py is not installed")

HEADER = {"Authorization": PORTAL_TOKEN}
ONLY_IF_CACHED = {**HEADER, "Cache-Control": "only-if-cached"}
WORKERS = 2


class Machines(NamedTuple):
    here: PortalProcess
    there: PortalProcess
    upstream: FaultUpstream
    database: PostgresProcess
    database_url: str
    store: RedisProcess

    @property
    def portals(self) -> tuple[PortalProcess, PortalProcess]:
        return self.here, self.there


@contextmanager
def _machines(
    database: PostgresProcess, store: RedisProcess, workers: int = WORKERS, **named: str
) -> Iterator[Machines]:
    """Start two portals at once on an empty database, as a deployment does."""
    with ExitStack() as stack, ThreadPoolExecutor(2) as starting:
        upstream = stack.enter_context(FaultUpstream())
        settings = {
            **managed(upstream.url),
            **PATIENT,
            "PORTAL_REDIS_URL": store.url,
            "PORTAL_DATABASE_URL": (url := database.new_database()),
            "PORTAL_SECRET_KEY": f"what portals share {named}",
            **named,
        }
        portals = [PortalProcess(settings, workers=workers) for _ in range(2)]
        for portal in portals:
            stack.callback(portal.close)
        here, there = starting.map(PortalProcess.start, portals)
        assert here.data_dir != there.data_dir
        yield Machines(here, there, upstream, database, url, store)


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[PostgresProcess, RedisProcess]]:
    with RedisProcess() as store, PostgresProcess() as database:
        yield database, store


@pytest.fixture(scope="module")
def running(shared: tuple[PostgresProcess, RedisProcess]) -> Iterator[Machines]:
    with _machines(*shared) as machines:
        yield machines


@pytest.fixture
def machines(running: Machines) -> Machines:
    running.upstream.default(faults.good())
    return running


def lookup(portal: PortalProcess, plate: str, headers: dict[str, str] = HEADER) -> Answer:
    return one(portal.port, Ask(path_of("decode", plate), headers))


def everywhere(machines: Machines, plate: str, headers: dict[str, str]) -> set[int]:
    """Return the statuses of several lookups of a plate at both portals."""
    return {lookup(each, plate, headers).status for each in machines.portals for _ in range(8)}


def is_answered(portal: PortalProcess, plate: str) -> bool:
    return lookup(portal, plate).status == 200


def ledger_of(portal: PortalProcess) -> list[dict[str, str]]:
    """Return the ledger as the command prints it."""
    printed = portal.command_line("ledger", "--csv")
    assert printed.returncode == 0, printed.stderr
    return list(csv.DictReader(io.StringIO(printed.stdout)))


def rows_of(machines: Machines) -> list[UpstreamCall]:
    """Read the ledger in this process, which is faster than the command."""
    with opened(machines.database_url, machines.here.data_dir) as database:
        return list(Ledger(database, namespace=NAMESPACE).rows(everywhere=True))


def issued(portal: PortalProcess, *words: str) -> dict[str, str]:
    done = portal.command_line("token", "issue", *words)
    assert done.returncode == 0, done.stderr
    return {"Authorization": done.stdout.splitlines()[-1]}


def crowd(machines: Machines, asks: list[Ask]) -> list[Answer]:
    """Send half of the requests to each portal, all at the same time."""
    half = len(asks) // 2
    with ThreadPoolExecutor(2) as both:
        answers = both.map(
            together, (each.port for each in machines.portals), (asks[:half], asks[half:])
        )
        return [answer for part in answers for answer in part]


def test_miss_at_one_portal_is_a_hit_at_the_other(machines: Machines) -> None:
    missed, hit = (lookup(each, "AAA1A00") for each in machines.portals)
    assert missed.headers["cache-status"] == "portal; fwd=miss; stored"
    assert hit.headers["cache-status"].startswith("portal; hit; ttl=")
    assert missed.body == hit.body == factories.decode_body("AAA1A00")
    assert machines.upstream.count(path_of("decode", "AAA1A00")) == 1


def test_200_misses_at_two_portals_make_one_call(machines: Machines) -> None:
    machines.upstream.default(faults.slow_first_byte(0.5))
    answers = crowd(machines, [Ask(path_of("decode", "AAA1A02"), HEADER)] * 200)
    assert {answer.status for answer in answers} == {200}
    assert {answer.body for answer in answers} == {factories.decode_body("AAA1A02")}
    assert machines.upstream.count(path_of("decode", "AAA1A02")) == 1


def test_revocation_reaches_both_portals_within_five_seconds(
    machines: Machines,
) -> None:
    token = issued(machines.here, "leaver")
    assert everywhere(machines, "AAA1A01", token) == {200}
    assert machines.there.command_line("token", "revoke", "leaver").returncode == 0
    revoked_at = time.monotonic()
    wait_until(lambda: everywhere(machines, "AAA1A01", token) == {403}, "the refusal", 5)
    # Each portal has several processes, and each of them its own memory of the token.
    time.sleep(max(revoked_at + 5 - time.monotonic(), 0))
    assert all(everywhere(machines, "AAA1A01", token) == {403} for _ in range(4))


def test_token_limit_is_exact_under_concurrency(machines: Machines) -> None:
    token = issued(machines.there, "small", "--daily-limit", "10")
    asks = [Ask(path_of("decode", f"BBB1B{number:02}"), token) for number in range(40)]
    statuses = [answer.status for answer in crowd(machines, asks)]
    assert (statuses.count(200), statuses.count(429)) == (10, 30)
    assert [row.caller for row in rows_of(machines)].count("small") == 10


def test_daily_limit_is_exact_under_concurrency(
    shared: tuple[PostgresProcess, RedisProcess],
) -> None:
    with _machines(*shared, workers=1, PORTAL_DAILY_CALL_LIMIT="15") as machines:
        asks = [Ask(path_of("decode", f"CCC1C{number:02}"), HEADER) for number in range(30)]
        answers = crowd(machines, asks)
        statuses = [answer.status for answer in answers]
        assert (statuses.count(200), statuses.count(503)) == (15, 15)
        assert machines.upstream.count() == 15
        refused = [each for each in answers if each.status == 503]
        assert all("limite diário".encode() in each.body for each in refused)


def test_ledger_is_equal_at_both_portals_and_matches_upstream(machines: Machines) -> None:
    for plate, each in zip(("AAA1A03", "AAA1A04"), machines.portals, strict=True):
        assert lookup(each, plate).status == 200
    with ThreadPoolExecutor(2) as both:
        here, there = both.map(ledger_of, machines.portals)
    assert here == there
    assert len(here) == machines.upstream.count() > 0
    assert {row["outcome"] for row in here} == {"answered"}


def test_history_is_shared_and_a_purge_covers_both_portals(
    machines: Machines,
) -> None:
    plate, kept = "QZX7K39", "DDD1D04"
    cookie = signed_in(machines.here)
    for visited in (plate, kept):
        machines.here.get(f"/placa/{visited}?completo=1", headers=cookie)
    assert plate in machines.there.get("/", headers=cookie).text
    started = time.monotonic()
    assert everywhere(machines, plate, ONLY_IF_CACHED) == {200}
    requests_took_s = time.monotonic() - started
    with redis.Redis.from_url(machines.store.url) as client:
        answers = f"portal:{'[0-9a-f]' * 24}:*"
        before = len(list(client.scan_iter(answers)))
        done = machines.there.command_line("purge", plate)
        purged_at = time.monotonic()
        assert (done.returncode, done.stdout) == (0, "Purged 3 stored answers.\n")
        assert len(list(client.scan_iter(answers))) == before - 3
    wait_until(lambda: everywhere(machines, plate, ONLY_IF_CACHED) == {504}, "the purge")
    assert time.monotonic() - purged_at < 1 + 0.5 + 2 * requests_took_s
    for each in machines.portals:
        page = each.get("/", headers=cookie).text
        assert plate not in page
        assert kept in page
    assert everywhere(machines, kept, ONLY_IF_CACHED) == {200}


def test_postgresql_outage_under_both_portals(machines: Machines) -> None:
    """Hits continue, a paid answer reaches its caller, and no call without a ledger row is sent.

    Afterwards all works as before, without a restart.
    """
    gate = threading.Event()
    assert lookup(machines.here, "AAA1A01").status == 200
    before = len(rows_of(machines))
    machines.upstream.script(path_of("decode", "EEE1E01"), faults.held(gate))
    with ThreadPoolExecutor(1) as caller:
        in_flight = caller.submit(lookup, machines.here, "EEE1E01")
        wait_until(lambda: machines.upstream.count(path_of("decode", "EEE1E01")), "the call")
        machines.database.stop()
        try:
            assert everywhere(machines, "AAA1A01", HEADER) == {200}
            for each in machines.portals:
                cold = lookup(each, "EEE1E02")
                assert cold.status == 503
                assert "não conseguiu registrar a consulta".encode() in cold.body
                assert int(cold.headers["retry-after"]) >= 1
                assert each.get("/readyz").status_code == 200
                assert each.get("/").status_code == 200
            printed = machines.here.command_line("ledger")
            assert (printed.returncode, printed.stdout) == (1, "")
            assert "The database cannot be used: " in printed.stderr.splitlines()[-1]
            killed = {machines.there.kill_worker()}
            wait_until(
                lambda: len(set(machines.there.worker_pids()) - killed) == WORKERS,
                "the replacement",
            )
            wait_until(lambda: lookup(machines.there, "AAA1A01").status == 200, "a hit")
            gate.set()
            assert in_flight.result().status == 200
        finally:
            gate.set()
            machines.database.start()
    assert machines.upstream.count(path_of("decode", "EEE1E02")) == 0
    for plate, each in zip(("EEE1E03", "EEE1E04"), machines.portals, strict=True):
        wait_until(partial(is_answered, each, plate), "recovery")

    def ends() -> list[str]:
        return [row.outcome for row in rows_of(machines)[before:]]

    # The first call ended during the outage, so its row is closed later.
    wait_until(lambda: ends() == ["answered"] * 3, "the ends of all three")
    assert lookup(machines.there, "EEE1E01").headers["cache-status"].startswith("portal; hit")
    for each in machines.portals:
        assert "Traceback" not in each.output
