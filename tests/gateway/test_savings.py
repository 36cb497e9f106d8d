"""Savings: hits and coalesced misses, counted by day and operation."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from portal.gateway.lookup import CacheStatus, Observer
from portal.gateway.operations import CachePolicy
from portal.gateway.savings import SavingsCounter
from portal.gateway.usage import Usage
from portal.gateway.usage_report import UsageLog
from portal.storage.database import Database
from portal.storage.tables import (
    metadata,
)
from portal.vehicle.operation_name import OperationName
from tests.fakes import Clock
from tests.fakes.databases import kept_open
from tests.fakes.one_tenant import savings_of
from tests.gateway.gateways import bench, terms


def test_hits_are_counted_by_day_at_their_price(
    tmp_path: Path, database: Database, clock: Clock
) -> None:
    tally = savings_of(database, terms(price="0.305"), clock)
    made = bench(tmp_path, clock, savings=tally.count)
    for _ in range(4):
        made.decode()
    tally.flush()
    log = UsageLog(database, "upstream")
    assert log.by_operation("2026-10")["decode"].saved == Decimal("0.915")
    assert log.by_operation("2026-11") == {}


def test_two_processes_add_to_one_count(database: Database, clock: Clock) -> None:
    for _ in range(2):
        tally = savings_of(database, terms(price="1"), clock)
        for how in ("hit", "stale", "collapsed"):
            tally.count("renajud", how)
        tally.flush()
        tally.flush()
    expected = Usage(hits=2, stale=2, collapsed=2, known_saved=Decimal(4))
    assert UsageLog(database, "upstream").by_operation() == {"renajud": expected}


def test_concurrent_flushes_lose_no_hit(database: Database, clock: Clock) -> None:
    """All counters flush to the same rows, which do not exist yet."""
    tallies = [savings_of(database, terms(price="1"), clock) for _ in range(12)]
    for tally in tallies:
        for operation in ("decode", "renainf", "renajud"):
            tally.count(operation, "hit")
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(SavingsCounter.flush, tallies))
    found = UsageLog(database, "upstream").by_operation()
    assert [each.hits for each in found.values()] == [12, 12, 12]


def test_failed_flush_is_retried(
    tmp_path: Path, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = savings_of(database, terms(), clock)
    tally.count("decode", "hit")
    broken = kept_open(None, tmp_path / "broken")
    metadata.drop_all(broken.engine)
    monkeypatch.setattr(tally, "_database", broken)
    tally.flush()
    monkeypatch.setattr(tally, "_database", database)
    tally.flush()
    assert [each.hits for each in UsageLog(database, "upstream").by_operation().values()] == [1]


@pytest.mark.parametrize(
    ("price", "usage", "told"),
    [
        (
            Decimal("0.305"),
            Usage(hits=3, stale=2, collapsed=1, known_saved=Decimal("1.525")),
            [Decimal("0.915"), Decimal("0.610")],
        ),
        (None, Usage(hits=3, stale=2, collapsed=1, unpriced_hits=5), []),
    ],
    ids=["priced", "unpriced"],
)
def test_savings_of_the_operation_and_of_the_caller_agree(
    database: Database, clock: Clock, price: Decimal | None, usage: Usage, told: list[Decimal]
) -> None:
    """A collapsed lookup saves nothing, because the call that it shares is paid for."""

    class Told(Observer):
        def saved(self, operation: str, amount: Decimal) -> None:
            seen.append(amount)

    seen: list[Decimal] = []
    policies: dict[OperationName, CachePolicy] = {"decode": CachePolicy(1000, 5000, price)}
    tally = SavingsCounter(database, policies, clock, namespace="upstream", observer=Told())
    kinds: tuple[tuple[CacheStatus, int], ...] = (("hit", 3), ("stale", 2), ("collapsed", 1))
    for how, times in kinds:
        tally.count("decode", how, times, "ana")
    tally.flush()
    log = UsageLog(database, "upstream", clock)
    assert (log.by_operation()["decode"], log.of_caller("ana")) == (usage, usage)
    assert seen == told
