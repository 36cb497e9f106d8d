"""Creates and starts batches at the present prices of their lookups.

The cost of a batch is the price of all answers that are not yet stored. The upstream may charge for
a failed lookup, and charge again when the lookup is repeated at another base address or later. The
computed cost does not include repeated lookups, which the batch makes only with what its lookups
leave of the confirmed cost.
"""

import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Final

from sqlalchemy.exc import IntegrityError

from portal.access.tokens import Identity
from portal.amounts import total
from portal.batch.batches import Batches
from portal.batch.model import (
    Batch,
    Cost,
    CostUnknown,
    Item,
    ItemState,
    NothingFailed,
    NotInBatch,
    Preview,
    QuotedItem,
    RetryTooExpensive,
    UnknownBatch,
)
from portal.batch.rows import Access
from portal.batch.typed_list import Subject, TypedList
from portal.gateway.confirmed_sum import affordable
from portal.gateway.gateway import Gateway
from portal.gateway.lookup import Failure, Lookup
from portal.gateway.operations import OPERATIONS, lookups_of
from portal.vehicle.operation_name import LookupName

KEPT_S: Final = 60.0


class BatchPricing:
    """Creates, prices and starts the batches of owners. Makes no upstream call.

    While a batch is paused until ``resume_at``, a browser fetches the batch's page every two
    seconds. A preview of 500 plates takes 60 ms of processor time, so the preview of this paused
    batch is cached for KEPT_S seconds. A list of batches uses cached previews too, because it may
    contain 20 drafts of 500 plates, whose previews take 1 s. Answers may be stored or expire while
    a preview is cached, so ``start`` computes the prices anew.
    """

    def __init__(
        self, batches: Batches, gateway: Gateway, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._batches = batches
        self._gateway = gateway
        self._monotonic = monotonic
        self._cached: dict[Hashable, tuple[float, Preview]] = {}

    def quote(
        self, subjects: Sequence[Subject], ask: Sequence[LookupName], identity: Identity
    ) -> Sequence[QuotedItem]:
        """Return each vehicle with the highest possible price of its lookups."""
        return [self._quoted(subject, ask, identity) for subject in subjects]

    def create(
        self,
        owner: str,
        identity: Identity,
        ask: tuple[LookupName, ...],
        listed: TypedList,
        batch: str = "",
        replaced: str = "",
    ) -> str:
        """Store a draft with its price, and return its id.

        If the owner has a batch with the id ``batch``, an earlier request has created it. The new
        draft takes the place of the draft ``replaced``. Raises TooManyDrafts.
        """
        if batch:
            with suppress(UnknownBatch):
                return self._batches.get(batch, owner).id
        quoted = self.quote(listed.subjects, ask, identity)
        try:
            return self._batches.create(owner, ask, quoted, listed, batch, replaced)
        except IntegrityError:  # a request at the same time has created it
            return batch

    def start(
        self, batch: str, owner: str, identity: Identity, max_cost: Decimal | None = None
    ) -> None:
        """Start or resume an owner's batch. The lookups are made on behalf of ``identity``.

        The batch spends at most ``max_cost`` R$ in all, by default what its pending items cost at
        the present prices. If one of these is unknown, the batch has no limit. An item whose price
        the sum does not hold is not looked up in part. The batch's failed items are not looked up
        again. Raises UnknownBatch, NotAllowed, or CostUnknown if
        ``max_cost`` is given and a price is unknown.
        """
        stored = self._batches.get(batch, owner)
        if max_cost is None and stored.state == "running":
            return
        pending = self._prices(stored, self._items(stored, owner, "pending"), identity)
        cost = total((stored.cost.spent, *pending.values()))
        if max_cost is not None and cost is None:
            raise CostUnknown
        most = cost if max_cost is None else max_cost
        access = Access(identity.owner, identity.credential)
        self._batches.start(batch, owner, access, most, pending)

    def retry(
        self,
        batch: str,
        owner: str,
        identity: Identity,
        subjects: Collection[Subject],
        max_cost: Decimal | None = None,
    ) -> None:
        """Look up failed items of a batch again, in addition to what the batch may spend.

        ``max_cost`` is the most in R$ that the items may cost this time, by default the present
        price of their lookups. An item whose price it does not allow stays failed, because a later
        start would look up a pending one at a price that was not confirmed for it. If a price is
        unknown, the batch has no limit. Items of ``subjects`` that have not failed stay unchanged.

        Does nothing if a running batch is about to look up what is left of them. Raises
        UnknownBatch, NotAllowed, NotInBatch, NothingFailed, RetryTooExpensive if ``max_cost``
        allows none of them, or CostUnknown if a price is unknown and ``max_cost`` is given or the
        running batch has a limit.
        """
        stored = self._batches.get(batch, owner)
        items = {item.subject: item for item in self._batches.items(batch, owner)}
        for subject in subjects:
            if subject not in items:
                raise NotInBatch(subject.text)
        failed = [items[subject] for subject in subjects if items[subject].state == "failed"]
        if not failed:
            pending = any(items[subject].state == "pending" for subject in subjects)
            if pending and stored.state == "running":
                return
            raise NothingFailed
        reserved = self._prices(stored, failed, identity)
        added = total(reserved.values())
        cost = total((stored.cost.at_most, added))
        has_limit = stored.state == "running" and stored.cost.at_most is not None
        if cost is None and (max_cost is not None or has_limit):
            raise CostUnknown
        if max_cost is not None:
            first = next(iter(reserved.values())) or Decimal(0)
            reserved = affordable(reserved, max_cost)
            if not reserved:
                raise RetryTooExpensive(first, max_cost)
        most = cost if max_cost is None else total((stored.cost.at_most, max_cost))
        access = Access(identity.owner, identity.credential)
        self._batches.start(batch, owner, access, most, reserved, reserved.keys())

    def retries(
        self, items: Sequence[Item], ask: Sequence[LookupName], identity: Identity
    ) -> Mapping[Subject, Preview]:
        """Return the highest cost of looking up each failed item again.

        A caller that never spends can look up none.
        """
        if not identity.may_spend:
            return {}
        failed = [item.subject for item in items if item.state == "failed"]
        quoted = self.quote(failed, ask, identity)
        return {vehicle.subject: Preview.of([vehicle]) for vehicle in quoted}

    def left(
        self, batch: Batch, owner: str, identity: Identity, *, may_be_cached: bool = False
    ) -> Preview:
        """Return the highest cost of the lookups if the batch is started.

        Raises UnknownBatch.
        """
        if batch.resume_at is None and not may_be_cached:
            return self._left(batch, owner, identity)
        now = self._monotonic()
        key = (
            *(batch.id, batch.state, batch.resume_at, batch.counts, batch.active),
            *(identity.digest, identity.scopes),
        )
        self._cached = {
            old: priced for old, priced in self._cached.items() if now - priced[0] < KEPT_S
        }
        if key not in self._cached:
            self._cached[key] = now, self._left(batch, owner, identity)
        return self._cached[key][1]

    def priced(
        self, batch: Batch, owner: str, identity: Identity, *, may_be_cached: bool = False
    ) -> Batch:
        """Return an owner's batch with ``cost.at_most`` at the present prices.

        The price of a draft was stored when the draft was created, and a paused batch has the price
        that its owner confirmed at the start. Answers may have expired since. If the batch goes on
        only when its owner starts it, this method therefore computes the price of a start now. A
        batch with lookups in progress is returned unchanged, because a preview would contain calls
        whose price is already in ``cost.spent``. Raises UnknownBatch.
        """
        waits = batch.state == "draft" or (batch.state == "paused" and batch.resume_at is None)
        if not waits or batch.active:
            return batch
        left = self.left(batch, owner, identity, may_be_cached=may_be_cached)
        spent = batch.cost.spent
        return replace(batch, cost=Cost(spent, total((spent, left.at_most))))

    def priced_list(self, batches: Sequence[Batch], owner: str, identity: Identity) -> list[Batch]:
        """Return an owner's batches with ``cost.at_most`` from cached previews."""
        priced = []
        for batch in batches:
            # Another request may have deleted the batch since ``batches`` was read.
            with suppress(UnknownBatch):
                priced.append(self.priced(batch, owner, identity, may_be_cached=True))
        return priced

    def _left(self, batch: Batch, owner: str, identity: Identity) -> Preview:
        """Return the present cost of a batch's pending items."""
        left = [item.subject for item in self._items(batch, owner, "pending")]
        return Preview.of(self.quote(left, batch.ask, identity))

    def _items(self, batch: Batch, owner: str, state: ItemState) -> list[Item]:
        return [item for item in self._batches.items(batch.id, owner) if item.state == state]

    def _prices(
        self, batch: Batch, items: Sequence[Item], identity: Identity
    ) -> dict[int, Decimal | None]:
        """Return the present price of each item's lookups, by the item's position."""
        quoted = self.quote([item.subject for item in items], batch.ask, identity)
        return {item.position: price.at_most for item, price in zip(items, quoted, strict=True)}

    def _quoted(
        self, subject: Subject, ask: Sequence[LookupName], identity: Identity
    ) -> QuotedItem:
        possible = lookups_of(subject, ask)
        lookups = allowed_lookups(subject, ask, identity)
        missing = [lookup for lookup in lookups if not self._is_stored(lookup, identity)]
        asked = missing if identity.may_spend else []
        return QuotedItem(
            subject,
            is_stored=bool(lookups) and not missing,
            at_most=total(self._gateway.terms[lookup.operation.name].price for lookup in asked),
            calls=len(asked),
            is_possible=bool(possible),
        )

    def _is_stored(self, lookup: Lookup, identity: Identity) -> bool:
        snapshot = self._gateway.read(lookup, identity)
        return self._gateway.get_fresh(snapshot) is not None


def allowed_lookups(
    subject: Subject, ask: Sequence[LookupName], identity: Identity
) -> list[Lookup]:
    """Return the lookups ``ask`` that are possible for a vehicle and in the caller's scopes."""
    names = [name for name in lookups_of(subject, ask) if identity.has_scope(name)]
    return [Lookup(OPERATIONS[name], subject) for name in names]


def missing_price(
    gateway: Gateway,
    subject: Subject,
    ask: Sequence[LookupName],
    identity: Identity,
    enough: Decimal,
) -> Decimal | None:
    """Return the price of a vehicle's lookups that are not stored, or None if it is unknown.

    The store is read only if all lookups together cost more than ``enough``. Raises Failure if it
    cannot be read.
    """
    if not identity.may_spend:
        return Decimal(0)
    lookups = allowed_lookups(subject, ask, identity)
    price = total(gateway.terms[lookup.operation.name].price for lookup in lookups)
    if price is not None and price <= enough:
        return price
    snapshots = [gateway.read(lookup, identity) for lookup in lookups]
    missing = [snapshot for snapshot in snapshots if gateway.get_fresh(snapshot) is None]
    if not all(snapshot.is_current for snapshot in missing):
        raise Failure("no_store")
    return total(gateway.terms[snapshot.lookup.operation.name].price for snapshot in missing)
