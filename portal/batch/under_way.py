"""Lists the running and paused batches of all owners, without their vehicles."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import Engine, Select, case, func, select

from portal.batch.model import Reason, State
from portal.storage.database import reading
from portal.storage.tables import batch_items as items
from portal.storage.tables import batches as table

MOST_LISTED: Final = 20
GOES_ON: Final = (table.c.state == "running") | table.c.resume_at.is_not(None)
_UNDER_WAY: Final = ("running", "paused")


@dataclass(frozen=True, slots=True)
class BatchUnderWay:
    """A running or paused batch. ``ended`` is the number of items that are done or have failed.

    ``started_at`` is in epoch seconds. ``at_most`` is the highest possible price of the batch's
    lookups in R$.
    """

    state: State
    reason: Reason
    started_at: float | None
    at_most: Decimal
    total: int
    ended: int


def batches_under_way(engine: Engine, namespace: str) -> list[BatchUnderWay]:
    """Return at most MOST_LISTED running or paused batches, the most recently started first."""
    with reading(engine) as db:
        return [_batch(row) for row in db.execute(_query(namespace))]


def has_unfinished_batches(engine: Engine) -> bool:
    """Return whether a batch of any namespace is running, or will resume by itself."""
    with reading(engine) as db:
        query = select(table.c.id).where(GOES_ON).limit(1)
        return db.execute(query).first() is not None


def _query(namespace: str) -> Select[Any]:
    chosen = (
        select(table)
        .where(table.c.namespace == namespace, table.c.state.in_(_UNDER_WAY))
        .order_by(table.c.started_at.desc())
        .limit(MOST_LISTED)
        .subquery()
    )
    columns = (
        *(chosen.c.id, chosen.c.state, chosen.c.reason, chosen.c.started_at, chosen.c.at_most),
    )
    return (
        select(
            *columns,
            func.count(items.c.id).label("total"),
            func.sum(case((items.c.state == "pending", 0), else_=1)).label("ended"),
        )
        .join(items, items.c.batch == chosen.c.id)
        .group_by(*columns)
        .order_by(chosen.c.started_at.desc())
    )


def _batch(row: Any) -> BatchUnderWay:
    return BatchUnderWay(
        state=row.state,
        reason=row.reason,
        started_at=row.started_at,
        at_most=Decimal(row.at_most),
        total=row.total,
        ended=row.ended,
    )
