"""Records each upstream call in the ledger table, and enforces the limits of spending."""

import logging
import math
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple, Protocol

from sqlalchemy import Connection, delete, func, select, text, true, update
from sqlalchemy.exc import SQLAlchemyError

from portal.access.tokens import Identity
from portal.amounts import UNKNOWN_TEXT, amount_of, total
from portal.gateway.confirmed_sum import batch_limit, begin_share, end_share
from portal.gateway.limits import NO_LIMIT, Allowance, Calendar, Limit, Scope, Use
from portal.gateway.lookup import Failure, FailureKind, Observer
from portal.gateway.reservation import (
    NO_LIMITS,
    LimitReached,
    PortalLimits,
    end_of,
    give_back,
    limits_of,
    limits_of_portal,
    period_of,
    reserve,
    seconds_left,
    used_of,
)
from portal.storage.database import Database, Lock, hold, indexed_by
from portal.storage.purge_log import purge_bucket
from portal.storage.tables import call_counters, ledger
from portal.system.error_kind import error_kind
from portal.system.local_time import from_epoch, iso_day
from portal.system.repeated_warning import RepeatedWarning
from portal.upstream.errors import CircuitOpen, NotSent, Uncertain

_warn = RepeatedWarning(logging.getLogger(__name__))

# The calls in progress of callers on trial (see Ledger). What they may use depends on the moment.
_ON_TRIAL = Limit("trial", "on trial", "day", NO_LIMIT)
PAGE_SIZE = 1000  # rows
# The outcome of a call in progress ("maybe"). Such a call may already have been charged.
MAYBE = Uncertain.outcome
FREE_OUTCOMES = frozenset({NotSent.outcome, CircuitOpen.outcome})
REFUSED = frozenset({401, 403})  # The upstream rejects a credential with one of these statuses.
# With one of these statuses, the upstream or a proxy refuses the call, so that nothing is charged.
UNCHARGED = REFUSED | {402, 407, 429, 451}
# The largest number of calls whose outcomes are queued while the database is unavailable. If the
# queue is full, its oldest outcomes are lost.
MAX_PENDING_CLOSES = 10_000
TRIAL_RETRY_S = 1.0
# Limits in seconds for waiting until another process releases the write lock. A wait after a call
# must be short, because it delays an answer that has been paid for.
LONGEST_ROW_WAIT_S = 10.0  # before a call, but at most until the lookup's deadline
LONGEST_END_WAIT_S = 1.0  # after a call, if the lookup's deadline has not passed
LATE_END_WAIT_S = 0.5  # after a call, if the deadline has passed
# The largest number of queued outcomes that one run of ``settle`` writes. The limit prevents a slow
# database from delaying other scheduled tasks.
SETTLE_BATCH = 200

# Leaves out the tag of a vehicle that may have been purged after ``last_purge``, if this is given.
# Returns the number of the last purge of the vehicle's bucket.
_INSERT = text(
    "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, "
    "namespace, batch) VALUES (:sent_at, :day, :operation, CASE WHEN EXISTS "
    "(SELECT 1 FROM purges WHERE bucket = :bucket AND number > :last_purge) THEN '' "
    "ELSE :subject END, :origin, :caller, :price, :outcome, :namespace, :batch) "
    "RETURNING id, (SELECT MAX(number) FROM purges WHERE bucket = :bucket)"
)
# Updates only a row whose outcome is MAYBE. If the connection fails just after a commit, ``settle``
# repeats the update, but must not give back the counted call again. ``sent_at`` must match, because
# SQLite gives the number of a rolled-back row to the next row.
_CLOSE = text(
    "UPDATE ledger SET outcome = :outcome, status = :status, price = :price "
    "WHERE id = :id AND sent_at = :sent_at AND outcome = :maybe"
)
_NOTE_FULL = text("UPDATE access_tokens SET full_on = :day WHERE digest = :digest")


class UpstreamCall(NamedTuple):
    """One upstream call, with its price in R$, or None if that is unknown.

    Until a call ends, its outcome is "maybe".
    """

    sent_at: datetime
    operation: str
    origin: str
    caller: str
    price: Decimal | None
    outcome: str
    status: int | None
    namespace: str


# The columns of UpstreamCall.
_SHOWN = [ledger.c[name] for name in UpstreamCall._fields]


_REACHED: Final[Mapping[tuple[Scope, Calendar], FailureKind]] = {
    ("portal", "day"): "day_limit",
    ("token", "day"): "token_limit",
    ("person", "day"): "token_limit",
    ("portal", "month"): "portal_budget",
    ("token", "month"): "token_budget",
    ("person", "month"): "token_budget",
}


