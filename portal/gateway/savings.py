"""Counts the lookups that needed no upstream call of their own."""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from operator import itemgetter

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from portal.amounts import UNKNOWN_TEXT, amount_of, amount_text
from portal.gateway.lookup import CacheStatus, Observer
from portal.gateway.operations import CachePolicy
from portal.storage.database import Database
from portal.system.error_kind import error_kind
from portal.system.local_time import iso_day
from portal.vehicle.operation_name import OperationName

log = logging.getLogger(__name__)

_COLUMNS: Mapping[CacheStatus, str] = {"hit": "hits", "stale": "stale", "collapsed": "collapsed"}
_ADD = text(
    "INSERT INTO lookup_counts (namespace, day, caller, operation, price, hits, stale, collapsed) "
    "VALUES (:namespace, :day, '', :operation, :price, :hits, :stale, :collapsed) "
    "ON CONFLICT (namespace, day, caller, operation, price) DO UPDATE SET "
    "hits = lookup_counts.hits + excluded.hits, stale = lookup_counts.stale + excluded.stale, "
    "collapsed = lookup_counts.collapsed + excluded.collapsed"
)
_ADD_TO_CALLER = text(
    "INSERT INTO caller_sums "
    "(namespace, month, caller, hits, stale, collapsed, saved, unpriced_hits) VALUES "
    "(:namespace, :month, :caller, :hits, :stale, :collapsed, :saved, :unpriced_hits) "
    "ON CONFLICT (namespace, month, caller) DO UPDATE SET "
    "hits = caller_sums.hits + excluded.hits, stale = caller_sums.stale + excluded.stale, "
    "collapsed = caller_sums.collapsed + excluded.collapsed, "
    "saved = caller_sums.saved + excluded.saved, "
    "unpriced_hits = caller_sums.unpriced_hits + excluded.unpriced_hits"
)


class SavingsCounter:
    """Counts lookups without an upstream call. ``count`` never waits for the database."""

    def __init__(
        self,
        database: Database,
        terms: Mapping[OperationName, CachePolicy],
        clock: Callable[[], float] = time.time,
        *,
        namespace: str,
        observer: Observer | None = None,
    ) -> None:
        self._database = database
        self._none = {"namespace": namespace, **dict.fromkeys(_COLUMNS.values(), 0)}
        self._observer = observer or Observer()
        self._prices = {str(name): term.price for name, term in terms.items()}
        self._clock = clock
        self._lock = threading.Lock()
        # The counts of each day, caller, operation and price.
        self._counts: defaultdict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)

    def count(self, operation: str, how: CacheStatus, times: int = 1, caller: str = "") -> None:
        """Count ``times`` answers that made no call."""
        column = _COLUMNS[how]
        price = self._prices[operation]
        if how != "collapsed" and price is not None:
            self._observer.saved(operation, price * times)
        day = iso_day(self._clock())
        with self._lock:
            self._counts[day, caller, operation, amount_text(price)][column] += times

    def flush(self) -> None:
        """Add the counts since the previous flush to the database.

        If the database is unavailable, the counts stay in memory until the next flush.
        """
        with self._lock:
            counts, self._counts = self._counts, defaultdict(Counter)
        if not counts:
            return
        try:
            self._write(counts)
        except SQLAlchemyError as error:
            log.warning("cannot write the savings: %s", error_kind(error))
            with self._lock:
                for names, more in counts.items():
                    self._counts[names].update(more)

    def _write(self, counts: Mapping[tuple[str, str, str, str], Counter[str]]) -> None:
        rows = [
            {
                **self._none,
                **more,
                "day": day,
                "month": day[:7],
                "caller": caller,
                "operation": operation,
                "price": price,
                "saved": int((more["hits"] + more["stale"]) * (amount_of(price) or 0) * 1_000_000),
                "unpriced_hits": more["hits"] + more["stale"] if price == UNKNOWN_TEXT else 0,
            }
            for (day, caller, operation, price), more in counts.items()
        ]
        # Sorted, because two processes could otherwise deadlock on PostgreSQL.
        with self._database.writing() as db:
            db.execute(_ADD, sorted(rows, key=itemgetter("day", "operation", "price")))
            db.execute(_ADD_TO_CALLER, sorted(rows, key=itemgetter("month", "caller")))
