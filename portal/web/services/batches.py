"""What pages and JSON API read of a batch."""

from collections.abc import Callable, Sequence

from portal.access.tokens import Identity
from portal.batch.typed_list import Subject
from portal.dossier.answers import Panels
from portal.gateway.lookup import Directive
from portal.vehicle.operation_name import LookupName
from portal.web.services.web import Web


def stored_panels(
    web: Web, ask: Sequence[LookupName], identity: Identity
) -> Callable[[Subject], Panels]:
    """Return a function that reads a vehicle's stored answers to the lookups of a batch."""
    return lambda subject: web.lookups.panels(subject, identity, Directive.PEEK, ask)
