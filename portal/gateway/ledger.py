"""The ledger: a row before each upstream call, what it costs, how it ended; and the limits."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.gateway.backend import purge_bucket
from portal.gateway.lookup import Caller, Failure
from portal.storage import ledger, reading, spending, waiting, was_purged

log = logging.getLogger(__name__)

ZONE = ZoneInfo("America/Sao_Paulo")
EVERYBODY = "day"
PAGE = 1000  # rows
OPEN = "maybe"
NOT_SENT = "not_sent"
FREE_OUTCOMES = frozenset({NOT_SENT, "circuit_open"})
REFUSED = frozenset({401, 403})  # the upstream's answers to a credential
UNCLOSED_MOST = 10_000  # ends kept for a database that is away; of more, the oldest are lost
TRIAL_RETRY_S = 1.0
# Seconds to wait for another process's write lock: for a row before its send, always within the
# deadline; for its end, which holds up a paid answer, while the deadline lasts and after it.
LONGEST_ROW_WAIT_S = 10.0
LONGEST_END_WAIT_S = 1.0
LATE_END_WAIT_S = 0.5
SETTLED_AT_ONCE = 200  # a database far away must not keep the housekeeper from its other chores

# Built once: to build a statement costs more than to run it, and every miss runs five.
_ANNOUNCE = insert(ledger)
# Only while it is open: an end may be told twice, when the first one's confirmation was lost. And
# by its moment too: SQLite gives the number of a row that was taken back to the next one.
_CLOSE = update(ledger).where(
    ledger.c.id == bindparam("number"),
    ledger.c.sent_at == bindparam("written_at"),
    ledger.c.outcome == OPEN,
)
_OF_PAYER = (
    spending.c.namespace == bindparam("within"),
    spending.c.day == bindparam("on"),
    spending.c.payer == bindparam("by"),
)
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
    namespace: str = ""  # "" in rows of a version that knew none


@dataclass(frozen=True, slots=True)
class _Written:
    """Which row it is, and who gets the reservation back if nothing left.

    ``own_credential``: the caller's own went upstream (pass-through). ``on_trial``: none of this
    caller's calls has been answered with 200 today.
    """

    number: int
    sent_at: float  # epoch seconds
    day: str
    caller: str
    deadline: float  # monotonic seconds
    own_credential: bool = False
    on_trial: bool = False


@dataclass(frozen=True, slots=True)
class _End:
    row: _Written
    outcome: str
    status: int | None


class Ledger:
    """Knows every call and lets none through beyond a limit.

    Rows and limits are those of one ``namespace``: other upstreams, and the demonstration, may
    use the same database.

    Where callers bring a credential of their own, a call that the upstream refused (401, 403)
    gives its reservations back, and so does any call of a caller on trial that is not answered
    with 200: strangers do not spend the day of the others. Its row stays, with its price: the
    upstream counted the call, and its contract does not say that a refusal is free. Until they
    end, calls of callers on trial hold places of the day: over all ``processes`` at most half of
    those that are left, but at least one each.
    """

    def __init__(
        self,
        engine: Engine,
        daily_limit: int = 0,
        clock: Callable[[], float] = time.time,
        processes: int = 1,
        namespace: str = "upstream",
    ) -> None:
        self._engine = engine
        self._daily_limit = daily_limit
        self._clock = clock
        self._processes = processes
        self._turn = threading.Lock()
        self._on_trial = 0  # calls under way in this process
        self._namespace = namespace
        self._unclosed: deque[_End] = deque(maxlen=UNCLOSED_MOST)

    def account(
        self,
        operation: str,
        subject: str,
        price: Decimal,
        caller: Caller,
        deadline: float = math.inf,
        purges: int | None = None,
    ) -> "LedgerSession":
        """``deadline`` in monotonic seconds: no row is waited for longer. ``purges`` is the
        number of the last purge before the lookup began: a later purge of the vehicle leaves
        the lookup's further rows without its tag."""
        return LedgerSession(self, operation, subject, price, caller, deadline, purges)

    def rows(self, month: str | None = None, everywhere: bool = False) -> Iterator[Row]:
        """The calls of a month ("2026-11"), or all, oldest first; ``everywhere``: those of every
        namespace, rows of a version that knew none included.

        What never left is no call: such rows count nowhere.
        """
        query = select(ledger).where(ledger.c.outcome.not_in(FREE_OUTCOMES)).order_by(ledger.c.id)
        if not everywhere:
            query = query.where(ledger.c.namespace == self._namespace)
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
        """Cut the tie between the rows of every namespace and a vehicle; what was spent stays."""
        with self._engine.begin() as db:
            return db.execute(
                update(ledger).where(ledger.c.subject == subject).values(subject="")
            ).rowcount

    def open_row(self, purchase: "LedgerSession", origin: str) -> _Written:
        """Reserve the call in every limit and write its row, or raise Failure and do neither."""
        now = self._clock()
        day = datetime.fromtimestamp(now, ZONE).date().isoformat()
        caller = purchase.caller
        row, on_trial = None, False
        wait_s = max(0.0, min(LONGEST_ROW_WAIT_S, purchase.deadline - time.monotonic()))
        try:
            with waiting(self._engine, wait_s).begin() as db:
                if not _reserve(db, self._payer(day, EVERYBODY), self._daily_limit):
                    raise Failure("day_limit", self._until_midnight(now))
                if not _reserve(db, self._payer(day, f"token:{caller.name}"), caller.daily_limit):
                    raise Failure("token_limit", self._until_midnight(now))
                on_trial = self._begin_trial(db, day, caller)
                is_purged = purchase.purges is not None and was_purged(
                    db, purge_bucket(purchase.subject), purchase.purges
                )
                written = db.execute(
                    _ANNOUNCE,
                    {
                        "sent_at": now,
                        "day": day,
                        "operation": purchase.operation,
                        "subject": "" if is_purged else purchase.subject,
                        "origin": origin,
                        "caller": caller.name,
                        "price": str(purchase.price),
                        "outcome": OPEN,
                        "namespace": self._namespace,
                    },
                )
                key = written.inserted_primary_key
                assert key is not None
                row = _Written(
                    *(int(key[0]), now, day, caller.name, purchase.deadline),
                    own_credential=caller.credential is not None,
                    on_trial=on_trial,
                )
        except SQLAlchemyError as error:
            self._end_trial(on_trial)
            if row is not None:  # whether it stands, nobody knows: only its confirmation is lost
                self._put_off(_End(row, NOT_SENT, None), error)
            raise Failure("no_ledger") from None
        return row

    def close_row(self, row: _Written, outcome: str, status: int | None) -> None:
        """Write how a call ended; one that was never sent gives its reservation back.

        Where the database will not, ``settle`` does it later; until then the row reads "maybe".
        """
        self._end_trial(row.on_trial)
        end = _End(row, outcome, status)
        try:
            self._close(end)
        except SQLAlchemyError as error:
            self._put_off(end, error)

    def settle(self) -> None:
        """Close what could not be closed when it ended, the oldest first. Now and then."""
        for _ in range(min(len(self._unclosed), SETTLED_AT_ONCE)):
            try:
                end = self._unclosed.popleft()
            except IndexError:  # another thread settles too
                return
            try:
                self._close(end)
            except SQLAlchemyError:
                self._unclosed.appendleft(end)
                return

    def _close(self, end: _End) -> None:
        free = end.outcome in FREE_OUTCOMES
        values: dict[str, object] = {"outcome": end.outcome, "status": end.status}
        if free:
            values["price"] = "0"
        row = end.row
        refused = row.own_credential and end.status in REFUSED
        gives_back = free or refused or (row.on_trial and end.status != 200)
        left_s = row.deadline - time.monotonic()
        wait_s = min(LONGEST_END_WAIT_S, max(LATE_END_WAIT_S, left_s))
        with waiting(self._engine, wait_s).begin() as db:
            which = {"number": row.number, "written_at": row.sent_at}
            if db.execute(_CLOSE, which | values).rowcount and gives_back:
                for payer in (EVERYBODY, f"token:{row.caller}"):
                    db.execute(_GIVE_BACK, self._payer(row.day, payer))
            if row.on_trial and end.status == 200:
                _reserve(db, self._payer(row.day, _known(row.caller)), 0)

    def _begin_trial(self, db: Connection, day: str, caller: Caller) -> bool:
        """Whether the call is one of a caller on trial; raises Failure where those under way hold
        their share of the day already. Only with a limit can they stop others."""
        if not self._daily_limit or caller.credential is None:
            return False
        if _calls(db, self._payer(day, _known(caller.name))):
            return False
        with self._turn:
            left = self._daily_limit - _calls(db, self._payer(day, EVERYBODY)) + 1 + self._on_trial
            if self._on_trial >= max(1, left // (2 * self._processes)):
                raise Failure("unreachable", TRIAL_RETRY_S)
            self._on_trial += 1
        return True

    def _end_trial(self, on_trial: bool) -> None:
        if on_trial:
            with self._turn:
                self._on_trial -= 1

    def _payer(self, day: str, payer: str) -> dict[str, object]:
        return {"within": self._namespace, "on": day, "by": payer}

    def _put_off(self, end: _End, error: SQLAlchemyError) -> None:
        log.warning("a call's end is written later: %s", type(error).__name__)
        self._unclosed.append(end)

    def drop_past_counters(self) -> None:
        """Forget the limits' counters of the days before yesterday; the rows stay."""
        day = datetime.fromtimestamp(self._clock() - 86400, ZONE).date().isoformat()
        with self._engine.begin() as db:
            db.execute(delete(spending).where(spending.c.day < day))

    def _until_midnight(self, now: float) -> float:
        local = datetime.fromtimestamp(now, ZONE)
        return 86400.0 - (local.hour * 3600 + local.minute * 60 + local.second)


class LedgerSession:
    """One fetch's account with the ledger: every send of it gets a row of its own."""

    def __init__(
        self,
        book: Ledger,
        operation: str,
        subject: str,
        price: Decimal,
        caller: Caller,
        deadline: float = math.inf,
        purges: int | None = None,
    ) -> None:
        self._book = book
        self.operation = operation
        self.subject = subject
        self.price = price
        self.caller = caller
        self.deadline = deadline
        self.purges = purges

    def announce(self, origin: str) -> "LedgerEntry":
        return LedgerEntry(self._book, self._book.open_row(self, origin))


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A row that is open until ``ended`` is called."""

    book: Ledger
    row: _Written

    def ended(self, outcome: str, status: int | None = None) -> None:
        self.book.close_row(self.row, outcome, status)


def _row(row: Any) -> Row:
    return Row(
        sent_at=datetime.fromtimestamp(row.sent_at, ZONE),
        operation=row.operation,
        origin=row.origin,
        caller=row.caller,
        price=Decimal(row.price),
        outcome=row.outcome,
        status=row.status,
        namespace=row.namespace,
    )


def _known(caller: str) -> str:
    """The counter of a caller's first calls of a day that were answered with 200."""
    return f"known:{caller}"


def _calls(db: Connection, payer: dict[str, object]) -> int:
    held = db.execute(_HELD, payer).first()
    return held.calls if held else 0


def _reserve(db: Connection, payer: dict[str, object], limit: int) -> bool:
    """Count one more call, atomically; False where that would pass the limit (0 = none)."""
    count, values = _COUNT, payer
    if limit:
        count, values = _COUNT_WITHIN, payer | {"most": limit}
    if db.execute(count, values).rowcount:
        return True
    # Looked up first: a day's worth of refusals would be as many errors in PostgreSQL's log.
    if db.execute(_HELD, payer).first() is None:
        try:
            with db.begin_nested():
                db.execute(
                    _FIRST,
                    {"namespace": payer["within"], "day": payer["on"], "payer": payer["by"]},
                )
            return True
        except IntegrityError:
            pass
    # The row exists: either the limit is reached, or another process was first just now.
    return bool(db.execute(count, values).rowcount)
