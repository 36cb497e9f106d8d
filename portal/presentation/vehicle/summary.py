"""The summary: the verdict, answers to "posso…?" ("may I…?"), and the main figures."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from portal.law import (
    UNVERIFIED,
    Missing,
    Reason,
    Row,
    Stale,
    Totals,
    Verdict,
    identification_reasons,
    judge,
)
from portal.presentation.status_style import ANSWER_LOOKS, LEVEL_LOOKS, StatusStyle
from portal.presentation.vehicle.changes import Changes
from portal.presentation.vehicle.facts import VehicleFacts
from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.next_steps import NextSteps, next_steps
from portal.presentation.vehicle.prices import PriceSummary
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.presentation.vehicle.timeline import Timeline, timeline


@dataclass(frozen=True, slots=True)
class MatrixRow:
    row: Row
    look: StatusStyle


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary panel's content. An unavailable figure is None, never zero.

    ``price`` is the price of the version in the price table that matches the vehicle best.
    ``likely_price`` also covers the versions that match equally well. ``price_is_known`` is False
    if the lookup "decode" has no readable answer. ``no_price`` says why a known price is missing.

    No lookup covers subjects such as theft. ``unverified`` has the titles of the most important of
    these subjects. ``unverified_count`` is the number of all such subjects.
    """

    name: str
    line: str
    verdict: Verdict
    look: StatusStyle
    reasons: tuple[Reason, ...]
    more_reasons: int
    matrix: tuple[MatrixRow, ...]
    fines: Totals | None
    restrictions: int | None
    price: Decimal | None
    likely_price: PriceSummary | None
    price_is_known: bool
    no_price: str
    timeline: Timeline
    changes: tuple[Changes, ...]
    unverified: tuple[str, ...]
    unverified_count: int
    next_steps: NextSteps


# The keys of the subjects in UNVERIFIED that most often make a purchase go wrong. UNVERIFIED lists
# the subjects that no lookup covers, such as theft.
_UNVERIFIED_IN_VERDICT: Final = (
    "debitos",
    "gravame",
    "roubo-e-furto",
    "bloqueios-administrativos",
    "multas-do-estado",
)
# With more reasons for the verdict, a visitor with a phone would have to scroll to the answers
# below the reasons.
MOST_REASONS = 3


def summary(
    facts: VehicleFacts | None,
    fines: FineList | None,
    restrictions: RestrictionList | None,
    *,
    today: date,
    changes: tuple[Changes, ...],
    decode_wanted: bool,
    check_digit_holds: bool,
    stale: Stale,
    not_asked: Collection[Missing],
    unconfirmed: Collection[Missing] = (),
) -> Summary:
    """Build the summary. ``facts``, ``fines`` or ``restrictions`` is None if unavailable.

    ``decode_wanted`` is False if the user did not choose the lookup of vehicle data. It is also
    False for a Renavam (registration number), because this lookup takes only plates. ``stale`` has
    the local time at which each stale (old) answer was fetched. ``not_asked`` names the parts of
    the verdict whose lookup is not made. ``unconfirmed`` names those whose answer neither has nor
    denies records.
    """
    verdict = judge(
        facts is not None or not decode_wanted,
        None if fines is None else fines.assessments,
        None if restrictions is None else restrictions.records,
        today=today,
        is_described=facts is None or facts.describes,
        check_digit_holds=check_digit_holds,
        identification=identification_reasons(
            [law.record for law in fines.assessments] if fines else (),
            restrictions.records if restrictions else (),
            facts.identity if facts else None,
        ),
        stale=stale,
        not_asked=not_asked,
        unconfirmed=unconfirmed,
    )
    best = facts.prices.best if facts else None
    return Summary(
        name=str(facts.name) if facts else "",
        line=facts.line if facts else "",
        verdict=verdict,
        look=LEVEL_LOOKS[verdict.level],
        reasons=verdict.reasons[:MOST_REASONS],
        more_reasons=max(len(verdict.reasons) - MOST_REASONS, 0),
        matrix=tuple(MatrixRow(row, ANSWER_LOOKS[row.mark]) for row in verdict.matrix),
        fines=fines.totals if fines else None,
        restrictions=restrictions.in_force if restrictions else None,
        price=best.current if best else None,
        likely_price=facts.prices.price_summary if facts else None,
        price_is_known=facts is not None,
        no_price=facts.prices.no_price if facts else "",
        timeline=timeline(fines, restrictions),
        changes=changes,
        unverified=_unverified(),
        unverified_count=len(UNVERIFIED),
        next_steps=next_steps(
            fines, restrictions, vehicle_is_known=facts is not None or not decode_wanted
        ),
    )


def _unverified() -> tuple[str, ...]:
    titles = {item.key: item.title for item in UNVERIFIED}
    return tuple(_in_a_sentence(titles[key]) for key in _UNVERIFIED_IN_VERDICT)


def _in_a_sentence(title: str) -> str:
    """Lower-case a title's first letter, unless the title begins with an acronym such as IPVA."""
    return title if title[:2].isupper() else f"{title[:1].lower()}{title[1:]}"
