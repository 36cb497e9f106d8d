"""What the desks of all callers share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from portal.access.history import History
from portal.access.idempotency import IdempotencyKeys
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Identity
from portal.batch.batches import Batches
from portal.batch.pricing import BatchPricing
from portal.desk.desk import Desk, Reading
from portal.desk.lookups import Lookups
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.usage_report import UsageLog
from portal.issued.archive import DossierArchive
from portal.issued.issuer import Issuer


@dataclass(frozen=True, slots=True, kw_only=True)
class Desks:
    """Makes the desk of each caller, from the parts that all desks share.

    ``batch_limit`` is the number of vehicles in a batch. ``expect_lookups`` opens connections to
    the upstream for a number of lookups that will be made in a moment.
    """

    archive: DossierArchive
    batch_limit: int
    batches: Batches
    expect_lookups: Callable[[int], object]
    gateway: Gateway
    history: History
    idempotency: IdempotencyKeys
    issuer: Issuer | None
    keys: SubjectKeys
    ledger: Ledger
    lookups: Lookups
    pricing: BatchPricing
    reading: Reading
    usage: UsageLog

    def of(self, identity: Identity, *, mask_names: bool = False) -> Desk:
        """Return the desk of a caller. ``mask_names`` masks names whatever the setting."""
        reading = replace(self.reading, mask_names=True) if mask_names else self.reading
        return Desk(self.lookups, identity, reading)

    def paid(
        self, caller: str, subjects: Sequence[str], since: float
    ) -> Mapping[str, Decimal | None]:
        """Return the R$ that a caller has paid for plates and Renavams since a time (epoch s)."""
        tags = {self.keys.tag(subject): subject for subject in subjects}
        paid = self.ledger.paid(caller, [*tags], since)
        return {tags[tag]: price for tag, price in paid.items()}
