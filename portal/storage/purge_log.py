"""Logs purges in the database, because a store that restarts empty has lost its own log."""

import logging
from typing import NamedTuple

from sqlalchemy import Engine, delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.storage.database import purges, reading

log = logging.getLogger(__name__)

KEPT = 10_000  # purges in the log
_TRIES = 10


class Purges(NamedTuple):
    """The result of ``PurgeLog.since``.

    ``latest`` is the number of the last purge. ``buckets`` are those purged after the requested
    number, None where the log no longer reaches back to it.
    """

    latest: int
    buckets: frozenset[int] | None


class PurgeLog:
    """Numbers purges from 1. It logs the vehicle's bucket, which identifies no vehicle."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, bucket: int) -> None:
        """Log a purge; raises SQLAlchemyError where the database cannot be written."""
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._engine.begin() as db:
                    # A database sequence could make a later number visible first.
                    number = (db.execute(select(func.max(purges.c.number))).scalar() or 0) + 1
                    db.execute(insert(purges).values(number=number, bucket=bucket))
                    db.execute(delete(purges).where(purges.c.number <= number - KEPT))
                return
            except IntegrityError:  # another process took the number
                if not tries_left:
                    raise

    def since(self, number: int | None) -> Purges | None:
        """Return the purges after ``number``, None where the database cannot be read.

        For a ``number`` of None the buckets are unknown, unless nothing was ever purged.
        """
        try:
            with reading(self._engine) as db:
                latest = db.execute(select(func.max(purges.c.number))).scalar() or 0
                if number is None or not latest - KEPT <= number <= latest:
                    return Purges(latest, frozenset() if number == latest else None)
                after = purges.c.number.between(number + 1, latest)
                found = db.execute(select(purges.c.bucket).where(after)).scalars()
                return Purges(latest, frozenset(found))
        except SQLAlchemyError as error:
            log.warning("the purge log cannot be read: %s", type(error).__name__)
            return None
