"""Purges that are logged, and not yet applied to any store."""

from collections.abc import Collection, Sequence

from portal.storage.database import Database
from portal.storage.purge_log import log_purges, purge_bucket


def log_purge(database: Database, tag: str, above: int = 0) -> Sequence[int]:
    """Log a purge of the vehicle of a tag or store key, and return its number in a list."""
    return log_buckets(database, [purge_bucket(tag)], above)


def log_buckets(database: Database, buckets: Collection[int], above: int = 0) -> Sequence[int]:
    with database.writing() as db:
        return log_purges(db, buckets, above)
