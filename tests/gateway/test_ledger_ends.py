"""Closing ledger rows after a database outage or a lost commit confirmation."""

import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import Connection, event, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError

from portal.gateway import ledger as ledger_module
from portal.gateway.ledger import LedgerEntry
from portal.gateway.lookup import Failure
from portal.storage.database import Database
from portal.storage.tables import call_counters
from tests.fakes import Clock
from tests.fakes.databases import PostgresProcess, opened
from tests.fakes.one_tenant import ledger_of
from tests.gateway.gateways import CALLER
from tests.gateway.ledgers import begin_call, buy, spent


def held(database: Database) -> dict[str, int]:
    """Return the number of reserved calls of each payer.

    What is reserved of the month in R$ is the price of these calls.
    """
    with database.reading() as db:
        rows = db.execute(select(call_counters)).all()
    months = {row.payer: row.calls for row in rows if row.day.startswith("m")}
    calls = {row.payer: row.calls for row in rows if not row.day.startswith("m")}
    assert months == {payer: 300_000 * count for payer, count in calls.items()}
    return calls


def lose_connection_at_commit(
    database: Database, before: Callable[[DBAPIConnection], object]
) -> None:
    """At the next commit, call ``before`` with the connection, then close it."""

    def lose(db: Connection) -> None:
        raw = db.connection.dbapi_connection
        assert raw is not None
        before(raw)
        raw.close()

    event.listen(database.engine, "commit", lose, once=True)


@pytest.mark.long
@pytest.mark.slow
def test_failed_closes_are_retried_after_outage(tmp_path: Path, clock: Clock) -> None:
    """PostgreSQL stops with one answered and two unsent calls in flight.

    Each unsent call releases its reservation exactly once.
    """
    with PostgresProcess() as server, opened(server.url, tmp_path) as database:
        ledger = ledger_of(database, daily_limit=3, clock=clock)
        calls = [begin_call(ledger) for _ in range(3)]
        server.stop()
        answered, *unsent = calls
        answered.finish("answered", 200)
        for call in unsent:
            call.finish("not_sent")
        ledger.settle()
        server.start()
        assert spent(ledger) == ["maybe"] * 3
        for _ in range(2):
            ledger.settle()
        assert spent(ledger) == ["answered"]
        assert held(database) == {"day": 1, "token:somebody": 1}
        buy(ledger)


def test_outcomes_wait_until_the_database_is_back(
    database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A try that fails again loses none of them, and none is given back twice."""

    def fail(*_: object) -> NoReturn:
        raise OperationalError("COMMIT", None, Exception("down"))

    ledger = ledger_of(database, daily_limit=3, clock=clock)
    answered, *unsent = [begin_call(ledger) for _ in range(3)]
    with monkeypatch.context() as outage:
        outage.setattr(type(database), "writing", fail)
        answered.finish("answered", 200)
        for call in unsent:
            call.finish("not_sent")
        ledger.settle()
    assert spent(ledger) == ["maybe"] * 3
    for _ in range(2):
        ledger.settle()
    assert spent(ledger) == ["answered"]
    assert held(database) == {"day": 1, "token:somebody": 1}


def test_lost_confirmation_releases_reservation_once(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    for _ in range(2):
        buy(ledger)
    attempt = begin_call(ledger)
    lose_connection_at_commit(database, lambda raw: raw.commit())
    attempt.finish("not_sent")
    assert held(database) == {"day": 2, "token:somebody": 2}
    ledger.settle()
    assert held(database) == {"day": 2, "token:somebody": 2}
    assert spent(ledger) == ["answered"] * 2


def test_unconfirmed_row_of_unsent_call_releases_reservation(
    database: Database, clock: Clock
) -> None:
    """The row is committed but its confirmation is lost, so the call is not sent."""
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    lose_connection_at_commit(database, lambda raw: raw.commit())
    with pytest.raises(Failure) as caught:
        buy(ledger)
    assert caught.value.kind == "no_ledger"
    assert held(database) == {"day": 1, "token:somebody": 1}
    ledger.settle()
    assert (spent(ledger), held(database)) == ([], {"day": 0, "token:somebody": 0})
    buy(ledger)


def test_rolled_back_row_does_not_close_row_of_same_number(
    database: Database, clock: Clock
) -> None:
    ledger = ledger_of(database, clock=clock)
    lose_connection_at_commit(database, lambda raw: raw.rollback())
    with pytest.raises(Failure):
        buy(ledger)
    clock.advance(0.01)
    attempt = begin_call(ledger)
    ledger.settle()
    assert spent(ledger) == ["maybe"]
    assert held(database) == {"day": 1, "token:somebody": 1}
    attempt.finish("answered", 200)
    assert spent(ledger) == ["answered"]


def test_pending_closes_are_bounded_and_settled_in_batches(
    database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "MAX_PENDING_CLOSES", 5)
    monkeypatch.setattr(ledger_module, "SETTLE_BATCH", 3)
    ledger = ledger_of(database, clock=clock)
    calls = [begin_call(ledger) for _ in range(7)]
    with database.engine.begin() as db:
        db.exec_driver_sql("ALTER TABLE ledger RENAME TO elsewhere")
    for call in calls:
        call.finish("answered", 200)
    with database.engine.begin() as db:
        db.exec_driver_sql("ALTER TABLE elsewhere RENAME TO ledger")
    assert spent(ledger) == ["maybe"] * 7
    ledger.settle()
    assert spent(ledger) == ["maybe"] * 2 + ["answered"] * 3 + ["maybe"] * 2
    ledger.settle()
    assert spent(ledger) == ["maybe"] * 2 + ["answered"] * 5


def test_waits_for_the_write_lock_end_with_the_deadline(tmp_path: Path, clock: Clock) -> None:
    """A former version waited 10 s for each write, even beyond the deadline."""
    waits_ms: list[int] = []

    def note(db: Connection) -> None:
        connection = db.connection.driver_connection
        assert connection is not None
        waits_ms.append(connection.execute("PRAGMA busy_timeout").fetchone()[0])

    with opened(None, tmp_path) as database:
        ledger = ledger_of(database, clock=clock)
        entry = LedgerEntry(ledger, "decode", "tag", Decimal("0.30"), CALLER)
        event.listen(database.engine, "commit", note)
        call = replace(entry, deadline=time.monotonic() + 1).begin("primary")
        call.finish("answered", 200)
    assert len(waits_ms) == 2
    assert max(waits_ms) <= 1000