class BudgetMessages(Protocol):
    """Tells of budgets, see ``portal.messages.budgets``."""

    def taken(
        self, db: Connection, limit: Limit, caller: Identity, used: Decimal, seconds: float
    ) -> None: ...

    def refused(
        self, limit: Limit, caller: Identity, used: Callable[[], Decimal], seconds: float
    ) -> None: ...


class Ledger:
    """Records every call and enforces the limits of spending.

    Rows and limits belong to one ``namespace`` (an upstream's name, or "demo"), because several
    upstreams may use the same database.

    A call is taken from every limit that binds it before it is sent: the portal's, the token's and
    the person's, the sum that a batch's owner has confirmed, and the one on trial calls. A batch
    sets a part of its sum aside for each vehicle (``portal.gateway.confirmed_sum``).

    In pass-through mode, each caller sends its own upstream credential. Callers with invalid
    credentials must not use up the daily limit of all callers. A call that the upstream refuses
    (401, 403) therefore does not count towards the limits.

    In pass-through mode, each caller starts each day on trial. The trial ends when the upstream
    answers one of the caller's calls with 200. Calls of a caller on trial are trial calls. A trial
    call that ends without a 200 does not count towards the limits. All trial calls in progress
    together may use half of the remaining daily limit, but at least one call.
    """

    def __init__(
        self,
        database: Database,
        limits: PortalLimits = NO_LIMITS,
        budgets: BudgetMessages | None = None,
        clock: Callable[[], float] = time.time,
        *,
        namespace: str,
    ) -> None:
        self._database = database
        self._limits = limits
        self._budgets = budgets
        self._clock = clock
        self._namespace = namespace
        self._pending: deque[LedgerEntry] = deque(maxlen=MAX_PENDING_CLOSES)

    def rows(
        self,
        month: str | None = None,
        everywhere: bool = False,
        tags: Collection[str] | None = None,
    ) -> Iterator[UpstreamCall]:
        """Yield the calls of a month such as "2026-11", or all calls, the oldest first.

        Omits calls that were never sent. Includes calls of other namespaces only if ``everywhere``
        is true. With ``tags``, only the calls about these vehicles.
        """
        chosen = true() if everywhere else ledger.c.namespace == self._namespace
        if tags is not None:
            chosen &= ledger.c.subject.in_(tags)
        if month is not None:
            chosen &= ledger.c.day.between(f"{month}-01", f"{month}-31")
        wanted = chosen & ledger.c.outcome.not_in(FREE_OUTCOMES)
        numbers = select(func.min(ledger.c.id), func.max(ledger.c.id)).where(chosen)
        # Read page by page, because PostgreSQL's driver would fetch all rows of a single query at
        # once. In SQLite, a query that stays open while a slow terminal prints its rows would block
        # checkpoints of the write-ahead log. A page is selected by number alone. With ``wanted`` in
        # its WHERE clause, SQLite would use the index "ledger_by_day", and would read and sort all
        # rows of the namespace for each page.
        page = select(*_SHOWN, wanted.label("is_wanted"), ledger.c.id).order_by(ledger.c.id)
        with self._database.reading() as db:
            number, last = db.execute(numbers).one()
        while number is not None and number <= (last or 0):
            within = ledger.c.id.between(number, last)
            with self._database.reading() as db:
                rows = db.execute(page.where(within).limit(PAGE_SIZE)).all()
            for sent_at, operation, origin, caller, price, *others, is_wanted, _ in rows:
                if is_wanted:
                    yield UpstreamCall(
                        from_epoch(sent_at), operation, origin, caller, amount_of(price), *others
                    )
            if len(rows) < PAGE_SIZE:
                return
            number = rows[-1].id + 1

    def sent(self, first: date, last: date) -> Iterator[tuple[UpstreamCall, str]]:
        """Yield the calls from one day to another, in America/Sao_Paulo, each with its tag.

        Omits calls that were never sent.
        """
        query = select(*_SHOWN, ledger.c.subject).where(
            ledger.c.namespace == self._namespace,
            ledger.c.day.between(first.isoformat(), last.isoformat()),
            ledger.c.outcome.not_in(FREE_OUTCOMES),
        )
        with self._database.reading() as db:
            rows = db.execute(query).all()
        for sent_at, operation, origin, caller, price, *others, tag in rows:
            call = UpstreamCall(
                from_epoch(sent_at), operation, origin, caller, amount_of(price), *others
            )
            yield call, tag

    def paid(self, caller: str, subjects: Sequence[str], since: float) -> dict[str, Decimal | None]:
        """Return for each vehicle the R$ total of a caller's calls since ``since``.

        ``subjects`` are the vehicles' tags, and ``since`` is in epoch seconds. The totals include
        calls of which it is unknown whether they were charged. A total is None if the price of one
        of the calls is unknown. Vehicles without calls are omitted.
        """
        query = select(ledger.c.subject, ledger.c.price).where(
            ledger.c.subject.in_(subjects),
            ledger.c.caller == caller,
            ledger.c.namespace == self._namespace,
            ledger.c.sent_at >= since,
            ledger.c.outcome.not_in(FREE_OUTCOMES),
        )
        prices: defaultdict[str, list[Decimal | None]] = defaultdict(list)
        with self._database.reading() as db:
            for subject, price in db.execute(indexed_by(query, ledger, "ledger_by_subject")):
                prices[subject].append(amount_of(price))
        return {subject: total(of_calls) for subject, of_calls in prices.items()}

    def allowance(self, caller: Identity) -> Allowance:
        """Return how many calls, and R$, the limits of day and month still allow a caller.

        Does not read the database if no limit applies. A database error is only logged, because
        pages and response headers just display the numbers. ``open`` enforces the limits.
        """
        now = self._clock()
        left: dict[Scope, int] = {}
        uses = self.uses(caller)
        for use in uses:
            if use.limit.period == "day":
                scope: Scope = "portal" if use.limit.scope == "portal" else "token"
                left[scope] = min(left.get(scope, sys.maxsize), int(use.left))
        money = min((use.left for use in uses if use.limit.period == "month"), default=None)
        return Allowance(
            *(left.get("portal"), left.get("token"), seconds_left("day", now)),
            *(money, seconds_left("month", now)),
        )

    def uses(self, caller: Identity) -> list[Use]:
        """Return what is used of each limit that binds a caller.

        Does not read the database if no limit is set. A database error is only logged, and no limit
        is returned.
        """
        return self._used(limits_of(caller, self._limits))

    def uses_of_portal(self) -> list[Use]:
        """Return what is used of the limits for all callers together, as ``uses`` does."""
        return self._used(limits_of_portal(self._limits))

    def _used(self, limits_found: Sequence[Limit]) -> list[Use]:
        now = self._clock()
        limits = [limit for limit in limits_found if limit.is_set]
        if not limits:
            return []
        try:
            with self._database.reading() as db:
                used = used_of(db, self._namespace, limits, now)
        except SQLAlchemyError as error:
            _warn(f"what is used of the limits was not read: {error_kind(error)}")
            return []
        return [Use(limit, used[limit], end_of(limit, now)) for limit in limits]

    def forget(self, db: Connection, tags: Collection[str]) -> int:
        """Remove a vehicle's tags from the rows of every namespace.

        Returns the number of changed rows. The caller's transaction must not yet have locked a
        batch's row.
        """
        # Lock the rows in the order of their numbers, because two purges of one vehicle could
        # otherwise deadlock on PostgreSQL.
        rows = select(ledger.c.id).where(ledger.c.subject.in_(tags)).order_by(ledger.c.id)
        return db.execute(
            update(ledger).where(ledger.c.id.in_(rows.with_for_update())).values(subject="")
        ).rowcount

    def open(self, entry: "LedgerEntry", origin: str) -> "LedgerEntry":
        """Count a call towards every limit, and write the row of the call.

        Raises Failure, and does not count the call, if a limit is reached or the row cannot be
        written.
        """
        now = self._clock()
        day = iso_day(now)
        caller, is_own = entry.caller, entry.caller.credential is not None
        opened = None
        wait_s = max(0.0, min(LONGEST_ROW_WAIT_S, entry.deadline - time.monotonic()))
        try:
            with self._database.writing(wait_s) as db:
                hold(db, Lock.PURGES, shared=True)  # before any row is locked, see ``was_purged``
                number, last_purge = db.execute(
                    _INSERT,
                    {
                        "sent_at": now,
                        "day": day,
                        "operation": entry.operation,
                        "subject": entry.subject,
                        "bucket": purge_bucket(entry.subject),
                        "last_purge": entry.last_purge,
                        "origin": origin,
                        "caller": caller.name,
                        "price": UNKNOWN_TEXT if entry.price is None else str(entry.price),
                        "outcome": MAYBE,
                        "namespace": self._namespace,
                        "batch": caller.batch,
                    },
                ).one()
                limits, share = [*limits_of(caller, self._limits)], None
                if caller.batch is not None:
                    share = begin_share(
                        db,
                        caller.batch,
                        entry.subject,
                        entry.price,
                        is_resend=bool(entry.charged),
                    )
                    if share is None:
                        raise Failure("price")
                    limits.append(share.limit)
                trial = self._trial(db, caller, now) if is_own else None
                if trial is not None:
                    limits.append(trial)
                # Locked last and briefly, because every call locks the row of all callers.
                used = reserve(db, self._namespace, limits, entry.price, now)
                if share is not None and share.limit in used:
                    share.require_rest(db, used[share.limit])
                self._write_budget_messages(db, used, entry, now)
                if caller.daily_limit and used[limits[1]] == caller.daily_limit:
                    db.execute(_NOTE_FULL, {"day": day, "digest": caller.digest})
                opened = replace(
                    entry,
                    # Remove the credential, because it must not stay in memory while ``_pending``
                    # holds the entry.
                    caller=replace(caller, credential=None) if is_own else caller,
                    has_own_credential=is_own,
                    origin=origin,
                    number=number,
                    last_purge=last_purge or 0,
                    sent_at=now,
                    day=day,
                    on_trial=trial is not None,
                    reserved=Decimal(0) if share is None else share.own,
                )
        except LimitReached as reached:
            self._write_spent_budget_message(reached.limit, caller, now)
            raise _refusal(reached.limit, now) from None
        except SQLAlchemyError as error:
            # If the commit raised the error, the database may contain the row. Close the row later
            # as a call that was not sent.
            if opened is not None:
                self._defer(replace(opened, outcome=NotSent.outcome), error)
            _warn(f"cannot write to the ledger, so nothing is sent: {error_kind(error)}")
            raise Failure("no_ledger") from None
        return replace(opened, started=time.monotonic())

    def _write_budget_messages(
        self, db: Connection, used: Mapping[Limit, Decimal], entry: "LedgerEntry", now: float
    ) -> None:
        if self._budgets is None or not entry.price:
            return
        for limit, amount in used.items():
            if limit.period == "month" and limit.is_set:
                self._budgets.taken(db, limit, entry.caller, amount, now)

    def _write_spent_budget_message(self, limit: Limit, caller: Identity, now: float) -> None:
        if self._budgets is None or limit.period != "month":
            return
        try:
            self._budgets.refused(limit, caller, lambda: self._read_used(limit, now), now)
        except SQLAlchemyError as error:
            _warn(f"no message on a spent budget was written: {error_kind(error)}")

    def _read_used(self, limit: Limit, now: float) -> Decimal:
        with self._database.reading() as db:
            return used_of(db, self._namespace, [limit], now)[limit]

    def close(self, entry: "LedgerEntry") -> None:
        """Write a call's outcome.

        A call that was not sent no longer counts towards the limits. The same holds for a call in
        which the upstream refused the caller's own credential, and for a trial call (see Ledger)
        that got no 200. If the database fails, the outcome stays "maybe" until ``settle`` writes
        the final outcome.
        """
        try:
            self._close(entry)
        except SQLAlchemyError as error:
            self._defer(entry, error)

    def settle(self) -> None:
        """Write the outcomes that ``close`` could not write. The scheduler calls ``settle``."""
        for _ in range(min(len(self._pending), SETTLE_BATCH)):
            try:
                entry = self._pending.popleft()
            except IndexError:
                return
            try:
                self._close(entry)
            except SQLAlchemyError:
                self._pending.appendleft(entry)
                return

    def _close(self, entry: "LedgerEntry") -> None:
        free = entry.outcome in FREE_OUTCOMES
        caller, is_answer = entry.caller.name, entry.status == 200
        refused = entry.has_own_credential and entry.status in REFUSED
        gives_back = free or refused or (entry.on_trial and not is_answer)
        cost = entry.cost
        price, batch = entry.price or Decimal(0), entry.caller.batch
        bound = [*limits_of(entry.caller, self._limits)]
        if batch is not None:
            bound.append(batch_limit(batch, None))
        limits = [
            limit
            for limit in bound
            if (gives_back if limit.unit == "calls" else cost != entry.price)
        ]
        if entry.on_trial:
            limits.append(_ON_TRIAL)
        left_s = entry.deadline - time.monotonic()
        wait_s = min(LONGEST_END_WAIT_S, max(LATE_END_WAIT_S, left_s))
        row = {
            "id": entry.number,
            "sent_at": entry.sent_at,
            "maybe": MAYBE,
            "outcome": entry.outcome,
            "status": entry.status,
            "price": UNKNOWN_TEXT if cost is None else str(cost),
        }
        with self._database.writing(wait_s) as db:
            if db.execute(_CLOSE, row).rowcount:
                if batch is not None and price and cost != price:
                    end_share(db, batch, entry.subject, price, entry.reserved)
                give_back(db, self._namespace, limits, price, entry.sent_at)
            if entry.on_trial and is_answer:
                reserve(db, self._namespace, [_proof(caller)], price, entry.sent_at)

    def _trial(self, db: Connection, caller: Identity, now: float) -> Limit | None:
        """Return the limit on trial calls, or None for a caller that is not on trial.

        A caller with its own credential is on trial until it gets its first 200 of the day. All
        trial calls in progress may use half of what the other calls of the day leave.
        """
        of_all, proof = limits_of_portal(self._limits)[0], _proof(caller.name)
        if not of_all.is_set:
            return None
        used = used_of(db, self._namespace, [of_all, _ON_TRIAL, proof], now)
        if used[proof]:
            return None
        left = int(of_all.most - used[of_all] + used[_ON_TRIAL])
        return replace(_ON_TRIAL, most=Decimal(max(1, left // 2)))

    def _defer(self, entry: "LedgerEntry", error: SQLAlchemyError) -> None:
        _warn(f"cannot write a call's outcome yet: {error_kind(error)}")
        self._pending.append(entry)

    def drop_past_counters(self) -> None:
        """Delete the counters of all days before yesterday, and of all months before the last."""
        now, column = self._clock(), call_counters.c.day
        day = iso_day(now - 86400)
        end_of_last_month = from_epoch(now).replace(day=1) - timedelta(days=1)
        month = period_of("month", end_of_last_month.timestamp())
        first_month = period_of("month", 0)
        is_past = (column < day) | (column >= first_month) & (column < month)
        with self._database.writing() as db:
            db.execute(delete(call_counters).where(is_past))


@dataclass(slots=True)
class LedgerEntry:
    """Records the upstream calls of one lookup in the ledger and in the metrics.

    Before each request, ``begin`` writes a row and returns a copy of the entry. In this copy, the
    fields from ``has_own_credential`` to ``started`` describe the request. ``subject`` is the
    vehicle's tag (a keyed hash). ``deadline`` and ``started`` are in monotonic seconds, ``sent_at``
    in epoch seconds. ``last_purge`` is the number of the last purge that was known before the data
    in the first request was read. For a request without stored data it is None, until ``begin``
    sets it to the vehicle's last purge. If the vehicle may have been purged since, the row is
    written without the tag.

    ``reserved`` is the part of the price that was reserved for the vehicle's lookups in its batch.
    ``charged`` are the numbers of the lookup's rows that may have been charged. All copies of an
    entry share it.
    """

    ledger: Ledger
    operation: str
    subject: str
    price: Decimal | None
    caller: Identity
    deadline: float = math.inf
    last_purge: int | None = None
    observer: Observer = field(default_factory=Observer)
    has_own_credential: bool = False
    origin: str = ""
    number: int = 0
    sent_at: float = 0.0
    day: str = ""
    on_trial: bool = False
    reserved: Decimal = Decimal(0)
    charged: set[int] = field(default_factory=set)
    started: float = 0.0
    outcome: str = MAYBE
    status: int | None = None

    def begin(self, origin: str) -> "LedgerEntry":
        """Write the row of a request. Raises Failure if the request must not be sent."""
        opened = self.ledger.open(self, origin)
        if self.last_purge is None:
            self.last_purge = opened.last_purge
        self.charged.add(opened.number)
        return opened

    def finish(self, outcome: str, status: int | None = None) -> None:
        """Write a call's outcome to its row, and report the call to the observer."""
        ended = replace(self, outcome=outcome, status=status)
        if ended.cost == 0:
            self.charged.discard(self.number)
        self.ledger.close(ended)
        seconds = time.monotonic() - self.started
        self.observer.asked(self.operation, self.origin, outcome, seconds, status)
        if (cost := ended.cost) != 0:
            self.observer.spent(self.operation, cost)

    @property
    def cost(self) -> Decimal | None:
        """The price, or 0 if the call was not sent or the upstream refused the call.

        None if the price is unknown.
        """
        is_free = self.outcome in FREE_OUTCOMES or self.status in UNCHARGED
        return Decimal(0) if is_free else self.price


def _proof(caller: str) -> Limit:
    """Return the limit whose row marks the end of a caller's trial (see Ledger)."""
    return Limit("trial", f"known:{caller}", "day", NO_LIMIT)


def _refusal(limit: Limit, now: float) -> Failure:
    """Return the failure of a call that a limit refuses."""
    if limit.scope == "trial":
        return Failure("unreachable", TRIAL_RETRY_S, held_back=True)
    if limit.period == "total":
        return Failure("price")
    return Failure(_REACHED[limit.scope, limit.period], seconds_left(limit.period, now))
