"""Computes the cost of looking up a list of vehicles.

The cost is the price of all answers that are not yet stored. The upstream may charge for a failed
lookup, and charge again when the lookup is repeated. The computed cost does not include repeated
lookups. A batch that would spend more than its computed cost pauses.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from portal.access.tokens import Identity
from portal.batch.batches import Batches, QuotedItem
from portal.batch.model import Batch, Cost
from portal.batch.rows import UnknownBatch
from portal.batch.typed_list import Subject
from portal.gateway.gateway import Gateway
from portal.gateway.lookup import Lookup
from portal.gateway.operations import OPERATIONS, lookups_of
from portal.vehicle.operation_name import LookupName

KEPT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Preview:
    """The highest possible cost of looking up a list of vehicles.

    ``calls`` is the maximum number of upstream calls, and ``at_most`` is their price in R$.
    ``askable`` is the number of vehicles for which at least one of the chosen lookups is possible.
    ``impossible`` is the number of all other vehicles.
    """

    askable: int
    impossible: int
    calls: int
    at_most: Decimal

    @classmethod
    def of(cls, items: Sequence[QuotedItem]) -> "Preview":
        askable = sum(item.is_possible for item in items)
        return cls(
            askable,
            len(items) - askable,
            sum(item.calls for item in items),
            sum((item.at_most for item in items), Decimal(0)),
        )


class RemainingPreviews:
    """Computes the highest cost (Preview) of a batch's unfinished items.

    While a batch is paused until ``resume_at``, a browser fetches the batch's page every two
    seconds. A preview of 500 plates takes 50 ms of processor time, so the preview of this paused
    batch is cached for KEPT_S seconds. A list of batches uses cached previews too, because it may
    contain 20 drafts of 500 plates, whose previews take 1 s. Answers may be stored or expire while
    a preview is cached, so ``start_batch`` computes the prices anew.
    """

    def __init__(
        self, batches: Batches, gateway: Gateway, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._batches = batches
        self._gateway = gateway
        self._monotonic = monotonic
        self._cached: dict[Hashable, tuple[float, Preview]] = {}

    def get(self, batch: Batch, owner: str, identity: Identity) -> Preview:
        """Return the highest cost of the lookups if the batch is started.

        Raises UnknownBatch.
        """
        return self._preview(batch, owner, identity, use_cache=batch.resume_at is not None)

    def priced(self, batch: Batch, owner: str, identity: Identity) -> Batch:
        """Return an owner's batch with ``cost.at_most`` at the present prices.

        The price of a draft was stored when the draft was created, and a paused batch has the price
        that its owner confirmed at the start. Answers may have expired since. If the batch goes on
        only when its owner starts it, this method therefore computes the price of a start now. A
        batch with lookups in progress is returned unchanged, because a preview would contain calls
        whose price is already in ``cost.spent``. Raises UnknownBatch.
        """
        return self._priced(batch, owner, identity, use_cache=False)

    def priced_list(self, batches: Sequence[Batch], owner: str, identity: Identity) -> list[Batch]:
        """Return an owner's batches with ``cost.at_most`` from cached previews."""
        found = []
        for batch in batches:
            # Another request may have deleted the batch since ``batches`` was read.
            with suppress(UnknownBatch):
                found.append(self._priced(batch, owner, identity, use_cache=True))
        return found

    def _priced(self, batch: Batch, owner: str, identity: Identity, *, use_cache: bool) -> Batch:
        waits = batch.state == "draft" or (batch.state == "paused" and batch.resume_at is None)
        if not waits or batch.active:
            return batch
        preview = self._preview(batch, owner, identity, use_cache=use_cache)
        spent = batch.cost.spent
        return replace(batch, cost=Cost(spent, spent + preview.at_most))

    def _preview(self, batch: Batch, owner: str, identity: Identity, *, use_cache: bool) -> Preview:
        now = self._monotonic()
        key = (
            *(batch.id, batch.state, batch.resume_at, batch.counts, batch.active),
            *(identity.digest, identity.scopes),
        )
        cached = {old: each for old, each in self._cached.items() if now - each[0] < KEPT_S}
        if not use_cache or key not in cached:
            left = quote_left(self._batches, batch.id, owner, batch.ask, identity, self._gateway)
            cached[key] = now, Preview.of(left)
        self._cached = cached
        return cached[key][1]


def quote(
    subjects: Sequence[Subject], ask: tuple[LookupName, ...], identity: Identity, gateway: Gateway
) -> tuple[QuotedItem, ...]:
    """Return each vehicle with the highest possible price of its lookups.

    Makes no upstream call.
    """
    return tuple(_quoted(subject, ask, identity, gateway) for subject in subjects)


def quote_left(
    batches: Batches,
    batch: str,
    owner: str,
    ask: tuple[LookupName, ...],
    identity: Identity,
    gateway: Gateway,
) -> tuple[QuotedItem, ...]:
    """Return a batch's pending and failed items with the present prices of their lookups.

    ``ask`` are the batch's lookups. Raises UnknownBatch.
    """
    left = [item.subject for item in batches.items(batch, owner) if item.state != "done"]
    return quote(left, ask, identity, gateway)


def _quoted(
    subject: Subject, ask: tuple[LookupName, ...], identity: Identity, gateway: Gateway
) -> QuotedItem:
    possible = lookups_of(subject, ask)
    lookups = [name for name in possible if identity.has_scope(name)]
    missing = [name for name in lookups if not _is_stored(name, subject, identity, gateway)]
    return QuotedItem(
        subject,
        is_stored=bool(lookups) and not missing,
        at_most=sum((gateway.terms(name).price for name in missing), Decimal(0)),
        calls=len(missing),
        is_possible=bool(possible),
    )


def _is_stored(name: LookupName, subject: Subject, identity: Identity, gateway: Gateway) -> bool:
    snapshot = gateway.read(Lookup(OPERATIONS[name], subject), identity.credential)
    return gateway.get_fresh(snapshot) is not None
