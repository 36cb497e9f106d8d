"""Adds up upstream calls and cached answers for the operator's usage page."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Engine, Select, and_, case, func, not_, or_, select

from portal.gateway.ledger import DAY, FREE_OUTCOMES, MAYBE, token_counter
from portal.storage.database import reading
from portal.storage.tables import call_counters, ledger, lookup_counts
from portal.system.local_time import from_epoch
from portal.upstream.errors import ANSWERED

# Seconds after which ``failures`` includes a call without an outcome. The process that made such a
# call was probably killed.
_LONGEST_CALL_S = 60.0
_ORDINARY_STATUSES = (200, 400, 404)
_TOKEN_PREFIX = token_counter("")


class Usage(NamedTuple):
    """Numbers of lookups, with their cost and savings in R$.

    ``calls`` is the number of upstream calls, and ``spent`` is their total price. ``hits`` counts
    fresh answers from the store. ``stale`` counts stale answers that were served after a failure.
    ``collapsed`` counts lookups that shared the call of an equal lookup. ``saved`` is the total
    price of the calls that ``hits`` and ``stale`` made unnecessary.
    """

    calls: int = 0
    spent: Decimal = Decimal(0)
    hits: int = 0
    stale: int = 0
    collapsed: int = 0
    saved: Decimal = Decimal(0)

    @property
    def free(self) -> int:
        """Return the number of lookups without a call of their own."""
        return self.hits + self.stale + self.collapsed

    @property
    def lookups(self) -> int:
        return self.calls + self.free


@dataclass(frozen=True, slots=True)
class CallFailures:
    """The failed calls to one base address that have the same outcome and status.

    ``last_at`` is the time of the last of these calls, in epoch seconds.
    """

    outcome: str
    status: int | None
    origin: str
    calls: int
    last_at: float

    @property
    def is_free(self) -> bool:
        """Return whether the calls were never sent and therefore never charged."""
        return self.outcome in FREE_OUTCOMES


@dataclass(frozen=True, slots=True)
class OriginCalls:
    """The calls to one base address on one day, and how many of them failed."""

    calls: int
    failed: int


@dataclass(frozen=True, slots=True)
class CallsToday:
    """The calls that count towards today's limits, in total and by token name."""

    all: int
    by_token: Mapping[str, int]


