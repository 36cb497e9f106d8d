"""The ledger: a row before each upstream call, what it costs, how it ended; and the limits."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.gateway.lookup import Caller, Failure
from portal.storage import ledger, reading, spending

ZONE = ZoneInfo("America/Sao_Paulo")
EVERYBODY = "day"
PAGE = 1000  # rows
FREE_OUTCOMES = frozenset({"not_sent", "circuit_open", "stale_connection"})

# Built once: to build a statement costs more than to run it, and every miss runs five.
_ANNOUNCE = insert(ledger)
_END = update(ledger).where(ledger.c.id == bindparam("number"))
_OF_PAYER = (spending.c.day == bindparam("on"), spending.c.payer == bindparam("by"))
_COUNT = update(spending).where(*_OF_PAYER).values(calls=spending.c.calls + 1)
_COUNT_WITHIN = _COUNT.where(spending.c.calls < bindparam("most"))
_HELD = select(spending.c.calls).where(*_OF_PAYER)
_FIRST = insert(spending).values(calls=1)
_GIVE_BACK = (
    update(spending).where(*_OF_PAYER, spending.c.calls > 0).values(calls=spending.c.calls - 1)
)


@dataclass(frozen=True, slots=True)
class Row:
    """One upstream call. ``sent_at`` is aware; ``price`` in R$; an open call reads "maybe"."""

    sent_at: datetime
    operation: str
    origin: str
    caller: str
    price: Decimal
    outcome: str
    status: int | None


class Ledger:
    """Knows every call and lets none through beyond a limit."""

    def __init__(
        self, engine: Engine, daily_limit: int = 0, clock: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._daily_limit = daily_limit
        self._clock = clock

    def account(self, operation: str, subject: str, price: Decimal, caller: Caller) -> "Purchase":
        return Purchase(self, operation, subject, price, caller)

    def rows(self, month: str | None = None) -> Iterator[Row]:
        """The calls of a month ("2026-11"), or all, oldest first.

        What never left is no call: such rows count nowhere.
        """
        query = select(ledger).where(ledger.c.outcome.not_in(FREE_OUTCOMES)).order_by(ledger.c.id)
        if month is not None:
            query = query.where(ledger.c.day.between(f"{month}-01", f"{month}-31"))
        # Page by page: PostgreSQL's driver would fetch everything, and a reader that a slow
        # terminal holds up would hold up SQLite's log.
        last = 0
        while True:
            with reading(self._engine) as db:
                page = db.execute(query.where(ledger.c.id > last).limit(PAGE)).all()
            yield from map(_row, page)
            if len(page) < PAGE:
                return
            last = page[-1].id

    def forget(self, subject: str) -> int:
        """Cut the tie between the rows and a vehicle; what was spent stays."""
        with self._engine.begin() as db:
            return db.execute(
                update(ledger).where(ledger.c.subject == subject).values(subject="")
            ).rowcount

    def open_row(self, purchase: "Purchase", origin: str) -> tuple[int, str]:
        """Reserve the call in every limit and write its row, or raise Failure and do neither."""
        now = self._clock()
        day = datetime.fromtimestamp(now, ZONE).date().isoformat()
        caller = purchase.caller
        try:
            with self._engine.begin() as db:
                if not _reserve(db, day, EVERYBODY, self._daily_limit):
                    raise Failure("day_limit", self._until_midnight(now))
                if not _reserve(db, day, f"token:{caller.name}", caller.daily_limit):
                    raise Failure("token_limit", self._until_midnight(now))
                row = db.execute(
                    _ANNOUNCE,
                    {
                        "sent_at": now,
                        "day": day,
                        "operation": purchase.operation,
                        "subject": purchase.subject,
                        "origin": origin,
                        "caller": caller.name,
                        "price": str(purchase.price),
                        "outcome": "maybe",
                    },
                )
                key = row.inserted_primary_key
                assert key is not None
                return int(key[0]), day
        except SQLAlchemyError:
            raise Failure("no_ledger") from None

    def close_row(
        self, number: int, day: str, caller: Caller, outcome: str, status: int | None
    ) -> None:
        """Write how a call ended; one that was never sent gives its reservation back."""
        try:
            with self._engine.begin() as db:
                free = outcome in FREE_OUTCOMES
                values: dict[str, object] = {"outcome": outcome, "status": status}
                if free:
                    values["price"] = "0"
                db.execute(_END, {"number": number, **values})
                if free:
                    for payer in (EVERYBODY, f"token:{caller.name}"):
                        db.execute(_GIVE_BACK, {"on": day, "by": payer})
        except SQLAlchemyError:
            return  # the row stays open and reads "maybe", which is the truth we have

    def drop_past_counters(self) -> None:
        """Forget the limits' counters of the days before yesterday; the rows stay."""
        day = datetime.fromtimestamp(self._clock() - 86400, ZONE).date().isoformat()
        with self._engine.begin() as db:
            db.execute(delete(spending).where(spending.c.day < day))

    def _until_midnight(self, now: float) -> float:
        local = datetime.fromtimestamp(now, ZONE)
        return 86400.0 - (local.hour * 3600 + local.minute * 60 + local.second)


class Purchase:
    """One fetch's account with the ledger: every send of it gets a row of its own."""

    def __init__(
        self, book: Ledger, operation: str, subject: str, price: Decimal, caller: Caller
    ) -> None:
        self._book = book
        self.operation = operation
        self.subject = subject
        self.price = price
        self.caller = caller

    def announce(self, origin: str) -> "PaidAttempt":
        number, day = self._book.open_row(self, origin)
        return PaidAttempt(self._book, number, day, self.caller)


@dataclass(frozen=True, slots=True)
class PaidAttempt:
    """A row that is open until ``ended`` is called."""

    book: Ledger
    number: int
    day: str
    caller: Caller

    def ended(self, outcome: str, status: int | None = None) -> None:
        self.book.close_row(self.number, self.day, self.caller, outcome, status)


def _row(row: Any) -> Row:
    return Row(
        sent_at=datetime.fromtimestamp(row.sent_at, ZONE),
        operation=row.operation,
        origin=row.origin,
        caller=row.caller,
        price=Decimal(row.price),
        outcome=row.outcome,
        status=row.status,
    )


def _reserve(db: Connection, day: str, payer: str, limit: int) -> bool:
    """Count one more call, atomically; False where that would pass the limit (0 = none)."""
    values: dict[str, object] = {"on": day, "by": payer}
    count = _COUNT
    if limit:
        count, values = _COUNT_WITHIN, values | {"most": limit}
    if db.execute(count, values).rowcount:
        return True
    # Looked up first: a day's worth of refusals would be as many errors in PostgreSQL's log.
    if db.execute(_HELD, {"on": day, "by": payer}).first() is None:
        try:
            with db.begin_nested():
                db.execute(_FIRST, {"day": day, "payer": payer})
            return True
        except IntegrityError:
            pass
    # The row exists: either the limit is reached, or another process was first just now.
    return bool(db.execute(count, values).rowcount)
