"""Ledger: a row before each call, its outcome, and the daily limits."""

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.lookup import Failure
from portal.storage.database import Database
from portal.storage.tables import (
    call_counters,
    metadata,
)
from portal.storage.tables import ledger as ledger_table
from portal.system.local_time import from_epoch
from tests.fakes import Clock, wait_until
from tests.fakes.databases import EmptyDatabase
from tests.fakes.forgetting import forget
from tests.fakes.one_tenant import ledger_of
from tests.fakes.preloaded import PRELOADED
from tests.gateway.gateways import CALLER, StubUpstream, as_caller, bench, decode
from tests.gateway.ledgers import buy, spent


def test_row_is_written_before_the_call(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    attempt = LedgerEntry(ledger, "decode", "tag", Decimal("0.305"), CALLER).begin("secondary")
    (row,) = ledger.rows()
    assert (row.operation, row.origin, row.caller) == ("decode", "secondary", "somebody")
    assert (row.price, row.outcome, row.status) == (Decimal("0.305"), "maybe", None)
    assert row.sent_at.timestamp() == clock()
    attempt.finish("answered", 200)
    (row,) = ledger.rows()
    assert (row.outcome, row.status) == ("answered", 200)


def test_allowance_counts_both_limits(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=5, clock=clock)
    buy(ledger)
    found = ledger.allowance(as_caller(CALLER.name, daily_limit=3))
    assert (found.day, found.token, found.left) == (4, 2, 2)
    assert 0 < found.until_midnight_s <= 86_400
    assert ledger.allowance(CALLER).left == 4


def test_allowance_without_limit_reads_no_database(
    database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise AssertionError("the database was read")

    monkeypatch.setattr(type(database), "reading", fail)
    assert ledger_of(database, clock=clock).allowance(CALLER).left is None


def test_allowance_is_unknown_while_the_database_is_down(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=5, clock=clock)
    with database.engine.begin() as db:
        call_counters.drop(db)
    found = ledger.allowance(as_caller("somebody", daily_limit=3))
    assert (found.day, found.token, found.left) == (None, None, None)


def test_months_follow_sao_paulo_time(database: Database, clock: Clock) -> None:
    """02:00 UTC on 1 November is still 31 October in São Paulo."""
    clock.advance(date(2026, 11, 1).toordinal() * 86400 - 719163 * 86400 + 7200 - clock())
    ledger = ledger_of(database, clock=clock)
    buy(ledger)
    assert len(list(ledger.rows("2026-10"))) == 1
    assert list(ledger.rows("2026-11")) == []


def test_daily_limit_is_exact_and_gives_retry_after(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=3, clock=clock)
    for _ in range(3):
        buy(ledger)
    with pytest.raises(Failure) as caught:
        buy(ledger)
    assert caught.value.kind == "day_limit"
    assert caught.value.retry_after_s == 15 * 3600  # until midnight; the test clock starts at 09:00
    assert len(spent(ledger)) == 3


def test_daily_limit_resets_at_midnight_in_sao_paulo(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    buy(ledger)
    clock.advance(15 * 3600 - 1)
    with pytest.raises(Failure):
        buy(ledger)
    clock.advance(1)
    buy(ledger)


def test_token_limit_does_not_use_up_daily_limit(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=3, clock=clock)
    small, other = as_caller("small", daily_limit=1), as_caller("other")
    buy(ledger, small)
    for _ in range(5):
        with pytest.raises(Failure) as caught:
            buy(ledger, small)
        assert caught.value.kind == "token_limit"
    buy(ledger, other)
    buy(ledger, other)
    with pytest.raises(Failure):
        buy(ledger, other)


def test_unsent_call_releases_reservation_and_is_not_listed(
    database: Database, clock: Clock
) -> None:
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    for _ in range(5):
        buy(ledger, as_caller("x", daily_limit=1), "not_sent")
    buy(ledger, as_caller("x", daily_limit=1))
    assert spent(ledger) == ["answered"]


@pytest.mark.parametrize("outcome", ["maybe", "timed_out", "broken", "failing", "unusable"])
def test_possibly_charged_call_keeps_reservation(
    database: Database, clock: Clock, outcome: str
) -> None:
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    buy(ledger, outcome=outcome)
    with pytest.raises(Failure):
        buy(ledger)


def test_failed_row_prevents_the_call(tmp_path: Path, clock: Clock) -> None:
    made = bench(tmp_path, clock)
    metadata.drop_all(made.ledger._database.engine)
    with pytest.raises(Failure) as caught:
        made.decode()
    assert caught.value.kind == "no_ledger"
    assert made.upstream.calls == []


def test_forgetting_a_vehicle_keeps_its_rows(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    buy(ledger)
    assert forget(database, ledger, ["tag"]) == 1
    assert forget(database, ledger, ["tag"]) == 0
    assert len(spent(ledger)) == 1


def test_what_a_caller_has_paid_is_summed_by_vehicle(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)

    def call(tag: str, price: str | None, outcome: str = "answered", **more: Any) -> None:
        cost = None if price is None else Decimal(price)
        where, caller = more.get("where", ledger), more.get("caller", CALLER)
        LedgerEntry(where, "decode", tag, cost, caller).begin("primary").finish(outcome, None)

    call("a", "5")
    clock.advance(1)
    since = clock()
    for tag, price in (("a", "0.30"), ("a", "0.95"), ("b", "0.30"), ("b", None), ("z", "0.30")):
        call(tag, price)
    call("a", "0.10", "timed_out")
    call("c", "0.30", "not_sent")
    call("a", "0.30", where=Ledger(database, clock=clock, namespace="other"))
    call("a", "0.30", caller=as_caller("ana"))
    paid = ledger.paid(CALLER.name, ["a", "b", "c", "d"], since)
    assert paid == {"a": Decimal("1.35"), "b": None}
    assert [row.price for row in ledger.rows(tags=["b", "c"])] == [Decimal("0.30"), None]


def test_exhausted_token_limit_is_not_shared_with_others(tmp_path: Path, clock: Clock) -> None:
    made = bench(tmp_path, clock)
    poor = as_caller("poor", daily_limit=1)
    made.gateway.fetch(decode("DEF4G56"), poor)
    with pytest.raises(Failure):
        made.gateway.fetch(decode(), poor)
    assert made.decode().cache_status == "miss"
    assert made.gateway.fetch(decode(), poor).cache_status == "hit"


def _race(empty_database: EmptyDatabase, results: "multiprocessing.Queue[tuple[int, int]]") -> None:
    """Race for one limit; every fourth reserved call is never sent."""
    database = empty_database.open()
    ledger = ledger_of(database, daily_limit=100)

    def attempt(number: int) -> tuple[int, int]:
        free = number % 4 == 0
        for _ in range(20):  # retries, because a busy machine may exceed time-outs
            try:
                buy(ledger, as_caller("raced", daily_limit=100), "not_sent" if free else "answered")
            except Failure as failure:
                if failure.kind in ("day_limit", "token_limit"):
                    return 0, 0
            else:
                return int(not free), 0
        return 0, 1

    with ThreadPoolExecutor(50) as pool:
        made = list(pool.map(attempt, range(130)))
    for _ in range(10):  # retry to write the outcomes that missed the write lock
        ledger.settle()
    database.dispose()
    results.put((sum(paid for paid, _ in made), sum(odd for _, odd in made)))


def test_limit_is_exact_under_races_of_threads_and_processes(
    empty_database: str, database: Database
) -> None:
    """200 threads in 4 processes race for 100 calls. Unsent calls are not counted."""
    results = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=_race, args=(empty_database, results)) for _ in range(4)]
    for racer in racers:
        racer.start()
    through = [results.get(timeout=90) for _ in racers]
    for racer in racers:
        racer.join(30)
    assert sum(odd for _, odd in through) == 0
    ledger = ledger_of(database, daily_limit=100)
    # After the last attempt, unsent calls may have released reservations. Use them now.
    late = 0
    with suppress(Failure):
        while True:
            buy(ledger, as_caller("raced", daily_limit=100))
            late += 1
    assert sum(paid for paid, _ in through) + late == 100
    assert spent(ledger) == ["answered"] * 100
    with database.reading() as db:
        assert sorted(db.execute(select(call_counters.c.payer, call_counters.c.calls))) == [
            ("day", 100),
            ("day", 30_000_000),  # R$ 30.00
            ("token:raced", 100),
            ("token:raced", 30_000_000),
        ]


def test_concurrent_callers_with_limits_do_not_deadlock(database: Database) -> None:
    """Each call updates two counters (the day's and the caller's) during purges."""
    ledger = ledger_of(database, daily_limit=10_000)

    def busy(number: int) -> None:
        buy(ledger, as_caller(f"c{number % 5}", 10_000), ("answered", "not_sent")[number % 2])
        if number % 10 == 0:
            forget(database, ledger, ["tag"])
            ledger.drop_past_counters()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(busy, range(200)))
    for _ in range(10):  # retry to write the outcomes that missed the write lock
        ledger.settle()
    assert len(spent(ledger)) == 100


def _killed_in_mid_call(empty_database: EmptyDatabase) -> None:
    buy(ledger_of(empty_database.open()), outcome=None)
    os.kill(os.getpid(), signal.SIGKILL)


def test_call_of_killed_process_reads_maybe(empty_database: str, database: Database) -> None:
    victim = PRELOADED.Process(target=_killed_in_mid_call, args=(empty_database,))
    victim.start()
    victim.join(60)
    assert victim.exitcode == -signal.SIGKILL
    assert spent(ledger_of(database)) == ["maybe"]


def test_counters_of_past_days_and_months_are_dropped(database: Database, clock: Clock) -> None:
    """A late end gives back to the day before, and to the month before."""
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    buy(ledger)  # at 09:00 on 28 October in São Paulo
    periods = select(call_counters.c.day).distinct().order_by(call_counters.c.day)
    left = {}
    for hours in (15 + 23, 1, 31 * 24, 23, 1):
        clock.advance(hours * 3600)
        ledger.drop_past_counters()
        with database.reading() as db:
            left[f"{from_epoch(clock()):%d.%m. %H:%M}"] = [*db.execute(periods).scalars()]
    assert left == {
        "29.10. 23:00": ["2026-10-28", "m2026-10"],
        "30.10. 00:00": ["m2026-10"],
        "30.11. 00:00": ["m2026-10"],
        "30.11. 23:00": ["m2026-10"],
        "01.12. 00:00": [],
    }
    assert len(spent(ledger)) == 1


def test_ledger_count_equals_upstream_count(tmp_path: Path, clock: Clock) -> None:
    made = bench(tmp_path, clock, StubUpstream())
    for number in range(20):
        made.decode(f"ABC1D{number % 7:02}")
    wait_until(lambda: len(spent(made.ledger)) == 7, "the rows")
    assert len(made.upstream.calls) == 7


def test_no_page_of_the_ledger_is_sorted_or_scanned_again(database: Database, clock: Clock) -> None:
    """With the index on the namespace, each page would read and sort all rows."""
    book = Ledger(database, clock=clock, namespace="up")
    row = {"sent_at": 1.0, "day": "2026-10-05", "operation": "decode", "subject": ""}
    call = {"origin": "primary", "caller": "ana", "price": "1", "outcome": "answered"}
    for _ in range(10):  # each row of a transaction makes the next sum on PostgreSQL slower
        with database.writing() as db:
            db.execute(insert(ledger_table), [{**row, **call, "namespace": "up"}] * 500)
    with database.engine.connect() as db:
        db.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("ANALYZE")
    seen: list[tuple[str, Any]] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *each: seen.append((each[2], each[3]))
    )
    assert len(list(book.rows())) == len(list(book.rows("2026-10"))) == 5000
    pages = [each for each in seen if "LIMIT" in each[0]]
    assert len(pages) >= 10
    explain = "EXPLAIN QUERY PLAN " if database.engine.dialect.name == "sqlite" else "EXPLAIN "
    key = (
        "USING INTEGER PRIMARY KEY"
        if database.engine.dialect.name == "sqlite"
        else "using ledger_pkey"
    )
    for statement, values in pages:
        with database.reading() as db:
            plan = "\n".join(
                str(each[-1]) for each in db.exec_driver_sql(explain + statement, values)
            )
        assert key in plan, plan
        assert "TEMP B-TREE" not in plan and "Sort" not in plan, plan
