"""Purges that are logged, and not yet applied to any store."""

from collections.abc import Collection, Sequence

from sqlalchemy import Engine

from portal.storage.database import writing
from portal.storage.purge_log import log_purges, purge_bucket


def log_purge(engine: Engine, tag: str, above: int = 0) -> Sequence[int]:
    """Log a purge of the vehicle of a tag or store key, and return its number in a list."""
    return log_buckets(engine, [purge_bucket(tag)], above)


def log_buckets(engine: Engine, buckets: Collection[int], above: int = 0) -> Sequence[int]:
    with writing(engine) as db:
        return log_purges(db, buckets, above)
