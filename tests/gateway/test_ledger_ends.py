"""With the database away when a call ends: its end is told later, and told once."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from sqlalchemy import Connection, Engine, event, select

from portal.gateway import Failure, Ledger
from portal.gateway import ledger as ledger_room
from portal.storage import reading, spending
from tests.fakes.databases import PostgresProcess, opened
from tests.gateway.gateways import CALLER
from tests.gateway.ledgers import buy, spent


def held(engine: Engine) -> dict[str, int]:
    """What every payer has reserved."""
    with reading(engine) as db:
        return {row.payer: row.calls for row in db.execute(select(spending))}


def losing(engine: Engine, how: Callable[[object], object]) -> None:
    """The next commit's connection is lost, after ``how`` was done with it."""

    def lose(db: Connection) -> None:
        raw = db.connection.dbapi_connection
        how(raw)
        raw.close()

    event.listen(engine, "commit", lose, once=True)


def test_ends_that_a_database_away_could_not_be_told_are_told_when_it_is_back(tmp_path, clock):
    """PostgreSQL dies for real, with one call in the air that is answered and two that never
    left; the days' limits get back what was not spent, once."""
    with PostgresProcess() as server, opened(server.url, tmp_path) as engine:
        book = Ledger(engine, daily_limit=3, clock=clock)
        calls = [
            book.account("decode", "tag", Decimal("0.30"), CALLER).announce("primary")
            for _ in range(3)
        ]
        server.stop()
        for call, end in zip(calls, [("answered", 200), ("not_sent",), ("not_sent",)], strict=True):
            call.ended(*end)
        book.settle()
        server.start()
        assert spent(book) == ["maybe"] * 3
        for _ in range(2):
            book.settle()
        assert spent(book) == ["answered"]
        assert held(engine) == {"day": 1, "token:somebody": 1}
        buy(book)


def test_an_end_whose_confirmation_was_lost_gives_back_once(engine, clock):
    book = Ledger(engine, clock=clock)
    for _ in range(2):
        buy(book)
    attempt = book.account("decode", "tag", Decimal("0.30"), CALLER).announce("primary")
    losing(engine, lambda raw: raw.commit())
    attempt.ended("not_sent")
    assert held(engine) == {"day": 2, "token:somebody": 2}
    book.settle()
    assert held(engine) == {"day": 2, "token:somebody": 2}
    assert spent(book) == ["answered"] * 2


def test_a_call_that_was_kept_back_because_its_row_was_not_confirmed_costs_no_limit(engine, clock):
    """The row stands, nobody knows, nothing was sent."""
    book = Ledger(engine, daily_limit=1, clock=clock)
    losing(engine, lambda raw: raw.commit())
    with pytest.raises(Failure) as caught:
        buy(book)
    assert caught.value.kind == "no_ledger"
    assert held(engine) == {"day": 1, "token:somebody": 1}
    book.settle()
    assert (spent(book), held(engine)) == ([], {"day": 0, "token:somebody": 0})
    buy(book)


def test_a_row_that_was_taken_back_does_not_close_the_next_one_of_its_number(engine, clock):
    book = Ledger(engine, clock=clock)
    losing(engine, lambda raw: raw.rollback())
    with pytest.raises(Failure):
        buy(book)
    clock.advance(0.01)
    attempt = book.account("decode", "tag", Decimal("0.30"), CALLER).announce("primary")
    book.settle()
    assert spent(book) == ["maybe"]
    assert held(engine) == {"day": 1, "token:somebody": 1}
    attempt.ended("answered", 200)
    assert spent(book) == ["answered"]


def test_of_too_many_ends_untold_the_latest_are_kept_and_told_in_turns(engine, clock, monkeypatch):
    monkeypatch.setattr(ledger_room, "MAX_PENDING_CLOSES", 5)
    monkeypatch.setattr(ledger_room, "SETTLE_BATCH", 3)
    book = Ledger(engine, clock=clock)
    calls = [
        book.account("decode", "tag", Decimal("0.30"), CALLER).announce("primary") for _ in range(7)
    ]
    with engine.begin() as db:
        db.exec_driver_sql("ALTER TABLE ledger RENAME TO elsewhere")
    for call in calls:
        call.ended("answered", 200)
    with engine.begin() as db:
        db.exec_driver_sql("ALTER TABLE elsewhere RENAME TO ledger")
    assert spent(book) == ["maybe"] * 7
    book.settle()
    assert spent(book) == ["maybe"] * 2 + ["answered"] * 3 + ["maybe"] * 2
    book.settle()
    assert spent(book) == ["maybe"] * 2 + ["answered"] * 5
