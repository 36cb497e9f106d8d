"""Starts or resumes a batch at the present prices of its lookups."""

from decimal import Decimal

from portal.access.tokens import Identity
from portal.batch.batches import Batches
from portal.batch.preview import Preview, quote_left
from portal.batch.rows import Access
from portal.gateway.gateway import Gateway


def start_batch(
    batches: Batches,
    batch: str,
    owner: str,
    identity: Identity,
    gateway: Gateway,
    max_cost: Decimal | None = None,
) -> None:
    """Start or resume an owner's batch. The lookups are made on behalf of ``identity``.

    The batch spends at most ``max_cost`` R$, by default what its remaining lookups cost at the
    present prices. Raises UnknownBatch or NotAllowed.
    """
    ask = batches.get(batch, owner).ask
    left = Preview.of(quote_left(batches, batch, owner, ask, identity, gateway))
    access = Access(identity.digest, identity.credential)
    batches.start(batch, owner, access, left.at_most, max_cost)
