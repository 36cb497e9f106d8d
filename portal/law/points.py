"""The points of an infraction on a driving licence, and whether they count.

The rules are arts. 259 and 261 of the CTB (the traffic code). Points count on the licence of the
offender, who is the driver or the owner. Points never count against the car. They count for 12
months from the infraction.
"""

from datetime import date
from typing import Literal

from msgspec import Struct

from portal.law.deadlines import LEI_14071_SINCE, plus_years
from portal.law.infractions import Infraction

_LISTED_ARTICLES = ("221", "230, VII", "230, XXI", "232", "233", "233-A", "240", "241")
_LISTED_SOLE_PARAGRAPHS = tuple(f"{article}, parágrafo único" for article in _LISTED_ARTICLES)
_LICENSED = ("condutor", "proprietário")
# Why the points do not count, or are not known. "" for points that count.
Why = Literal[
    "",
    "sent",
    "unknown",
    "rule_changed",
    "in_future",
    "none",
    "no_rule",
    "expired",
    # Art. 259, § 4º, and the manual of Res. Contran 985/2022 leave these out of the count.
    "suspends",
    "other_person",
    "excluded",
    "by_manual",
    # The fine was called off, or its code and its description are of different infractions.
    "called_off",
    "diverging",
]


class Points(Struct, frozen=True):
    """The points of a fine. A number is None if it cannot be determined.

    ``by_gravity`` are the points that art. 259 assigns to the infraction's gravity. ``counted`` are
    the points that count once no appeal is possible. ``left_on`` is the day on which "expired"
    points left the count. ``is_before_law`` is true if the infraction is older than the rule that
    leaves its points out. ``portal.phrasebook.points`` says why.
    """

    by_gravity: int | None
    counted: int | None
    why: Why = ""
    left_on: date | None = None
    is_before_law: bool = False


def points_of(
    infraction: Infraction | None, sent: int, committed_on: date | None, today: date
) -> Points:
    """Return the points of a fine.

    ``sent`` is the upstream's number of points, which is often 0. This number is used only if the
    table of infractions has no points.
    """
    if infraction is None or infraction.points is None:
        if sent > 0:
            return Points(sent, sent, "sent")
        has_changed = infraction is not None and infraction.gravity == "mudou"
        return Points(None, None, "rule_changed" if has_changed else "unknown")
    by_gravity, counted = infraction.points, infraction.points_counted
    if committed_on is not None and committed_on > today:
        return Points(by_gravity, None, "in_future")
    if infraction.gravity == "especial":
        return Points(0, 0, "none")
    if counted is None:
        return Points(by_gravity, None, "no_rule")
    if counted == 0:
        is_before_law = committed_on is not None and committed_on < LEI_14071_SINCE
        why = _why_not_counted(infraction)
        return Points(by_gravity, 0, why, is_before_law=is_before_law)
    left_on = plus_years(committed_on, 1)
    if left_on is not None and left_on < today:
        return Points(by_gravity, 0, "expired", left_on)
    return Points(by_gravity, counted)


def _why_not_counted(infraction: Infraction) -> Why:
    base = infraction.article.split(" c/c ")[0]
    if infraction.suspends:
        return "suspends"
    if infraction.offender and infraction.offender not in _LICENSED:
        return "other_person"
    if base in _LISTED_ARTICLES or base in _LISTED_SOLE_PARAGRAPHS:
        return "excluded"
    return "by_manual"
