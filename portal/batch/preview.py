"""Computes the cost of looking up a list of vehicles: the price of all answers not yet stored.

The upstream may charge for a failed lookup, and again when the lookup is repeated. A preview does
not include the cost of repeated lookups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from portal.access import Identity
from portal.batch.batches import Batches, QuotedItem
from portal.batch.model import LookupName, lookups_of
from portal.batch.typed_list import Subject
from portal.gateway import OPERATIONS, Gateway, Lookup


@dataclass(frozen=True, slots=True)
class Preview:
    """The items of a list. They need at most ``calls`` upstream calls, for ``at_most`` R$ in total.

    ``impossible`` is the number of items for which none of the chosen lookups is possible. For
    example, the lookup "decode" is impossible for a Renavam.
    """

    items: tuple[QuotedItem, ...]
    calls: int
    at_most: Decimal
    impossible: int = 0


def preview(
    subjects: Sequence[Subject], ask: tuple[LookupName, ...], identity: Identity, gateway: Gateway
) -> Preview:
    """Compute the preview of a list of vehicles, without an upstream call."""
    items, calls, impossible = [], 0, 0
    for subject in subjects:
        lookups = [name for name in lookups_of(subject, ask) if identity.has_scope(name)]
        missing = [name for name in lookups if not _is_stored(name, subject, identity, gateway)]
        price = sum((gateway.terms(name).price for name in missing), Decimal(0))
        items.append(QuotedItem(subject, is_stored=bool(lookups) and not missing, at_most=price))
        calls += len(missing)
        impossible += not lookups_of(subject, ask)
    at_most = sum((item.at_most for item in items), Decimal(0))
    return Preview(tuple(items), calls, at_most, impossible)


def preview_left(
    batches: Batches, batch: str, owner: str, identity: Identity, gateway: Gateway
) -> Preview:
    """Compute the preview of the items of a batch that are not done. Raises UnknownBatch."""
    ask = batches.get(batch, owner).ask
    left = [item.subject for item in batches.items(batch, owner) if item.state != "done"]
    return preview(left, ask, identity, gateway)


def _is_stored(name: LookupName, subject: Subject, identity: Identity, gateway: Gateway) -> bool:
    snapshot = gateway.read(Lookup(OPERATIONS[name], subject), identity.credential)
    return gateway.get_fresh(snapshot) is not None
