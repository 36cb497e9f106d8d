"""The database's log of purges. A purge deletes a vehicle's data."""

import logging
import secrets
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Engine, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from portal.storage.database import lock_purges, reading, writing
from portal.storage.tables import meta, purges
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

_ID = "purge_log"
_LATEST = select(func.coalesce(func.max(purges.c.number), 0))


def was_purged(db: Connection, bucket: int, number: int) -> bool:
    """Return whether the log has a purge of ``bucket`` with a number above ``number``.

    No purge is logged until the transaction ends. A transaction that locks rows must call this
    function first, or must lock no further rows.
    """
    lock_purges(db, shared=True)
    later = select(purges.c.number).where(purges.c.bucket == bucket, purges.c.number > number)
    return db.execute(later.limit(1)).first() is not None


def log_purges(db: Connection, buckets: Collection[int], above: int = 0) -> Sequence[int]:
    """Log a purge of each bucket, and return their successive numbers.

    The numbers are higher than all earlier numbers, and higher than ``above``. The log keeps the
    last purge of each bucket. A transaction that locks rows must call this function first.
    """
    lock_purges(db, shared=False)
    # Do not use a database sequence. With a sequence, purge 8 could be committed before purge 7,
    # and a process that has read purge 8 would miss purge 7.
    first = max(db.execute(_LATEST).scalar_one(), above) + 1
    db.execute(delete(purges).where(purges.c.bucket.in_(buckets)))
    rows = [{"number": first + index, "bucket": each} for index, each in enumerate(buckets)]
    db.execute(insert(purges), rows)
    return [row["number"] for row in rows]


class PurgeLog:
    """The purges, numbered from 1.

    Each purge has a bucket, which is a number that the purged vehicle shares with many other
    vehicles.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, buckets: Collection[int], above: int = 0) -> Sequence[int]:
        """Log purges in a transaction of their own (see ``log_purges``). Raises SQLAlchemyError."""
        with writing(self._engine) as db:
            return log_purges(db, buckets, above)

    def identity(self) -> str:
        """Return the random id of the log, which a restored database keeps.

        Raises SQLAlchemyError.
        """
        query = select(meta.c.value).where(meta.c.name == _ID)
        with reading(self._engine) as db:
            if found := db.execute(query).scalar():
                return str(found)
        with writing(self._engine) as db:
            lock_purges(db, shared=False)
            found = db.execute(query).scalar()
            if found is None:
                found = secrets.token_hex(8)
                db.execute(insert(meta).values(name=_ID, value=found))
            return str(found)

    def latest(self) -> int:
        """Return the number of the last purge, or 0 without a purge. Raises SQLAlchemyError."""
        with reading(self._engine) as db:
            return int(db.execute(_LATEST).scalar_one())

    def after(self, number: int) -> dict[int, int] | None:
        """Return the purges after ``number``, or None if the database cannot be read.

        The result maps each bucket to the number of its last purge.
        """
        query = select(purges.c.bucket, purges.c.number).where(purges.c.number > number)
        try:
            with reading(self._engine) as db:
                return {row.bucket: row.number for row in db.execute(query.order_by("number"))}
        except SQLAlchemyError as error:
            _warn(f"the purge log cannot be read: {type(error).__name__}")
            return None
