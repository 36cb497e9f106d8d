"""Counts the lookups that needed no upstream call of their own."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, Engine, bindparam, insert, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.gateway.lookup import CacheStatus, Observer
from portal.gateway.operations import CachePolicy
from portal.storage.database import writing
from portal.storage.tables import lookup_counts
from portal.system.error_kind import error_kind
from portal.system.local_time import from_epoch
from portal.vehicle.operation_name import OperationName

log = logging.getLogger(__name__)

_COLUMNS: Mapping[CacheStatus, str] = {"hit": "hits", "stale": "stale", "collapsed": "collapsed"}
_ADD = (
    update(lookup_counts)
    .where(
        *(
            lookup_counts.c[name] == bindparam(f"of_{name}")
            for name in ("namespace", "day", "caller", "operation", "price")
        )
    )
    .values({name: lookup_counts.c[name] + bindparam(f"more_{name}") for name in _COLUMNS.values()})
)


class _Slot(NamedTuple):
    """The columns that identify a row of counts within a namespace."""

    day: str
    caller: str
    operation: str
    price: str


class SavingsCounter:
    """Counts lookups without an upstream call. ``count`` never waits for the database."""

    def __init__(
        self,
        engine: Engine,
        terms: Mapping[OperationName, CachePolicy],
        clock: Callable[[], float] = time.time,
        *,
        namespace: str,
        observer: Observer | None = None,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._observer = observer or Observer()
        self._prices = {str(name): each.price for name, each in terms.items()}
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: Counter[tuple[_Slot, str]] = Counter()

    def count(self, operation: str, how: CacheStatus, times: int = 1, caller: str = "") -> None:
        """Count ``times`` answers. Ignores misses and refreshes, which save no call."""
        column = _COLUMNS.get(how)
        if column is None:
            return
        price = self._prices[operation]
        if how != "collapsed":
            self._observer.saved(operation, price * times)
        day = from_epoch(self._clock()).date().isoformat()
        with self._lock:
            self._counts[_Slot(day, caller, operation, str(price)), column] += times

    def flush(self) -> None:
        """Add the counts since the previous flush to the database.

        If the database is unavailable, the counts stay in memory until the next flush.
        """
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return
        try:
            with writing(self._engine) as db:
                for slot in sorted({slot for slot, _ in counts}):
                    more = {column: counts[slot, column] for column in _COLUMNS.values()}
                    _add(db, self._namespace, slot, more)
        except SQLAlchemyError as error:
            log.warning("cannot write the savings: %s", error_kind(error))
            with self._lock:
                self._counts.update(counts)


def _add(db: Connection, namespace: str, slot: _Slot, more: Mapping[str, int]) -> None:
    row = {"namespace": namespace, **slot._asdict()}
    values = {f"of_{name}": value for name, value in row.items()}
    values |= {f"more_{name}": number for name, number in more.items()}
    if db.execute(_ADD, values).rowcount:
        return
    try:
        with db.begin_nested():
            db.execute(insert(lookup_counts).values(**row, **more))
    except IntegrityError:  # another process has just inserted the row
        db.execute(_ADD, values)
