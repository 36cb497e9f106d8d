"""A row before each send, an end to each row, and not one call beyond a limit."""

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from sqlalchemy import select

from portal.gateway import Caller, Failure, Ledger
from portal.storage import reading, spending
from portal.storage.database import _metadata
from tests.fakes import wait_until
from tests.fakes.databases import Database
from tests.gateway.gateways import CALLER, PlayedUpstream, bench, decode
from tests.gateway.ledgers import buy, spent

SPAWN = multiprocessing.get_context("spawn")


def test_a_call_is_written_down_before_it_leaves(engine, clock):
    book = Ledger(engine, clock=clock)
    attempt = book.account("decode", "tag", Decimal("0.305"), CALLER).announce("secondary")
    (row,) = book.rows()
    assert (row.operation, row.origin, row.caller) == ("decode", "secondary", "somebody")
    assert (row.price, row.outcome, row.status) == (Decimal("0.305"), "maybe", None)
    assert row.sent_at.timestamp() == clock()
    attempt.ended("answered", 200)
    (row,) = book.rows()
    assert (row.outcome, row.status) == ("answered", 200)


def test_months_are_those_of_sao_paulo(engine, clock):
    """Two in the morning of the first in UTC is still the last day there."""
    clock.advance(date(2026, 11, 1).toordinal() * 86400 - 719163 * 86400 + 7200 - clock())
    book = Ledger(engine, clock=clock)
    buy(book)
    assert len(list(book.rows("2026-10"))) == 1
    assert list(book.rows("2026-11")) == []


def test_a_limit_lets_exactly_that_many_through_and_names_the_hour(engine, clock):
    book = Ledger(engine, daily_limit=3, clock=clock)
    for _ in range(3):
        buy(book)
    with pytest.raises(Failure) as caught:
        buy(book)
    assert caught.value.kind == "day_limit"
    assert caught.value.retry_after_s == 15 * 3600  # the clock stands at nine in the morning
    assert len(spent(book)) == 3


def test_a_new_day_begins_at_midnight_in_sao_paulo(engine, clock):
    book = Ledger(engine, daily_limit=1, clock=clock)
    buy(book)
    clock.advance(15 * 3600 - 1)
    with pytest.raises(Failure):
        buy(book)
    clock.advance(1)
    buy(book)


def test_a_tokens_limit_is_its_own_and_takes_nothing_from_the_day(engine, clock):
    book = Ledger(engine, daily_limit=3, clock=clock)
    small, other = Caller("small", daily_limit=1), Caller("other")
    buy(book, small)
    for _ in range(5):
        with pytest.raises(Failure) as caught:
            buy(book, small)
        assert caught.value.kind == "token_limit"
    buy(book, other)
    buy(book, other)
    with pytest.raises(Failure):
        buy(book, other)


def test_what_never_left_is_given_back_and_is_no_call(engine, clock):
    book = Ledger(engine, daily_limit=1, clock=clock)
    for _ in range(5):
        buy(book, Caller("x", daily_limit=1), "not_sent")
    buy(book, Caller("x", daily_limit=1))
    assert spent(book) == ["answered"]


@pytest.mark.parametrize("outcome", ["maybe", "timed_out", "broken", "failing", "unusable"])
def test_what_may_have_been_charged_is_not_given_back(engine, clock, outcome):
    book = Ledger(engine, daily_limit=1, clock=clock)
    buy(book, outcome=outcome)
    with pytest.raises(Failure):
        buy(book)


def test_without_its_row_nothing_is_sent(tmp_path, clock):
    made = bench(tmp_path, clock)
    _metadata.drop_all(made.ledger._engine)
    with pytest.raises(Failure) as caught:
        made.decode()
    assert caught.value.kind == "no_ledger"
    assert made.upstream.calls == []


def test_forgetting_a_vehicle_keeps_what_was_spent(engine, clock):
    book = Ledger(engine, clock=clock)
    buy(book)
    assert book.forget("tag") == 1
    assert book.forget("tag") == 0
    assert len(spent(book)) == 1


