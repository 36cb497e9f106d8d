"""Adds up upstream calls and cached answers for the operator's usage page.

The number of rows that a query reads depends on the days and on the kinds of calls, and not on the
number of calls or callers (see ``call_sums`` in ``portal.storage.tables``).
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from math import ceil
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Float,
    Select,
    String,
    and_,
    cast,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from portal.access.tokens import PERSON
from portal.amounts import amount_of
from portal.gateway.ledger import FREE_OUTCOMES, MAYBE, Ledger
from portal.gateway.limits import WARNED_AT, Calendar, Limit, Use
from portal.gateway.reservation import (
    ALL_CALLERS,
    MICRO,
    ends_at,
    period_of,
    spent_on,
    token_payer,
)
from portal.gateway.usage import CallFailures, CallsToday, OriginCalls, Usage, merged
from portal.storage.database import Database, indexed_by
from portal.storage.tables import (
    IN_PROGRESS,
    call_counters,
    call_sums,
    caller_sums,
    ledger,
    lookup_counts,
    tokens,
)
from portal.system.local_time import from_epoch, iso_day
from portal.upstream.errors import ANSWERED

# Seconds after which ``failures`` includes a call without an outcome. The process that made such a
# call was probably killed.
_LONGEST_CALL_S = 60.0
RATE_DAYS = 7  # A forecast goes on at the rate of so many days.
_ORDINARY_STATUSES = (200, 400, 404)
_TOKEN_PREFIX = token_payer("")
T = TypeVar("T")


class Calls(NamedTuple):
    """The calls from the day ``first`` to the day before ``before``, as ``UsageLog`` reads them."""

    first: date
    before: date
    rows: Sequence[Any]


class NamedUse(NamedTuple):
    """What is used of a limit, with the name and the scopes of its token or person."""

    name: str
    scopes: Collection[str]
    use: Use


class UsageLog:
    """Reads the usage of one namespace (upstream name) from the database."""

    def __init__(
        self, database: Database, namespace: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._clock = clock

    def today(self) -> date:
        """Return today's date in the time zone of the ledger."""
        return from_epoch(self._clock()).date()

    def calls(self, first: date, before: date = date.max) -> Calls:
        """Read the calls since the day ``first``, for the methods that have a parameter ``calls``.

        The result has a row for each kind of ended calls on a day, and one for each call in
        progress, which has no status.
        """
        ended = select(call_sums).where(
            call_sums.c.namespace == self._namespace, _within(call_sums.c.day, first, before)
        )
        names = ("namespace", "day", "operation", "price", "origin", "outcome")
        columns = (*(ledger.c[name] for name in names), literal(0), literal(1), ledger.c.sent_at)
        open_calls = self._in_progress(columns, first, before)
        return Calls(first, before, self._all(ended.union_all(open_calls)))

    def by_day(self, calls: Calls) -> dict[tuple[date, str], Usage]:
        """Return the usage of each day and operation."""
        sums = self._sums(calls, lambda row: (row.day, row.operation))
        return {(date.fromisoformat(day), name): usage for (day, name), usage in sums.items()}

    def by_operation(self, month: str | None = None) -> dict[str, Usage]:
        """Return the usage of each operation in a month such as "2026-11", or in all months."""
        first, before = date.min, date.max
        if month is not None:
            first = date.fromisoformat(f"{month}-01")
            before = (first + timedelta(days=31)).replace(day=1)
        return self._sums(self.calls(first, before), lambda row: row.operation)

    def dearest_callers(self, most: int) -> dict[str, Usage]:
        """Return the usage in the present month of the ``most`` callers that have spent most.

        Of callers that have spent the same, those with more calls come first. Calls whose price is
        unknown count only as calls.
        """
        columns = caller_sums.c
        order = (columns.spent.desc(), columns.calls.desc(), columns.caller.desc())
        return self._of_callers(select(caller_sums).order_by(*order).limit(most))

    def of_caller(self, caller: str) -> Usage:
        """Return a caller's usage in the present month."""
        by_caller = self._of_callers(
            select(caller_sums).where(caller_sums.c.caller == caller), caller
        )
        return by_caller.get(caller, Usage())

    def budgeted_in_days(self, days: int, callers: Collection[str] | None = None) -> Decimal:
        """Return the R$ that the last ``days`` days took from budgets, of all callers or of some.

        A call whose price was unknown took nothing from a budget.
        """
        first = self.today() - timedelta(days=days - 1)
        if callers is None:
            return merged(self.by_day(self.calls(first)).values()).known_spent
        query = select(ledger.c.price, func.count()).where(
            ledger.c.namespace == self._namespace,
            ledger.c.day >= first.isoformat(),
            ledger.c.caller.in_(callers),
            ledger.c.outcome.not_in(FREE_OUTCOMES),
        )
        rows = self._all(indexed_by(query.group_by(ledger.c.price), ledger, "ledger_by_day"))
        return merged(_of_calls(count, price) for price, count in rows).known_spent

    def ends_on(self, use: Use, callers: Collection[str] | None = None) -> date | None:
        """Return the day on which a month's budget ends at the rate of the last seven days.

        ``callers`` are the names of the calls that the limit counts, or None for all calls. None
        for a limit of calls, or if the budget lasts until the month's end.
        """
        if use.limit.unit == "calls":
            return None
        lately = self.budgeted_in_days(RATE_DAYS, callers)
        return spent_on(use.used, use.limit.most, lately, RATE_DAYS, self.today())

    def failures(self, calls: Calls, first: date) -> list[CallFailures]:
        """Return the failed calls since the day ``first``.

        The calls are grouped by outcome, status and base address. The group with the latest call is
        first.
        """
        latest = self._clock() - _LONGEST_CALL_S
        groups: defaultdict[tuple[str, int | None, str], list[Any]] = defaultdict(list)
        for row in calls.rows:
            if (
                row.day >= first.isoformat()
                and _has_failed(row)
                and (row.outcome != MAYBE or row.last_at < latest)
            ):
                groups[row.outcome, row.status or None, row.origin].append(row)
        seen = [
            CallFailures(*kind, sum(row.calls for row in rows), max(row.last_at for row in rows))
            for kind, rows in groups.items()
        ]
        return sorted(seen, key=lambda each: -each.last_at)

    def origins_today(self, calls: Calls) -> dict[str, OriginCalls]:
        """Return today's calls, grouped by base address.

        Calls that could not be sent, and calls without an outcome yet, count as failed.
        """
        today = iso_day(self._clock())
        return _origin_calls((row.origin, row) for row in calls.rows if row.day == today)

    def answered_by_day(self, calls: Calls) -> dict[tuple[date, str], OriginCalls]:
        """Return the ended calls of each day and operation, and how many got no usable answer.

        An answer that says that a vehicle is unknown is an answer.
        """
        return _origin_calls(
            ((date.fromisoformat(row.day), row.operation), row)
            for row in calls.rows
            if row.outcome != MAYBE
        )

    def calls_today(self, callers: Iterable[str]) -> CallsToday:
        """Return today's calls of all callers together and of some callers.

        The numbers come from the counters of the daily limits.
        """
        query = select(call_counters.c.payer, call_counters.c.calls).where(
            call_counters.c.namespace == self._namespace,
            call_counters.c.day == iso_day(self._clock()),
            call_counters.c.payer.in_([ALL_CALLERS, *map(token_payer, callers)]),
        )
        counters = {row.payer: row.calls for row in self._all(query)}
        calls = counters.pop(ALL_CALLERS, 0)
        return CallsToday(
            calls,
            {payer.removeprefix(_TOKEN_PREFIX): counter for payer, counter in counters.items()},
        )

    def tokens_near(self, dearest: Decimal) -> list[NamedUse]:
        """Return the limits of valid tokens of which much is used, or less than ``dearest`` left.

        ``dearest`` are the R$ of a call. Limits of a day that are used up are in
        ``Tokens.overview``. A token that was replaced shares the limits of its successor.
        """
        now, columns = self._clock(), tokens.c
        used = func.coalesce(call_counters.c.calls, 0)
        budget = cast(columns.monthly_budget, Float) * MICRO
        # Some more than from WARNED_AT on, because the database computes with floats.
        share = float(WARNED_AT) - 0.01
        limit = columns.daily_limit
        in_day = (limit > 0) & (used >= limit * share) & (used < limit)
        is_short = used + float(dearest * MICRO) >= budget
        in_month = (budget > 0) & ((used >= budget * share) | is_short)

        def near(period: Calendar, most: Any, is_near: Any) -> Select[Any]:
            counted = and_(
                call_counters.c.namespace == columns.namespace,
                call_counters.c.day == period_of(period, now),
                call_counters.c.payer == literal(_TOKEN_PREFIX) + columns.name,
            )
            most = cast(most, String).label("most")
            query = select(literal(period), columns.name, columns.scopes, most, used)
            return query.select_from(tokens.outerjoin(call_counters, counted)).where(
                columns.namespace == self._namespace,
                columns.revoked_at.is_(None),
                columns.expires_at.is_(None) | (columns.expires_at > now),
                columns.name.not_like("%#%"),
                is_near,
            )

        rows = self._all(
            near("day", limit, in_day).union_all(near("month", columns.monthly_budget, in_month))
        )
        uses = []
        for period, name, scopes, most, counter in sorted(rows, key=lambda row: row.name):
            taken = Decimal(counter) if period == "day" else Decimal(counter) / MICRO
            own = Limit("token", token_payer(name), period, Decimal(most))
            uses.append(NamedUse(name, scopes.split(","), Use(own, taken, ends_at(period, now))))
        return uses

    def people_near(
        self, daily_limit: int, monthly_budget: Decimal, dearest: Decimal
    ) -> dict[str, list[Use]]:
        """Return the limits of people of which much is used, or less than ``dearest`` left.

        By the person's id. All people have the same limits. 0 is no limit.
        """
        now, columns = self._clock(), call_counters.c
        uses: dict[str, list[Use]] = {}
        limits: Sequence[tuple[Calendar, Decimal, Decimal]] = (
            ("day", Decimal(daily_limit), Decimal(daily_limit) * WARNED_AT),
            ("month", monthly_budget, min(monthly_budget * WARNED_AT, monthly_budget - dearest)),
        )
        for period, most, from_ in limits:
            if not most:
                continue
            unit = 1 if period == "day" else MICRO
            query = select(columns.payer, columns.calls).where(
                columns.namespace == self._namespace,
                columns.day == period_of(period, now),
                columns.payer.startswith(PERSON),
                columns.calls >= ceil(from_ * unit),
            )
            for payer, counter in self._all(query.order_by(columns.payer)):
                own = Limit("person", payer, period, most)
                use = Use(own, Decimal(counter) / unit, ends_at(period, now))
                uses.setdefault(payer.removeprefix(PERSON), []).append(use)
        return uses

    def _sums(self, calls: Calls, key: Callable[[Any], T]) -> dict[T, Usage]:
        groups: defaultdict[T, list[Usage]] = defaultdict(list)
        for row in calls.rows:
            if row.outcome not in FREE_OUTCOMES:
                groups[key(row)].append(_of_calls(row.calls, row.price))
        query = select(lookup_counts).where(
            lookup_counts.c.namespace == self._namespace,
            _within(lookup_counts.c.day, calls.first, calls.before),
        )
        for row in self._all(query):
            counts = {"hits": row.hits, "stale": row.stale, "collapsed": row.collapsed}
            answers, price = row.hits + row.stale, amount_of(row.price)
            unpriced = answers if price is None else 0
            saved = answers * (price or Decimal(0))
            groups[key(row)].append(Usage(**counts, known_saved=saved, unpriced_hits=unpriced))
        return {group: merged(usage) for group, usage in groups.items()}

    def _in_progress(
        self, columns: Iterable[ColumnElement[Any]], first: date, before: date = date.max
    ) -> Select[Any]:
        """Select the calls without an outcome, some of which never get one."""
        query = select(*columns).where(
            ledger.c.namespace == self._namespace,
            _within(ledger.c.day, first, before),
            text(IN_PROGRESS),
        )
        return indexed_by(query, ledger, "ledger_in_progress")

    def _of_callers(self, query: Select[Any], caller: str | None = None) -> dict[str, Usage]:
        """Return the usage of the callers whose monthly sums a query finds."""
        first = self.today().replace(day=1)
        in_progress = self._in_progress((ledger.c.caller, ledger.c.price), first)
        if caller is not None:
            in_progress = in_progress.where(ledger.c.caller == caller)
        rows = self._all(
            query.where(
                caller_sums.c.namespace == self._namespace,
                caller_sums.c.month == f"{first:%Y-%m}",
            )
        )
        by_name = {row.caller: [_usage_of_caller(row)] for row in rows}
        for name, price in self._all(in_progress):
            if name in by_name or caller is not None:
                by_name.setdefault(name, []).append(_of_calls(1, price))
        return {name: merged(usage) for name, usage in by_name.items()}

    def _all(self, query: Select[Any] | CompoundSelect[Any]) -> Sequence[Any]:
        with self._database.reading() as db:
            return db.execute(query).all()


