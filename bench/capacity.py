"""Measures what a lookup costs, and computes at which rate which part of a fleet is full first.

The portals share one Redis and one PostgreSQL. The processor time of each program, the commands of
Redis and the statements of PostgreSQL are measured for a hit, a miss, a page and a lookup of a
batch. The model is a closed queueing network, solved by mean value analysis (Reiser and Lavenberg
1980): each shared part is a queue, and the upstream is a delay. Four portals on this machine, where
all programs share its processors, check the model.
"""

import multiprocessing
import os
import shutil
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
import redis
from sqlalchemy import create_engine, event

from bench.batch import all_plates, send
from bench.fleet import SHARED_SECRET
from bench.load import ask_each, press
from bench.misses import Visitor
from bench.programs import Program, Stage, family_of, processor_s
from bench.results import Report
from portal.access.tokens import Identity
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.lookup import Failure
from portal.gateway.reservation import PortalLimits
from portal.storage.opening import open_database
from tests.fakes.databases import PostgresProcess

PORTALS: Final = 4
RACERS: Final = 16
# The model: processors of a portal's machine and of the database's, lookups that a portal has
# under way, the share of hits, and the seconds that the upstream takes.
PORTAL_CORES: Final = 2
DATABASE_CORES: Final = 8
UNDER_WAY: Final = 64
HIT_SHARE: Final = 0.8
UPSTREAM_S: Final = 0.2
_FLEETS: Final = (1, 10, 100, 1000)
_PRICE: Final = Decimal("0.30")
_HOT: Final = [f"/detran/v1/decode/ABC{n // 100}D{n % 100:02d}" for n in range(100)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request costs: processor time in seconds, commands of Redis, statements.

    ``rest_s`` is the processor time of the upstream and of the clients of the measurement.
    """

    portal_s: float
    redis_s: float
    database_s: float
    rest_s: float
    commands: float
    statements: float

    @property
    def all_s(self) -> float:
        return self.portal_s + self.redis_s + self.database_s + self.rest_s


class Fleet:
    """Portals with one Redis, one PostgreSQL and one upstream."""

    def __init__(self, stage: Stage, postgres: PostgresProcess, redis_server: str) -> None:
        self._stage = stage
        self._postgres = postgres
        words = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        self._redis = stage.run("redis", [redis_server, "--port", "{port}", *words])
        self._commands = redis.Redis(port=self._redis.port)
        self._upstream = stage.upstream()
        prices = {f"PRICE_{name}": "0.30" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
        self._settings = {
            "REDIS_URL": f"redis://127.0.0.1:{self._redis.port}/0",
            "SECRET_KEY": SHARED_SECRET,
            "DATABASE_URL": postgres.new_database(),
            "WORKERS": "1",
            "MONTHLY_BUDGET": "100000",
            **prices,
        }
        self.portals: list[Program] = []

    def start(self, number: int) -> None:
        while len(self.portals) < number:
            name = f"portal-{len(self.portals)}"
            self.portals.append(self._stage.portal(self._upstream.url, name, **self._settings))

    def cost(self, work: Callable[[], int]) -> Cost:
        """Return what each request costs of those whose number ``work`` returns."""
        before = self._spent()
        requests = work()
        portal_s, redis_s, database_s, rest_s, commands = (
            (after - former) / requests for after, former in zip(self._spent(), before, strict=True)
        )
        statements = self._statements(work)
        return Cost(portal_s, redis_s, database_s, rest_s, commands, statements)

    def processor_s(self) -> float:
        """Return the processor time of all programs so far."""
        return sum(self._spent()[:4])

    def _spent(self) -> tuple[float, ...]:
        info: Mapping[str, Any] = self._commands.info()
        return (
            sum(each.cpu_s() for each in self.portals),
            info["used_cpu_user"] + info["used_cpu_sys"],
            processor_s(*family_of(self._postgres.pid)),
            self._upstream.cpu_s() + sum(os.times()[:4]),
            info["total_commands_processed"],
        )

    def _statements(self, work: Callable[[], int]) -> float:
        """Count the statements of further requests, in PostgreSQL's log."""
        self._log_statements("all")
        time.sleep(1)  # connections read the setting at their next statement
        before = self._logged()
        requests = work()
        time.sleep(1)
        found = self._logged() - before
        self._log_statements("none")
        return found / requests

    def _log_statements(self, which: str) -> None:
        address = self._postgres.url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        with engine.connect() as db:
            db.exec_driver_sql(f"ALTER SYSTEM SET log_statement = '{which}'")
            db.exec_driver_sql("SELECT pg_reload_conf()")
        engine.dispose()

    def _logged(self) -> int:
        text = self._postgres.log.read_text(errors="replace")
        return text.count("LOG:  statement:") + text.count("LOG:  execute ")


def capacity(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    server = shutil.which("redis-server")
    if server is None:
        report.note("redis-server is not installed: capacity is left out")
        return
    try:
        with PostgresProcess() as postgres:
            fleet = Fleet(stage, postgres, server)
            _race(postgres, report, seconds, rounds)
            held_s = _held_s(postgres)
            costs = _costs(fleet, seconds)
            _check_model(fleet, report, costs["miss"], rounds)
    except pytest.skip.Exception as skipped:
        report.note(f"capacity left out: {skipped}")
        return
    for name, cost in costs.items():
        report.note(
            f"{name}: {cost.portal_s * 1e3:.2f} ms of the portal's processors, "
            f"{cost.redis_s * 1e3:.3f} of Redis's, {cost.database_s * 1e3:.2f} of the database's; "
            f"{cost.commands:.1f} commands, {cost.statements:.1f} statements"
        )
    report.note(f"a call holds the row of all callers for {held_s * 1e3:.2f} ms, without fsync")
    for part, demand_s in demands_s(costs["hit"], costs["miss"], held_s, 1).items():
        report.note(f"{part}: full at {1 / demand_s:,.0f} lookups a second")
    for portals in _FLEETS:
        rate, wall = lookups_per_s(costs["hit"], costs["miss"], held_s, portals)
        report.note(f"{portals:,} portals: {rate:,.0f} lookups a second; full first: {wall}")


def _costs(fleet: Fleet, seconds: float) -> dict[str, Cost]:
    fleet.start(1)
    (portal,) = fleet.portals
    visitor = Visitor(portal.port).sign_in()
    plates = all_plates()
    press(portal, _HOT, 1)
    number = max(200, round(100 * seconds))

    def misses() -> int:
        ask_each([portal], [f"/detran/v1/decode/{each}" for each in islice(plates, number)], 8)
        return number

    def pages() -> int:
        for plate in islice(plates, number // 10):
            visitor.ask(f"/placa/{plate}?completo=1")
        return number // 10

    def batch() -> int:
        listed = [*islice(plates, number // 3)]
        made = send(portal, "/api/v1/batches", {"plates": listed})
        path = f"/api/v1/batches/{made['id']}"
        send(portal, f"{path}/start", {"max_cost": 1000})
        while send(portal, f"{path}?wait=20")["state"] == "running":
            pass
        return 3 * len(listed)

    return {
        "hit": fleet.cost(lambda: press(portal, _HOT, seconds).requests),
        "miss": fleet.cost(misses),
        "page of three misses": fleet.cost(pages),
        "lookup of a batch": fleet.cost(batch),
    }


def _check_model(fleet: Fleet, report: Report, cost: Cost, rounds: int) -> None:
    """Compare the rate of misses of four portals with that of the model."""
    fleet.start(PORTALS)
    plates = islice(all_plates(), 500_000, None)
    cores = os.cpu_count() or 1
    expected = cores / cost.all_s
    measured = []
    began_at, busy_s, own_s = time.monotonic(), _busy_s(), fleet.processor_s()
    for _ in range(rounds):
        paths = [f"/detran/v1/decode/{each}" for each in islice(plates, 400 * PORTALS)]
        measured.append(len(paths) / ask_each(fleet.portals, paths, 8))
    others_s = _busy_s() - busy_s - (fleet.processor_s() - own_s)
    share = max(0.0, others_s / cores / (time.monotonic() - began_at))
    report.note(
        f"other programs took {share:.0%} of the processors meanwhile. The model knows none: with "
        "more than a tenth, repeat its check"
    )
    words = f"misses of {PORTALS} portals on this machine over the model's"
    report.compare(words, measured, [expected] * rounds, "a second", 0.75, "at least")
    report.compare(words, measured, [expected] * rounds, "a second", 1.25, "at most")


def _busy_s() -> float:
    """Return for how long the machine's processors have worked, in seconds."""
    user, nice, system, _, _, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


# The model


def demands_s(hit: Cost, miss: Cost, held_s: float, portals: int) -> dict[str, float]:
    """Return for how many seconds a lookup of a fleet keeps each part busy."""
    missed = 1 - HIT_SHARE

    def mixed(name: str) -> float:
        return HIT_SHARE * float(getattr(hit, name)) + missed * float(getattr(miss, name))

    return {
        "the portals' processors": mixed("portal_s") / (PORTAL_CORES * portals),
        "Redis": mixed("redis_s"),
        "the database's processors": mixed("database_s") / DATABASE_CORES,
        "the row of all callers": missed * held_s,
    }


def lookups_per_s(hit: Cost, miss: Cost, held_s: float, portals: int) -> tuple[float, str]:
    """Return the rate of lookups of a fleet, and the part that is full first."""
    demands, delay_s = demands_s(hit, miss, held_s, portals), (1 - HIT_SHARE) * UPSTREAM_S
    rate = throughput([*demands.values()], delay_s, UNDER_WAY * portals)
    return rate, max(demands, key=lambda name: demands[name])


def throughput(demands_s: list[float], delay_s: float, customers: int) -> float:
    """Return the requests a second of a closed network of queues, by mean value analysis.

    ``demands_s`` are the seconds that a request needs of each queue, ``delay_s`` what it spends
    elsewhere, and ``customers`` the number of requests under way.
    """
    waiting = [0.0] * len(demands_s)
    rate = 0.0
    for number in range(1, customers + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands_s, waiting, strict=True)]
        rate = number / (delay_s + sum(times))
        waiting = [rate * each for each in times]
    return rate


# The row that every call locks


def _race(postgres: PostgresProcess, report: Report, seconds: float, rounds: int) -> None:
    """Compare calls of 16 processes under one budget for all callers with calls without one."""
    url = postgres.new_database()
    open_database(url, Path()).dispose()  # makes the tables
    budgets = {"with": Decimal(1_000_000), "without": Decimal(0)}
    rates: dict[str, list[float]] = {name: [] for name in budgets}
    for turn in range(2 * rounds):
        for name in sorted(budgets, reverse=bool(turn % 2)):
            rates[name].append(_raced(url, budgets[name], seconds) / seconds)
    report.compare(
        f"calls of {RACERS} processes with a budget for all callers over calls without one",
        *(rates["with"], rates["without"], "a second", 0.9, "at least"),
    )
    url = postgres.new_database()
    open_database(url, Path()).dispose()
    sent = _raced(url, 100 * _PRICE, max(3.0, seconds))
    report.compare(
        f"calls of {RACERS} processes under a budget of 100", [sent], [100], "calls", 1.0, "at most"
    )


def _raced(url: str, budget: Decimal, seconds: float) -> int:
    """Return how many calls so many processes send in the same seconds."""
    context = multiprocessing.get_context("fork")
    ready, results = context.Barrier(RACERS), context.Queue()
    racers = [
        context.Process(target=_racer, args=(url, budget, seconds, number, ready, results))
        for number in range(RACERS)
    ]
    for racer in racers:
        racer.start()
    sent = sum(int(results.get(timeout=60 + seconds)) for _ in racers)
    for racer in racers:
        racer.join()
    return sent


def _racer(
    url: str, budget: Decimal, seconds: float, number: int, ready: Any, results: Any
) -> None:
    database = open_database(url, Path(), create=False)
    ledger = Ledger(database, PortalLimits(monthly_budget=budget), namespace="bench")
    caller, sent = _caller(f"racer-{number}"), 0
    ready.wait()
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        with suppress(Failure):
            LedgerEntry(ledger, "decode", "tag", _PRICE, caller).begin("primary").finish(
                "answered", 200
            )
            sent += 1
    results.put(sent)


def _held_s(postgres: PostgresProcess) -> float:
    """Return the median time for which a call locks the row of all callers."""
    database = open_database(postgres.new_database(), Path())
    ledger = Ledger(database, PortalLimits(monthly_budget=Decimal(1_000_000)), namespace="bench")
    began_at, held = 0.0, list[float]()

    def begins(_: object, __: object, statement: str, *___: object) -> None:
        nonlocal began_at
        if statement.startswith("INSERT INTO call_counters"):
            began_at = time.perf_counter()

    def ended(*_: object) -> None:
        nonlocal began_at
        if began_at:
            held.append(time.perf_counter() - began_at)
            began_at = 0.0

    event.listen(database.engine, "before_cursor_execute", begins)
    event.listen(database.engine, "checkin", ended)
    for _ in range(500):
        LedgerEntry(ledger, "decode", "tag", _PRICE, _caller("one")).begin("primary")
    database.dispose()
    return statistics.median(held)


def _caller(name: str) -> Identity:
    return Identity(name, name, name, frozenset({"decode"}))