def test_one_callers_spent_limit_is_not_everybodys_failure(tmp_path, clock):
    made = bench(tmp_path, clock)
    poor = Caller("poor", daily_limit=1)
    made.gateway.fetch(decode("DEF4G56"), poor)
    with pytest.raises(Failure):
        made.gateway.fetch(decode(), poor)
    assert made.decode().cache_status == "miss"
    assert made.gateway.fetch(decode(), poor).cache_status == "hit"


def _race(database: Database, results: "multiprocessing.Queue[tuple[int, int]]") -> None:
    """A crowd after one limit: every fourth call that is let through never leaves."""
    engine = database.open()
    book = Ledger(engine, daily_limit=100)

    def attempt(number: int) -> tuple[int, int]:
        free = number % 4 == 0
        try:
            buy(book, Caller("raced", daily_limit=100), "not_sent" if free else "answered")
        except Failure as failure:
            return 0, int(failure.kind not in ("day_limit", "token_limit"))
        return int(not free), 0

    with ThreadPoolExecutor(50) as pool:
        made = list(pool.map(attempt, range(130)))
    for _ in range(10):  # ends that waited too long for the write lock
        book.settle()
    engine.dispose()
    results.put((sum(paid for paid, _ in made), sum(odd for _, odd in made)))


def test_a_limit_of_100_raced_by_50_threads_in_4_processes_lets_exactly_100_through(
    database, engine
):
    """What is given back in mid-race is there for others, and not twice."""
    results = SPAWN.Queue()
    racers = [SPAWN.Process(target=_race, args=(database, results)) for _ in range(4)]
    for racer in racers:
        racer.start()
    through = [results.get(timeout=90) for _ in racers]
    for racer in racers:
        racer.join(30)
    assert sum(odd for _, odd in through) == 0
    book = Ledger(engine, daily_limit=100)
    # What was given back when all the others had been refused is there for whoever comes late.
    late = 0
    with suppress(Failure):
        while True:
            buy(book, Caller("raced", daily_limit=100))
            late += 1
    assert sum(paid for paid, _ in through) + late == 100
    assert spent(book) == ["answered"] * 100
    with reading(engine) as db:
        assert sorted(db.execute(select(spending.c.payer, spending.c.calls))) == [
            ("day", 100),
            ("token:raced", 100),
        ]


def test_callers_with_limits_of_their_own_never_lock_each_other_out(engine):
    """Two payers a call, a purge and a sweep of counters in between: nobody waits in a circle."""
    book = Ledger(engine, daily_limit=10_000)

    def busy(number: int) -> None:
        buy(book, Caller(f"c{number % 5}", 10_000), ("answered", "not_sent")[number % 2])
        if number % 10 == 0:
            book.forget("tag")
            book.drop_past_counters()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(busy, range(200)))
    for _ in range(10):  # ends that waited too long for the write lock
        book.settle()
    assert len(spent(book)) == 100


def _killed_in_mid_call(database: Database) -> None:
    buy(Ledger(database.open()), outcome=None)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_call_whose_process_was_killed_reads_maybe(database, engine):
    victim = SPAWN.Process(target=_killed_in_mid_call, args=(database,))
    victim.start()
    victim.join(60)
    assert victim.exitcode == -signal.SIGKILL
    assert spent(Ledger(engine)) == ["maybe"]


def test_past_days_counters_go_and_their_rows_stay(engine, clock):
    book = Ledger(engine, daily_limit=1, clock=clock)
    buy(book)
    clock.advance(3 * 86400)
    book.drop_past_counters()
    with engine.connect() as db:
        assert db.exec_driver_sql("SELECT count(*) FROM call_counters").scalar() == 0
    assert len(spent(book)) == 1


def test_the_upstreams_count_is_the_ledgers(tmp_path, clock):
    made = bench(tmp_path, clock, PlayedUpstream())
    for number in range(20):
        made.decode(f"ABC1D{number % 7:02}")
    wait_until(lambda: len(spent(made.ledger)) == 7, "the rows")
    assert len(made.upstream.calls) == 7
