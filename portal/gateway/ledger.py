"""The ledger: a row for each upstream call with price and outcome, and daily limits."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.gateway.backend import purge_bucket
from portal.gateway.lookup import Caller, Failure, Observer
from portal.storage import ledger, reading, spending, was_purged, writing
from portal.system.error_kind import error_kind
from portal.system.local_time import from_epoch
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

ALL_CALLERS = "day"
PAGE_SIZE = 1000  # rows
OPEN = "maybe"
ANSWERED = "answered"
NOT_SENT = "not_sent"
FREE_OUTCOMES = frozenset({NOT_SENT, "circuit_open"})
REFUSED = frozenset({401, 403})  # the upstream rejected the credential
# Entries whose outcome waits for an unavailable database. Beyond this number the oldest are lost.
MAX_PENDING_CLOSES = 10_000
TRIAL_RETRY_S = 1.0
# Seconds to wait for another process's write lock. LONGEST_ROW_WAIT_S applies when a row is opened,
# and never past the deadline. The other two apply when it is closed, before and after the deadline;
# they are short, because this wait delays a paid answer.
LONGEST_ROW_WAIT_S = 10.0
LONGEST_END_WAIT_S = 1.0
LATE_END_WAIT_S = 0.5
SETTLE_BATCH = 200  # rows in one run: a slow database must not delay the other scheduled tasks

# Built once: building a statement costs more than running it, and every miss runs five.
_INSERT = insert(ledger)
# Updates only an open row, because a row is closed again if the first commit's confirmation was
# lost. The time is matched too, because SQLite reuses the number of a row that was rolled back.
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
_CALLS_SO_FAR = select(spending.c.calls).where(*_OF_PAYER)
_FIRST = insert(spending).values(calls=1)
_RELEASE = (
    update(spending).where(*_OF_PAYER, spending.c.calls > 0).values(calls=spending.c.calls - 1)
)


@dataclass(frozen=True, slots=True)
class Row:
    """One upstream call.

    ``sent_at`` is timezone-aware and ``price`` in R$. The outcome of an open call is "maybe".
    """

    sent_at: datetime
    operation: str
    origin: str
    caller: str
    price: Decimal
    outcome: str
    status: int | None
    namespace: str = ""  # "" in rows from a version without namespaces


@dataclass(frozen=True, slots=True)
class Allowance:
    """Upstream calls that are still allowed today: in all, and for one caller. None: no limit."""

    day: int | None
    token: int | None


class Ledger:
    """Records every call and enforces the daily limits.

    Rows and limits belong to one ``namespace``, because other upstreams and the demonstration may
    use the same database.

    If callers bring their own credential, a call that the upstream refused (401, 403) releases its
    reservations. A caller is on trial until one of its calls of the day is answered with 200. Until
    then its other calls release their reservations too. Unknown callers therefore cannot exhaust
    the daily limit of the others. The row of such a call stays, with its price, because the
    upstream counted the call and its contract does not say that a refusal is free. The trial calls
    in flight in all ``processes`` use at most half of the remaining daily limit, but each process
    may always have one in flight.
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
        self._trial_lock = threading.Lock()
        self._on_trial = 0  # trial calls in flight in this process
        self._namespace = namespace
        self._pending: deque[LedgerEntry] = deque(maxlen=MAX_PENDING_CLOSES)

    def rows(self, month: str | None = None, everywhere: bool = False) -> Iterator[Row]:
        """Yield the calls of a month ("2026-11"), or all, oldest first.

        ``everywhere`` includes those of every namespace, and rows from a version without
        namespaces. Rows of calls that were never sent are left out.
        """
        query = select(ledger).where(ledger.c.outcome.not_in(FREE_OUTCOMES)).order_by(ledger.c.id)
        if not everywhere:
            query = query.where(ledger.c.namespace == self._namespace)
        if month is not None:
            query = query.where(ledger.c.day.between(f"{month}-01", f"{month}-31"))
        # Read page by page. Otherwise PostgreSQL's driver would fetch all rows at once, and on
        # SQLite a query that a slow terminal delays would block checkpoints of the WAL.
        last = 0
        while True:
            with reading(self._engine) as db:
                page = db.execute(query.where(ledger.c.id > last).limit(PAGE_SIZE)).all()
            yield from map(_row, page)
            if len(page) < PAGE_SIZE:
                return
            last = page[-1].id

    def spent(self, batch: str) -> Decimal:
        """Return the price in R$ of the calls that were made for a batch.

        Calls that may have been charged are included, those of a killed process too.
        """
        query = (
            select(ledger.c.price, func.count())
            .where(ledger.c.batch == batch, ledger.c.outcome.not_in(FREE_OUTCOMES))
            .group_by(ledger.c.price)
        )
        with reading(self._engine) as db:
            return sum((Decimal(price) * calls for price, calls in db.execute(query)), Decimal(0))

    def paid(self, caller: str, subjects: Sequence[str], since: float) -> dict[str, Decimal]:
        """Return the price in R$ of a caller's calls since a time, by the tags in ``subjects``.

        A subject without such calls is missing. Calls that may have been charged are included.
        """
        query = select(ledger.c.subject, ledger.c.price).where(
            ledger.c.subject.in_(subjects),
            ledger.c.caller == caller,
            ledger.c.namespace == self._namespace,
            ledger.c.sent_at >= since,
            ledger.c.outcome.not_in(FREE_OUTCOMES),
        )
        sums: dict[str, Decimal] = {}
        with reading(self._engine) as db:
            for subject, price in db.execute(query):
                sums[subject] = sums.get(subject, Decimal(0)) + Decimal(price)
        return sums

    def allowance(self, caller: Caller) -> "Allowance":
        """Return how many calls the daily limits still allow a caller now."""
        day = from_epoch(self._clock()).date().isoformat()
        with reading(self._engine) as db:
            return Allowance(
                day=_left(db, self._payer(day, ALL_CALLERS), self._daily_limit),
                token=_left(db, self._payer(day, f"token:{caller.name}"), caller.daily_limit),
            )

    def own_calls_left(self, caller: Caller) -> tuple[int, float] | None:
        """Return the calls left of a caller's own daily limit, and the seconds until it resets.

        None without a limit, or if the database cannot be read.
        """
        if not caller.daily_limit:
            return None
        now = self._clock()
        payer = self._payer(from_epoch(now).date().isoformat(), f"token:{caller.name}")
        try:
            with reading(self._engine) as db:
                left = max(0, caller.daily_limit - _calls(db, payer))
        except SQLAlchemyError as error:
            _warn(f"the calls of today were not read: {error_kind(error)}")
            return None
        return left, self._until_midnight(now)

    def forget(self, subject: str) -> int:
        """Remove a vehicle's tag from the rows of every namespace; return their number.

        The rows and their prices stay.
        """
        with writing(self._engine) as db:
            return db.execute(
                update(ledger).where(ledger.c.subject == subject).values(subject="")
            ).rowcount

    def open(self, entry: "LedgerEntry", origin: str) -> "LedgerEntry":
        """Count the call in every limit and write its row, or raise Failure and do neither."""
        now = self._clock()
        day = from_epoch(now).date().isoformat()
        caller = entry.caller
        opened, on_trial = None, False
        wait_s = max(0.0, min(LONGEST_ROW_WAIT_S, entry.deadline - time.monotonic()))
        try:
            with writing(self._engine, wait_s) as db:
                if not _reserve(db, self._payer(day, ALL_CALLERS), self._daily_limit):
                    raise Failure("day_limit", self._until_midnight(now))
                if not _reserve(db, self._payer(day, f"token:{caller.name}"), caller.daily_limit):
                    raise Failure("token_limit", self._until_midnight(now))
                on_trial = self._begin_trial(db, day, caller)
                is_purged = entry.purges is not None and was_purged(
                    db, purge_bucket(entry.subject), entry.purges
                )
                written = db.execute(
                    _INSERT,
                    {
                        "sent_at": now,
                        "day": day,
                        "operation": entry.operation,
                        "subject": "" if is_purged else entry.subject,
                        "origin": origin,
                        "caller": caller.name,
                        "price": str(entry.price),
                        "outcome": OPEN,
                        "namespace": self._namespace,
                        "batch": caller.batch,
                    },
                )
                key = written.inserted_primary_key
                assert key is not None
                opened = replace(
                    entry,
                    # Without the credential, because an entry may wait long for the database.
                    caller=replace(caller, credential=None),
                    has_own_credential=caller.credential is not None,
                    origin=origin,
                    number=int(key[0]),
                    sent_at=now,
                    day=day,
                    on_trial=on_trial,
                )
        except SQLAlchemyError as error:
            self._end_trial(on_trial)
            if opened is not None:  # perhaps committed, and only the confirmation was lost
                self._defer(replace(opened, outcome=NOT_SENT), error)
            _warn(f"cannot write to the ledger, so nothing is sent: {error_kind(error)}")
            raise Failure("no_ledger") from None
        return replace(opened, started=time.monotonic())

    def close(self, entry: "LedgerEntry") -> None:
        """Write a call's outcome, and release the reservations of a call that does not count.

        If the database fails, ``settle`` retries later. Until then the row's outcome is "maybe".
        """
        self._end_trial(entry.on_trial)
        try:
            self._close(entry)
        except SQLAlchemyError as error:
            self._defer(entry, error)

    def settle(self) -> None:
        """Retry to write the outcomes that failed, oldest first. A periodic task."""
        for _ in range(min(len(self._pending), SETTLE_BATCH)):
            try:
                entry = self._pending.popleft()
            except IndexError:  # another thread runs settle too
                return
            try:
                self._close(entry)
            except SQLAlchemyError:
                self._pending.appendleft(entry)
                return

    def _close(self, entry: "LedgerEntry") -> None:
        free = entry.outcome in FREE_OUTCOMES
        values: dict[str, object] = {"outcome": entry.outcome, "status": entry.status}
        if free:
            values["price"] = "0"
        caller, is_answer = entry.caller.name, entry.status == 200
        refused = entry.has_own_credential and entry.status in REFUSED
        releases = free or refused or (entry.on_trial and not is_answer)
        left_s = entry.deadline - time.monotonic()
        wait_s = min(LONGEST_END_WAIT_S, max(LATE_END_WAIT_S, left_s))
        with writing(self._engine, wait_s) as db:
            which = {"number": entry.number, "written_at": entry.sent_at}
            if db.execute(_CLOSE, which | values).rowcount and releases:
                for payer in (ALL_CALLERS, f"token:{caller}"):
                    db.execute(_RELEASE, self._payer(entry.day, payer))
            if entry.on_trial and is_answer:
                _reserve(db, self._payer(entry.day, _proven_key(caller)), 0)

    def _begin_trial(self, db: Connection, day: str, caller: Caller) -> bool:
        """Return whether the caller is on trial; if so, count the call as in flight.

        Raises Failure if the trial calls in flight already use their share of the daily limit.
        Without a daily limit no caller is on trial, because trial calls cannot then block others.
        """
        if not self._daily_limit or caller.credential is None:
            return False
        if _calls(db, self._payer(day, _proven_key(caller.name))):
            return False
        with self._trial_lock:
            left = (
                self._daily_limit - _calls(db, self._payer(day, ALL_CALLERS)) + 1 + self._on_trial
            )
            if self._on_trial >= max(1, left // (2 * self._processes)):
                raise Failure("unreachable", TRIAL_RETRY_S)
            self._on_trial += 1
        return True

    def _end_trial(self, on_trial: bool) -> None:
        if on_trial:
            with self._trial_lock:
                self._on_trial -= 1

    def _payer(self, day: str, payer: str) -> dict[str, object]:
        return {"within": self._namespace, "on": day, "by": payer}

    def _defer(self, entry: "LedgerEntry", error: SQLAlchemyError) -> None:
        _warn(f"cannot write a call's outcome yet: {error_kind(error)}")
        self._pending.append(entry)

    def drop_past_counters(self) -> None:
        """Delete the call counters of days before yesterday; ledger rows stay."""
        day = from_epoch(self._clock() - 86400).date().isoformat()
        with writing(self._engine) as db:
            db.execute(delete(spending).where(spending.c.day < day))

    def left_today(self, caller: Caller) -> tuple[int | None, float]:
        """Return the calls left to a caller today and the seconds until the limits begin again.

        The first is None without a limit, or if the database cannot be read.
        """
        now = self._clock()
        day = from_epoch(now).date().isoformat()
        limits = {ALL_CALLERS: self._daily_limit, f"token:{caller.name}": caller.daily_limit}
        left: int | None = None
        if not any(limits.values()):
            return None, self._until_midnight(now)
        try:
            with reading(self._engine) as db:
                for payer, limit in limits.items():
                    if limit:
                        rest = max(0, limit - _calls(db, self._payer(day, payer)))
                        left = rest if left is None else min(left, rest)
        except SQLAlchemyError as error:
            _warn(f"the calls of today were not read: {error_kind(error)}")
            return None, self._until_midnight(now)
        return left, self._until_midnight(now)

    def _until_midnight(self, now: float) -> float:
        local = from_epoch(now)
        return 86400.0 - (local.hour * 3600 + local.minute * 60 + local.second)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One upstream call: its ledger row and its metric.

    ``begin`` returns the entry of one send; a further send of the same lookup begins from the same
    entry and gets a row of its own. ``deadline`` (monotonic seconds) bounds the wait for opening a
    row. ``purges`` is the number of the last purge before the lookup: after a later purge of the
    vehicle, rows are written without its tag. The members from ``has_own_credential`` on describe
    one send: ``sent_at`` is in epoch and ``started`` in monotonic seconds, and ``on_trial`` means
    that none of this caller's calls has been answered with 200 today.
    """

    ledger: Ledger
    operation: str
    subject: str
    price: Decimal
    caller: Caller
    deadline: float = math.inf
    purges: int | None = None
    observer: Observer = field(default_factory=Observer)
    has_own_credential: bool = False
    origin: str = ""
    number: int = 0
    sent_at: float = 0.0
    day: str = ""
    on_trial: bool = False
    started: float = 0.0
    outcome: str = OPEN
    status: int | None = None

    def begin(self, origin: str) -> "LedgerEntry":
        """Open the row of a send; raises Failure if the call must not be sent."""
        return self.ledger.open(self, origin)

    def finish(self, outcome: str, status: int | None = None) -> None:
        """Write the outcome to the row and report the call and its price to the observer."""
        self.ledger.close(replace(self, outcome=outcome, status=status))
        seconds = time.monotonic() - self.started
        self.observer.asked(self.operation, self.origin, outcome, seconds)
        if outcome not in FREE_OUTCOMES:
            self.observer.spent(self.operation, self.price)


def _row(row: Any) -> Row:
    return Row(
        sent_at=from_epoch(row.sent_at),
        operation=row.operation,
        origin=row.origin,
        caller=row.caller,
        price=Decimal(row.price),
        outcome=row.outcome,
        status=row.status,
        namespace=row.namespace,
    )


def _proven_key(caller: str) -> str:
    """Return the name of the counter of a caller's trial calls answered with 200."""
    return f"known:{caller}"


def _calls(db: Connection, payer: dict[str, object]) -> int:
    row = db.execute(_CALLS_SO_FAR, payer).first()
    return row.calls if row else 0


def _left(db: Connection, payer: dict[str, object], limit: int) -> int | None:
    return max(0, limit - _calls(db, payer)) if limit else None


def _reserve(db: Connection, payer: dict[str, object], limit: int) -> bool:
    """Count one more call atomically; return False if that exceeds the limit (0 = no limit)."""
    count, values = _COUNT, payer
    if limit:
        count, values = _COUNT_WITHIN, payer | {"most": limit}
    if db.execute(count, values).rowcount:
        return True
    # Select before the insert, because PostgreSQL would log a failed insert for each refused call.
    if db.execute(_CALLS_SO_FAR, payer).first() is None:
        try:
            with db.begin_nested():
                db.execute(
                    _FIRST,
                    {"namespace": payer["within"], "day": payer["on"], "payer": payer["by"]},
                )
            return True
        except IntegrityError:
            pass
    # The row exists: either the limit is reached, or another process inserted it just now.
    return bool(db.execute(count, values).rowcount)
