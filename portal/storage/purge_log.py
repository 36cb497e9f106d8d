"""The database's log of purges. A purge deletes a vehicle's data.

The cache counts purges too. The database needs its own log, because a cache that restarts empty has
lost its counters.
"""

import logging
from typing import NamedTuple

from sqlalchemy import Connection, Engine, delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.storage.database import lock_purges, reading, writing
from portal.storage.tables import purges
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

MOST_KEPT = 10_000  # largest number of purges in the log
_TRIES = 10


class Purges(NamedTuple):
    """The result of ``PurgeLog.since``.

    ``latest`` is the number of the last purge. ``buckets`` contains the bucket (a short hash of the
    vehicle) of each purge whose number is above the argument of ``since``. ``buckets`` is None if
    the log cannot list these purges.
    """

    latest: int
    buckets: frozenset[int] | None


def was_purged(db: Connection, bucket: int, number: int | None) -> bool:
    """Return whether the log has a purge of ``bucket`` with a number above ``number``.

    If ``number`` is None, any purge of ``bucket`` in the log counts. No purge is logged until the
    transaction ends. A transaction that locks rows must call this function first, or must lock no
    further rows.
    """
    lock_purges(db, shared=True)
    later = select(purges.c.number).where(
        purges.c.bucket == bucket, purges.c.number > (number or 0)
    )
    return db.execute(later.limit(1)).first() is not None


class PurgeLog:
    """The purges, numbered from 1.

    Each purge has a bucket, which is a number that the purged vehicle shares with many other
    vehicles.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, bucket: int) -> int:
        """Log a purge and return its number. Raises SQLAlchemyError."""
        for tries_left in reversed(range(_TRIES)):
            try:
                with writing(self._engine) as db:
                    lock_purges(db, shared=False)
                    # Do not use a database sequence. With a sequence, purge 8 could be committed
                    # before purge 7, and a process that has read purge 8 would miss purge 7.
                    number = (db.execute(select(func.max(purges.c.number))).scalar() or 0) + 1
                    db.execute(insert(purges).values(number=number, bucket=bucket))
                    db.execute(delete(purges).where(purges.c.number <= number - MOST_KEPT))
                return int(number)
            except IntegrityError:  # another process has used the number
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def count(self) -> int:
        """Return how many purges were ever logged in this database. Raises SQLAlchemyError."""
        with reading(self._engine) as db:
            return int(db.execute(select(func.max(purges.c.number))).scalar() or 0)

    def since(self, number: int | None) -> Purges | None:
        """Return the purges after ``number``, or None if the database cannot be read.

        ``buckets`` in the result is None if the log cannot list these purges. This happens if
        ``number`` is None or above the last purge's number, or if the log has already dropped one
        of these purges.
        """
        try:
            with reading(self._engine) as db:
                latest = db.execute(select(func.max(purges.c.number))).scalar() or 0
                if number is None or not latest - MOST_KEPT <= number <= latest:
                    return Purges(latest, frozenset() if number == latest else None)
                after = purges.c.number.between(number + 1, latest)
                found = db.execute(select(purges.c.bucket).where(after)).scalars()
                return Purges(latest, frozenset(found))
        except SQLAlchemyError as error:
            _warn(f"the purge log cannot be read: {type(error).__name__}")
            return None
