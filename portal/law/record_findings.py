"""The findings of court orders and fines, grouped by kind."""

from collections.abc import Iterator, Sequence

from portal.law.assessment import AssessedFine
from portal.law.findings import CourtOrders, FinesInStanding, PaidShort
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing

_GRAVEST_FIRST = (
    *(Standing.ENFORCEABLE, Standing.PROBABLY_DUE, Standing.DUE, Standing.UNKNOWN),
    *(Standing.SUSPENDED, Standing.NOTICE, Standing.CALLED_OFF),
)


def court_findings(orders: Sequence[AssessedOrder]) -> Iterator[CourtOrders]:
    """Yield one finding for each group of court orders of the same kind and effect."""
    groups: dict[object, list[AssessedOrder]] = {}
    for order in orders:
        if order.in_force:
            groups.setdefault(order.effect.group, []).append(order)
    for group in groups.values():
        yield CourtOrders(tuple(group))


def fine_findings(fines: Sequence[AssessedFine]) -> Iterator[FinesInStanding]:
    for standing in _GRAVEST_FIRST:
        if of_standing := tuple(fine for fine in fines if fine.standing is standing):
            yield FinesInStanding(standing, of_standing)


def paid_short_findings(fines: Sequence[AssessedFine]) -> Iterator[PaidShort]:
    if short := tuple(fine for fine in fines if fine.shortfall):
        yield PaidShort(short)
