"""Computes the highest possible cost of a list: the price of all answers that are not stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from portal.access import Identity
from portal.batch.batches import NewItem
from portal.batch.model import LookupName, lookups_of
from portal.batch.typed_list import Subject
from portal.gateway import OPERATIONS, Gateway, Lookup


@dataclass(frozen=True, slots=True)
class Preview:
    """The items of a list. They need at most ``calls`` upstream calls, for ``at_most`` R$."""

    items: tuple[NewItem, ...]
    calls: int
    at_most: Decimal


def preview(
    subjects: Sequence[Subject], ask: tuple[LookupName, ...], identity: Identity, gateway: Gateway
) -> Preview:
    """Compute a list's preview from the stored answers, without an upstream call."""
    items, calls, at_most = [], 0, Decimal(0)
    for subject in subjects:
        lookups = [name for name in lookups_of(subject, ask) if identity.has_scope(name)]
        missing = [name for name in lookups if not _is_stored(name, subject, identity, gateway)]
        items.append(NewItem(subject, is_stored=not missing))
        calls += len(missing)
        at_most += sum((gateway.terms(name).price for name in missing), Decimal(0))
    return Preview(tuple(items), calls, at_most)


def _is_stored(name: LookupName, subject: Subject, identity: Identity, gateway: Gateway) -> bool:
    snapshot = gateway.read(Lookup(OPERATIONS[name], subject), identity.credential)
    return gateway.get_fresh(snapshot) is not None
