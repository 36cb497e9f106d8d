"""Deletes a vehicle's rows of one kind in a transaction of its own, without a purge."""

from typing import Any

from portal.storage.database import Database


def forget(database: Database, part: Any, subject: Any) -> Any:
    """Call ``part.forget``, as the command ``purge`` does for all parts in one transaction."""
    with database.writing() as db:
        return part.forget(db, subject)
