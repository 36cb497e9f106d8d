"""The database's log of purges, and each process's copy of it. A purge deletes a vehicle's data."""

import logging
import math
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from portal.storage.database import Database, Lock, hold
from portal.storage.tables import meta, purges
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

BUCKETS: Final = 0x10000
CURRENT_FOR_S: Final = 1.0
_ID = "purge_log"
# Built once: each miss executes it, and building it takes longer than executing it.
_LATER = (
    select(purges.c.number)
    .where(purges.c.bucket == bindparam("of_bucket"), purges.c.number > bindparam("above"))
    .limit(1)
)
# Built once, too: each process reads the log twice a second.
_AFTER = (
    select(purges.c.bucket, purges.c.number)
    .where(purges.c.number > bindparam("above"))
    .order_by(purges.c.number)
)


def purge_bucket(key: str) -> int:
    """Return the purge bucket of the vehicle to which a store key or tag belongs.

    The log of purges names buckets, from 0 to 65,535, because the name of a vehicle would
    permanently show that the vehicle was purged. About ten thousand plates share a bucket. If a
    plate is purged during an upstream call for another plate in its bucket, the answer for that
    other plate is not stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % BUCKETS


def was_purged(db: Connection, tag: str, number: int) -> bool:
    """Return whether the log has a purge of the tag's bucket with a number above ``number``.

    No purge is logged until the transaction ends. A transaction that locks rows must call this
    function first, or must lock no further rows.
    """
    hold(db, Lock.PURGES, shared=True)
    later = db.execute(_LATER, {"of_bucket": purge_bucket(tag), "above": number})
    return later.first() is not None


def log_purges(db: Connection, buckets: Collection[int], above: int = 0) -> Sequence[int]:
    """Log a purge of each bucket, and return their successive numbers.

    The numbers are higher than all earlier numbers, and higher than ``above``. The log keeps the
    last purge of each bucket. A transaction that locks rows must call this function first.
    """
    hold(db, Lock.PURGES)
    # Do not use a database sequence. With a sequence, purge 8 could be committed before purge 7,
    # and a process that has read purge 8 would miss purge 7.
    latest = db.execute(select(func.max(purges.c.number))).scalar() or 0
    first = max(latest, above) + 1
    db.execute(delete(purges).where(purges.c.bucket.in_(buckets)))
    rows = [{"number": first + index, "bucket": bucket} for index, bucket in enumerate(buckets)]
    db.execute(insert(purges), rows)
    return [row["number"] for row in rows]


class PurgeLog:
    """The purges, numbered from 1.

    Each purge has a bucket, which is a number that the purged vehicle shares with many other
    vehicles.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def identity(self) -> str:
        """Return the random id of the log, which a restored database keeps.

        Raises SQLAlchemyError.
        """
        query = select(meta.c.value).where(meta.c.name == _ID)
        with self.database.reading() as db:
            if log_id := db.execute(query).scalar():
                return str(log_id)
        with self.database.writing() as db:
            hold(db, Lock.PURGES)
            log_id = db.execute(query).scalar()
            if log_id is None:
                log_id = secrets.token_hex(8)
                db.execute(insert(meta).values(name=_ID, value=log_id))
            return str(log_id)

    def after(self, number: int) -> dict[int, int] | None:
        """Return the purges after ``number``, or None if the database cannot be read.

        The result maps each bucket to the number of its last purge.
        """
        try:
            with self.database.reading() as db:
                rows = db.execute(_AFTER, {"above": number}).all()
                return {row.bucket: row.number for row in rows}
        except SQLAlchemyError as error:
            _warn(f"the purge log cannot be read: {type(error).__name__}")
            return None


class PurgeClock:
    """This process's copy of the purge log, which numbers all purges.

    An answer contains the number of the last purge before the answer was requested.
    The answer is hidden if its bucket has a later purge. A late write, a copy in memory, a restored
    snapshot and a restored backup are thus the same case.

    ``purges_after`` reads the purges after a number from the database, as a mapping of buckets to
    the numbers of their last purges. It returns None if the database cannot be read. The clock
    reads the log when it is made, because a request may arrive before the first ``refresh``.
    """

    def __init__(
        self,
        purges_after: Callable[[int], Mapping[int, int] | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._purges_after = purges_after
        self._clock = clock
        self._last: dict[int, int] = {}
        self._read_at = self._tried_at = -math.inf
        self._lock = threading.Lock()
        # The number of the last purge that this process knows.
        self.number = 0
        self.refresh()

    def hides(self, key: str, purge_no: int) -> bool:
        """Return whether the vehicle of ``key`` may have been purged after ``purge_no``."""
        return self._last.get(purge_bucket(key), 0) > purge_no

    def since(self, number: int) -> dict[int, int]:
        """Return the known purges after ``number``, as a mapping of buckets to last numbers."""
        with self._lock:
            return {bucket: last for bucket, last in self._last.items() if last > number}

    def refresh(self) -> None:
        """Read the purges that the log has gained. Changes nothing if the log cannot be read."""
        at = self._tried_at = self._clock()
        purges = self._purges_after(self.number)
        if purges is None:
            return
        with self._lock:
            for bucket, number in purges.items():
                self._last[bucket] = max(number, self._last.get(bucket, 0))
                self.number = max(number, self.number)
            self._read_at = at

    def is_current(self) -> bool:
        """Return whether the log was read within the last second, if necessary by this call."""
        oldest = self._clock() - CURRENT_FOR_S
        if self._tried_at < oldest:
            self.refresh()
        return self._read_at >= oldest
