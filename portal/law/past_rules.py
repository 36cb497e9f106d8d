"""Select the rule for an infraction whose gravity (severity) changed after 2016.

Two laws changed the gravity of infractions. Lei 13.855/2019 changed item XX of art. 230, and items
VII and VIII of art. 231. It was published on 9 July 2019 and came into force 90 days later. Lei
14.071/2020 changed item XIII of art. 220, and art. 233. It came into force on 12 April 2021. A row
of the table of infractions has the current gravity. The row's ``amount_until_2016`` is the amount
of the former gravity.

The day of the infraction determines the rule. If this day is unknown, the amount that the source
(the upstream API) sent determines the rule. For the items that Lei 13.855/2019 changed, the amount
also determines the rule in October 2019, because this module does not compute on which day of this
month the law came into force. An amount without cents is enough, because the amounts of two
gravities differ by more than their cents.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from msgspec.structs import replace

from portal.law.deadlines import LEI_14071_SINCE
from portal.law.infractions import (
    NEW_AMOUNTS_SINCE,
    Gravity,
    Infraction,
    Row,
    joined,
    stands_for,
)

# For each gravity: the amount in R$ before NEW_AMOUNTS_SINCE, the amount in R$ since then (CTB,
# art. 258), and the points (art. 259).
_BASES: dict[Gravity, tuple[Decimal, Decimal, int]] = {
    "leve": (Decimal("53.20"), Decimal("88.38"), 3),
    "media": (Decimal("85.13"), Decimal("130.16"), 4),
    "grave": (Decimal("127.69"), Decimal("195.23"), 5),
    "gravissima": (Decimal("191.54"), Decimal("293.47"), 7),
}
# For each law, the first day on which the new gravity may apply, and the first day on which the new
# gravity surely applies.
_LEI_13855 = (date(2019, 10, 1), date(2019, 11, 1))
_LEI_14071 = (LEI_14071_SINCE, LEI_14071_SINCE)
_CHANGED: Mapping[str, tuple[date, date]] = {
    "220, XIII": _LEI_14071,
    "230, XX": _LEI_13855,
    "231, VII": _LEI_13855,
    "231, VIII": _LEI_13855,
    "233": _LEI_14071,
}


def as_committed(
    infraction: Infraction, sent: Decimal | None, committed_on: date | None
) -> Infraction:
    """Return the infraction under the rule that was in force on ``committed_on``.

    If the rule cannot be determined, the gravity is "mudou" ("changed"), and the points and amounts
    are None.
    """
    if not any(_former(row) for row in infraction.rows):
        return infraction
    article = infraction.article.split(" c/c ")[0]
    old_until, new_from = _CHANGED.get(article, (NEW_AMOUNTS_SINCE, LEI_14071_SINCE))
    if committed_on is not None and committed_on >= new_from:
        return infraction
    rows = tuple(_former(row) or row for row in infraction.rows)
    then = joined(infraction.code, infraction.split, rows)
    if committed_on is not None and committed_on < old_until:
        return then
    if sent is not None and stands_for(sent, infraction.amount):
        return infraction
    if sent is not None and stands_for(sent, then.amount, then.amount_until_2016):
        return then
    return replace(
        infraction,
        gravity="mudou",
        multiplier=None,
        points=None,
        points_counted=None,
        amount=None,
        amount_until_2016=None,
    )


def _former(row: Row) -> Row | None:
    """Return the row with its former gravity, or None if the gravity never changed."""
    if row.amount_until_2016 is None or row.gravity not in _BASES:
        return None
    for gravity, (old, new, points) in _BASES.items():
        if row.amount_until_2016 != old or gravity == row.gravity:
            continue
        return replace(
            row,
            gravity=gravity,
            multiplier=Decimal(1),
            points=points,
            points_counted=points if row.points_counted else row.points_counted,
            amount=new,
        )
    return None
