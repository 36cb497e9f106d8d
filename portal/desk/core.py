"""The parts that the desks of all callers share."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.access.calendar_addresses import CalendarAddresses
from portal.access.declarations import Declarations
from portal.access.history import History
from portal.access.idempotency import IdempotencyKeys
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Gatekeeper
from portal.access.trail import Trail
from portal.batch.batches import Batches
from portal.batch.pricing import BatchPricing
from portal.desk.lookups import Lookups
from portal.desk.reading import Reading
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.usage_report import UsageLog
from portal.issued.archive import DossierArchive
from portal.issued.issuer import Issuer
from portal.issued.verification import Verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """What lies below the desks. The factory builds it, and only desks reach into it.

    ``batch_limit`` is the number of vehicles in a batch. ``expect_lookups`` opens connections to
    the upstream for a number of lookups that will be made in a moment.
    """

    archive: DossierArchive
    batch_limit: int
    batches: Batches
    calendar_addresses: CalendarAddresses
    declarations: Declarations
    expect_lookups: Callable[[int], object]
    gatekeeper: Gatekeeper
    gateway: Gateway
    history: History
    idempotency: IdempotencyKeys
    issuer: Issuer | None
    keys: SubjectKeys
    ledger: Ledger
    lookups: Lookups
    pricing: BatchPricing
    reading: Reading
    trail: Trail
    usage: UsageLog
    verifier: Verifier
