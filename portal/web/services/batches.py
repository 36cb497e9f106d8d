"""What pages and JSON API do with a batch. Both render UnknownBatch and NotAllowed themselves."""

from collections.abc import Callable, Sequence

from portal.access.tokens import Identity
from portal.batch.preview import quote
from portal.batch.typed_list import Subject, TypedList
from portal.dossier.answers import Panels
from portal.gateway.lookup import Directive
from portal.vehicle.operation_name import LookupName
from portal.web.services.web import Web


def create_batch(
    web: Web, owner: str, identity: Identity, ask: tuple[LookupName, ...], listed: TypedList
) -> str:
    """Store a draft with its price, and return its id."""
    quoted = quote(listed.subjects, ask, identity, web.gateway)
    return web.batches.create(owner, ask, quoted, listed)


def stored_panels(
    web: Web, ask: Sequence[LookupName], identity: Identity
) -> Callable[[Subject], Panels]:
    """Return a function that reads a vehicle's stored answers to the lookups of a batch."""
    return lambda subject: web.lookups.panels(subject, identity, Directive.PEEK, ask)