def uses_of_portal(ledger: Ledger, usage: UsageLog) -> list[tuple[Use, date | None]]:
    """Return what is used of each limit for all callers together, and when it ends at its rate.

    Nothing without a limit, or if the database cannot be read.
    """
    try:
        return [(use, usage.ends_on(use)) for use in ledger.uses_of_portal()]
    except SQLAlchemyError:
        return []


def _usage_of_caller(row: Any) -> Usage:
    spent, saved = (Decimal(amount) / MICRO for amount in (row.spent, row.saved))
    unpriced = row.unpriced_calls, row.unpriced_hits
    return Usage(row.calls, spent, row.hits, row.stale, row.collapsed, saved, *unpriced)


def _of_calls(calls: int, price_text: str) -> Usage:
    price = amount_of(price_text)
    if price is None:
        return Usage(calls, unpriced_calls=calls)
    return Usage(calls, calls * price)


def _within(day: Column[str], first: date, before: date) -> ColumnElement[bool]:
    return and_(day >= first.isoformat(), day < before.isoformat())


def _origin_calls(rows: Iterable[tuple[T, Any]]) -> dict[T, OriginCalls]:
    """Return the calls of rows, each with its group, and how many of a group's have failed."""
    groups: dict[T, OriginCalls] = {}
    for group, row in rows:
        before = groups.get(group, OriginCalls(0, 0))
        failed = before.failed + (row.calls if _has_failed(row) else 0)
        groups[group] = OriginCalls(before.calls + row.calls, failed)
    return groups


def _has_failed(row: Any) -> bool:
    """Return whether calls were refused, or got no usable answer."""
    return row.outcome != ANSWERED or (row.status or 200) not in _ORDINARY_STATUSES