class UsageLog:
    """Reads the usage of one namespace (upstream name) from the database."""

    def __init__(
        self, engine: Engine, namespace: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._clock = clock

    def today(self) -> date:
        """Return today's date in the time zone of the ledger."""
        return from_epoch(self._clock()).date()

    def by_day(self, first: date) -> dict[tuple[date, str], Usage]:
        """Return the usage of each day and operation since the day ``first``."""
        found = self._sums(first, "day", "operation")
        return {(date.fromisoformat(day), name): usage for (day, name), usage in found.items()}

    def by_caller(self, first: date) -> dict[str, Usage]:
        """Return the usage of each caller since the day ``first``."""
        return {caller: usage for (caller,), usage in self._sums(first, "caller").items()}

    def of_caller(self, caller: str) -> Usage:
        """Return a caller's usage in the present month."""
        found = self._sums(self.today().replace(day=1), "caller", caller=caller)
        return found.get((caller,), Usage())

    def by_operation(self, month: str | None = None) -> dict[str, Usage]:
        """Return the usage of each operation in a month such as "2026-11", or in all months."""
        first, before = date.min, date.max
        if month is not None:
            first = date.fromisoformat(f"{month}-01")
            before = (first + timedelta(days=31)).replace(day=1)
        found = self._sums(first, "operation", before=before)
        return {operation: usage for (operation,), usage in found.items()}

    def failures(self, first: date) -> list[CallFailures]:
        """Return the failed calls since the day ``first``.

        The calls are grouped by outcome, status and base address. The group with the latest call is
        first.
        """
        query = (
            select(
                ledger.c.outcome,
                ledger.c.status,
                ledger.c.origin,
                func.count().label("calls"),
                func.max(ledger.c.sent_at).label("last_at"),
            )
            .where(
                ledger.c.namespace == self._namespace,
                ledger.c.day >= first.isoformat(),
                _failed(),
                or_(ledger.c.outcome != MAYBE, ledger.c.sent_at < self._clock() - _LONGEST_CALL_S),
            )
            .group_by(ledger.c.outcome, ledger.c.status, ledger.c.origin)
            .order_by(func.max(ledger.c.sent_at).desc())
        )
        return [CallFailures(**row._mapping) for row in self._all(query)]

    def origins_today(self) -> dict[str, OriginCalls]:
        """Return today's calls, grouped by base address.

        Calls that could not be sent, and calls without an outcome yet, count as failed.
        """
        query = (
            select(
                ledger.c.origin,
                func.count().label("calls"),
                func.sum(case((_failed(), 1), else_=0)).label("failed"),
            )
            .where(ledger.c.namespace == self._namespace, ledger.c.day == self.today().isoformat())
            .group_by(ledger.c.origin)
        )
        return {row.origin: OriginCalls(row.calls, row.failed) for row in self._all(query)}

    def calls_today(self) -> CallsToday:
        """Return today's calls from the counters of the daily limits."""
        query = select(call_counters.c.payer, call_counters.c.calls).where(
            call_counters.c.namespace == self._namespace,
            call_counters.c.day == self.today().isoformat(),
        )
        counters = {row.payer: row.calls for row in self._all(query)}
        by_token = {
            payer.removeprefix(_TOKEN_PREFIX): calls
            for payer, calls in counters.items()
            if payer.startswith(_TOKEN_PREFIX)
        }
        return CallsToday(counters.get(DAY, 0), by_token)

    def _sums(
        self, first: date, *groups: str, before: date = date.max, caller: str | None = None
    ) -> dict[tuple[str, ...], Usage]:
        found: defaultdict[tuple[str, ...], list[Usage]] = defaultdict(list)
        paid = paid_query(self._namespace, first, *groups, before=before)
        unpaid = _within(lookup_counts.c.day, first, before)
        if caller is not None:
            paid = paid.where(ledger.c.caller == caller)
            unpaid = and_(unpaid, lookup_counts.c.caller == caller)
        for *group, price, calls in self._all(paid):
            found[tuple(group)].append(Usage(calls=calls, spent=calls * Decimal(price)))
        for key, usage in self._unpaid(unpaid, *groups):
            found[key].append(usage)
        return {group: merged(usage) for group, usage in found.items()}

    def _unpaid(
        self, days: ColumnElement[bool], *groups: str
    ) -> Iterator[tuple[tuple[str, ...], Usage]]:
        """Yield the lookups without a call of their own, grouped by ``groups`` and price."""
        columns = [lookup_counts.c[name] for name in (*groups, "price")]
        sums = [func.sum(lookup_counts.c[name]) for name in ("hits", "stale", "collapsed")]
        query = (
            select(*columns, *sums)
            .where(lookup_counts.c.namespace == self._namespace, days)
            .group_by(*columns)
        )
        for *group, price, hits, stale, collapsed in self._all(query):
            yield (
                tuple(group),
                Usage(
                    # Convert to int, because PostgreSQL's driver may return a sum as a Decimal.
                    hits=int(hits),
                    stale=int(stale),
                    collapsed=int(collapsed),
                    saved=int(hits + stale) * Decimal(price),
                ),
            )

    def _all(self, query: Select[Any]) -> Sequence[Any]:
        with reading(self._engine) as db:
            return db.execute(query).all()


def paid_query(namespace: str, first: date, *groups: str, before: date = date.max) -> Select[Any]:
    """Return a query that counts the calls from ``first`` on that may have been charged.

    Calls on the day ``before`` and on later days are not counted.

    The query counts the calls for each combination of price and the columns in ``groups``. The
    index "ledger_by_use" covers all columns of this query.
    """
    columns = [ledger.c[name] for name in (*groups, "price")]
    return (
        select(*columns, func.count().label("calls"))
        .where(
            ledger.c.namespace == namespace,
            _within(ledger.c.day, first, before),
            ledger.c.outcome.not_in(FREE_OUTCOMES),
        )
        .group_by(*columns)
    )


def _within(day: Column[str], first: date, before: date) -> ColumnElement[bool]:
    since = day >= first.isoformat()
    return since if before == date.max else and_(since, day < before.isoformat())


def _failed() -> ColumnElement[bool]:
    """Return the SQL condition for calls that were refused or got no usable answer."""
    is_refused = and_(ledger.c.status.is_not(None), not_(ledger.c.status.in_(_ORDINARY_STATUSES)))
    return or_(ledger.c.outcome != ANSWERED, is_refused)


def merged(usage: Iterable[Usage]) -> Usage:
    """Return the sum of several Usage objects."""
    sums: Iterable[Any] = map(sum, zip(*usage, strict=True))
    return Usage(*sums)
