"""The desk of the batch runner, which looks up the vehicles of all owners in the background."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from portal.access.tokens import Gatekeeper, Identity
from portal.access.trail import Trail
from portal.batch.pricing import missing_price
from portal.batch.rows import Access
from portal.desk.caller import COMMAND_IDENTITY
from portal.desk.reading import Reading
from portal.desk.witness import note_lookup
from portal.gateway.gateway import Gateway
from portal.gateway.lookup import Lookup, Served
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate, Renavam


class BackgroundDesk:
    """Authenticates a batch's owner anew, makes the lookups, and returns the row to store."""

    def __init__(
        self, gatekeeper: Gatekeeper, gateway: Gateway, reading: Reading, trail: Trail
    ) -> None:
        self._gatekeeper = gatekeeper
        self._gateway = gateway
        self._reading = reading
        self._trail = trail

    def identify(self, access: Access) -> Identity:
        """Return the identity of the owner who has started a batch.

        Raises UnknownToken, RefusedToken or TokensUnavailable.
        """
        if access.owner == COMMAND_IDENTITY.owner:
            return COMMAND_IDENTITY
        if access.credential is not None:
            return self._gatekeeper.authenticate(access.credential)
        return self._gatekeeper.authenticate_owner(access.owner)

    def fetch(self, lookup: Lookup, identity: Identity) -> Served:
        """Make one lookup of an item. Raises Failure."""
        served = self._gateway.fetch(lookup, identity)
        note_lookup(self._trail, identity, "batch", lookup.subject, served)
        return served

    def price(
        self,
        subject: Plate | Renavam,
        ask: Sequence[LookupName],
        identity: Identity,
        enough: Decimal,
    ) -> Decimal | None:
        """Return the price of an item's lookups that are not stored. Raises Failure."""
        return missing_price(self._gateway, subject, ask, identity, enough)

    def row(
        self,
        subject: Plate | Renavam,
        ask: Sequence[LookupName],
        answers: Mapping[LookupName, Served],
    ) -> bytes:
        """Return what the batch stores of a vehicle that it has looked up."""
        return self._reading.stored_row(subject, ask, answers)
