"""What a call of a batch takes of the sum that the batch's owner has confirmed.

The sum is a limit as any other (``portal.gateway.reservation``). A part of it is set aside for
the lookups of each vehicle that the sum holds (the column ``batch_items.reserved``), so that a
vehicle is bought whole or not at all. A lookup is sent again, also to another base address, only
with what is left beside the parts of the lookups that were never sent.

A transaction locks a batch's item before the rows of limits, because every call locks the row of
all callers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from portal.amounts import amount_of
from portal.gateway.limits import NO_LIMIT, Limit
from portal.gateway.reservation import MICRO, LimitReached, batch_payer, period_of
from portal.storage.tables import batch_items, batches, call_counters

_NO_SUM = Decimal(0)
_AT_MOST = select(batches.c.at_most).where(batches.c.id == bindparam("batch_id"))
# The lookups of one vehicle are sent side by side, and each changes the same item.
_ITEM = (
    select(*batch_items.c["id", "spent", "reserved"], _AT_MOST.scalar_subquery().label("at_most"))
    .where(batch_items.c.batch == bindparam("batch_id"), batch_items.c.subject == bindparam("tag"))
    .with_for_update()
)
_SET_ITEM = (
    update(batch_items)
    .where(batch_items.c.id == bindparam("item_id"))
    .values(spent=bindparam("new_spent"), reserved=bindparam("new_reserved"))
)
_SET_ASIDE = select(batch_items.c.reserved).where(
    batch_items.c.batch == bindparam("batch_id"),
    batch_items.c.state == "pending",
    batch_items.c.reserved != "0",
)
_USED = (
    select(call_counters.c.calls)
    .where(
        call_counters.c.namespace == bindparam("namespace_name"),
        call_counters.c.day == period_of("total", 0),
        call_counters.c.payer == bindparam("payer_name"),
    )
    .with_for_update()
)


@dataclass(frozen=True, slots=True)
class Share:
    """A call's part in its batch's sum. ``own`` are the R$ that were set aside for the call."""

    batch: str
    limit: Limit
    price: Decimal | None
    own: Decimal

    def require_rest(self, db: Connection, used: Decimal) -> None:
        """Raise LimitReached if the call needs what is set aside for other lookups.

        ``used`` is what the batch has used with this call. Its row is locked, so that no other call
        changes what is set aside.
        """
        needs_rest = self.limit.is_set and self.price and self.own < self.price
        if needs_rest and used + _set_aside(db, self.batch) > self.limit.most:
            raise LimitReached(self.limit)


def begin_share(
    db: Connection, batch: str, tag: str, price: Decimal | None, *, is_resend: bool
) -> Share | None:
    """Add a call's price to what its vehicle has cost, and return the call's share.

    A call takes the part that was set aside for its vehicle only until it was sent once. A batch
    that its owner has started at an unknown price has no limit. None if the batch was deleted.
    """
    item = db.execute(_ITEM, {"batch_id": batch, "tag": tag}).first()
    text = item.at_most if item else db.execute(_AT_MOST, {"batch_id": batch}).scalar()
    if text is None:
        return None
    own = _NO_SUM
    if item is not None and price:
        own = _NO_SUM if is_resend else min(price, Decimal(item.reserved))
        _change(db, item, price, -own)
    at_most = amount_of(text)
    return Share(batch, batch_limit(batch, at_most), price, own)


def end_share(db: Connection, batch: str, tag: str, price: Decimal, own: Decimal) -> None:
    """Give the price of a call that cost nothing back to its vehicle, and its own part too."""
    item = db.execute(_ITEM, {"batch_id": batch, "tag": tag}).first()
    if item is not None:
        _change(db, item, -price, own)


def rest_of(db: Connection, namespace: str, batch: str) -> Decimal | None:
    """Return what a batch's sum leaves beside what is used and set aside, or None without a limit.

    The row of what is used stays locked, so that no call takes the rest before this transaction has
    set it aside.
    """
    text = db.execute(_AT_MOST, {"batch_id": batch}).scalar()
    if text is None:  # the batch was deleted
        return _NO_SUM
    if (at_most := amount_of(text)) is None:
        return None
    row = {"namespace_name": namespace, "payer_name": batch_payer(batch)}
    used = Decimal(db.execute(_USED, row).scalar() or 0) / MICRO
    return at_most - used - _set_aside(db, batch)


def affordable(prices: Mapping[int, Decimal | None], most: Decimal) -> dict[int, Decimal | None]:
    """Return the first prices, by position, that together are at most ``most``."""
    sums = accumulate(price or _NO_SUM for price in prices.values())
    return {at: prices[at] for at, so_far in zip(prices, sums, strict=True) if so_far <= most}


def batch_limit(batch: str, at_most: Decimal | None) -> Limit:
    """Return the limit of a batch. None is the sum of a batch without a limit."""
    return Limit("batch", batch_payer(batch), "total", NO_LIMIT if at_most is None else at_most)


def _set_aside(db: Connection, batch: str) -> Decimal:
    parts = db.execute(_SET_ASIDE, {"batch_id": batch}).scalars()
    return sum(map(Decimal, parts), _NO_SUM)


def _change(db: Connection, item: Any, spent: Decimal, reserved: Decimal) -> None:
    """Change what an item has cost and what is set aside for it by the amounts given."""
    changed = {
        "item_id": item.id,
        "new_spent": _plain(Decimal(item.spent) + spent),
        "new_reserved": _plain(Decimal(item.reserved) + reserved),
    }
    db.execute(_SET_ITEM, changed)


def _plain(amount: Decimal) -> str:
    """Return an amount as text, and any zero as "0", for which queries search."""
    return str(amount) if amount else "0"
