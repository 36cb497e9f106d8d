"""Counts lookups answered without an upstream call of their own, by day and operation."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.gateway.lookup import CacheStatus
from portal.gateway.operations import CachePolicy, Name
from portal.storage import hits, reading, writing
from portal.system.error_kind import error_kind
from portal.system.local_time import from_epoch

log = logging.getLogger(__name__)

_Slot = tuple[str, str, str]  # day, operation, price


@dataclass(frozen=True, slots=True)
class Savings:
    """Lookups of one operation that cost nothing: cache hits and coalesced misses.

    ``amount`` is in R$. It counts only the hits, at the price of their day.
    """

    operation: str
    hits: int
    collapsed: int
    amount: Decimal


class SavingsCounter:
    """Counts in memory; ``flush`` adds the counts to the table.

    Hits therefore never wait for a disk.
    """

    def __init__(
        self,
        engine: Engine,
        terms: Mapping[Name, CachePolicy],
        clock: Callable[[], float] = time.time,
        namespace: str = "upstream",
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._prices = {str(name): str(each.price) for name, each in terms.items()}
        self._clock = clock
        self._lock = threading.Lock()
        self._hits: Counter[_Slot] = Counter()
        self._collapsed: Counter[_Slot] = Counter()

    def count(self, operation: str, how: CacheStatus, times: int = 1) -> None:
        """Count ``times`` answers; ignore misses and refreshes, which save nothing."""
        match how:
            case "hit" | "stale":
                counter = self._hits
            case "collapsed":
                counter = self._collapsed
            case _:
                return
        day = from_epoch(self._clock()).date().isoformat()
        with self._lock:
            counter[day, operation, self._prices[operation]] += times

    def flush(self) -> None:
        """Add the counts since the last flush to the table.

        If the table is unavailable, the counts are kept for the next flush.
        """
        with self._lock:
            new_hits, self._hits = self._hits, Counter()
            new_collapsed, self._collapsed = self._collapsed, Counter()
        if not new_hits and not new_collapsed:
            return
        try:
            with writing(self._engine) as db:
                for slot in sorted(new_hits.keys() | new_collapsed.keys()):
                    _add(db, self._namespace, slot, new_hits[slot], new_collapsed[slot])
        except SQLAlchemyError as error:
            log.warning("cannot write the savings: %s", error_kind(error))
            with self._lock:
                self._hits.update(new_hits)
                self._collapsed.update(new_collapsed)

    def month(self, month: str | None = None) -> Iterator[Savings]:
        """Yield the savings by operation, for a month ("2026-11") or in total."""
        query = select(hits).where(hits.c.namespace == self._namespace)
        if month is not None:
            query = query.where(hits.c.day.startswith(month, autoescape=True))
        found: dict[str, Savings] = {}
        with reading(self._engine) as db:
            for row in db.execute(query):
                so_far = found.get(row.operation, Savings(row.operation, 0, 0, Decimal(0)))
                found[row.operation] = Savings(
                    row.operation,
                    so_far.hits + row.hits,
                    so_far.collapsed + row.collapsed,
                    so_far.amount + row.hits * Decimal(row.price),
                )
        yield from (found[name] for name in sorted(found))


def _add(db: Connection, namespace: str, slot: _Slot, more_hits: int, more_collapsed: int) -> None:
    day, operation, price = slot
    add = (
        update(hits)
        .where(
            hits.c.namespace == namespace,
            hits.c.day == day,
            hits.c.operation == operation,
            hits.c.price == price,
        )
        .values(hits=hits.c.hits + more_hits, collapsed=hits.c.collapsed + more_collapsed)
    )
    if db.execute(add).rowcount:
        return
    try:
        with db.begin_nested():
            db.execute(
                insert(hits).values(
                    namespace=namespace,
                    day=day,
                    operation=operation,
                    price=price,
                    hits=more_hits,
                    collapsed=more_collapsed,
                )
            )
    except IntegrityError:  # another process inserted the row just now
        db.execute(add)
