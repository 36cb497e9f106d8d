"""Deletes a vehicle's rows of one kind in a transaction of its own, without a purge."""

from typing import Any

from sqlalchemy import Engine

from portal.storage.database import writing


def forget(engine: Engine, part: Any, subject: Any) -> Any:
    """Call ``part.forget``, as the command ``purge`` does for all parts in one transaction."""
    with writing(engine) as db:
        return part.forget(db, subject)
