"""Repeats in a restored backup the purges that were made after the backup.

A purge deletes a vehicle's data. The purge log identifies a purged vehicle only by its bucket, a
short hash. Many vehicles share a bucket, so a repeated purge deletes the data of all vehicles in
the bucket.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

_TABLES_WITH_SUBJECT = ("history", "batch_items", "dossiers")


def replay_purges(restored: Path, log: Path, bucket_of: Callable[[str], int]) -> int:
    """Apply to ``restored`` the purges that only ``log`` contains, and return their number.

    ``log`` and ``restored`` are database files, each with a purge log. The function also copies the
    purges to the purge log of ``restored``, so that the next start deletes the vehicles' answers
    from the cache. ``bucket_of`` maps a vehicle's HMAC (a value of a column ``subject``) to the
    vehicle's bucket. Raises sqlite3.Error.
    """
    with (
        closing(sqlite3.connect(f"file:{quote(str(log))}?mode=ro", uri=True)) as newer,
        closing(sqlite3.connect(restored)) as db,
        db,
    ):
        (last,) = db.execute("SELECT coalesce(max(number), 0) FROM purges").fetchone()
        purges = newer.execute(
            "SELECT number, bucket FROM purges WHERE number > ? ORDER BY number", (last,)
        ).fetchall()
        if not purges:
            return 0
        db.execute("PRAGMA secure_delete = ON")
        db.executemany("INSERT INTO purges (number, bucket) VALUES (?, ?)", purges)
        buckets = {bucket for _, bucket in purges}
        db.create_function("is_purged", 1, lambda tag: bool(tag) and bucket_of(tag) in buckets)
        for table in _TABLES_WITH_SUBJECT:
            db.execute(f"DELETE FROM {table} WHERE is_purged(subject)")  # noqa: S608 constant names
        db.execute("UPDATE ledger SET subject = '' WHERE is_purged(subject)")
    with closing(sqlite3.connect(restored)) as db:
        db.execute("VACUUM")  # removes the copies of deleted rows that SQLite leaves in the file
    return len(purges)
