"""Starts or resumes a batch at the present prices of its lookups."""

from portal.access import Identity
from portal.batch.batches import Batches
from portal.batch.preview import quote_left
from portal.batch.rows import Access
from portal.gateway import Gateway


def start_batch(
    batches: Batches, batch: str, owner: str, identity: Identity, gateway: Gateway
) -> None:
    """Start or resume an owner's batch. The lookups are made on behalf of ``identity``.

    Raises UnknownBatch or NotAllowed.
    """
    left = quote_left(batches, batch, owner, identity, gateway)
    access = Access(identity.digest, identity.credential)
    batches.start(batch, owner, access, left)
