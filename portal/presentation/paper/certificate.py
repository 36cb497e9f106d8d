"""Decides which parts fit on the first sheet of the dossier."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from portal.dossier.dossier import Dossier

# Limits for the length of the verdict's and the origins' texts, in characters. Above
# _MOST_BESIDE_FACTS, the first sheet has no room for the vehicle's attributes. Above
# _MOST_BESIDE_CHART, this sheet has no room for the price chart either.
_MOST_BESIDE_FACTS: Final = 1500
_MOST_BESIDE_CHART: Final = 1850


@dataclass(frozen=True, slots=True)
class FirstSheet:
    has_facts: bool
    has_chart: bool


def first_sheet(dossier: Dossier, origins: Sequence[str]) -> FirstSheet:
    """Return which parts fit on the first sheet beside the verdict's texts and the origins."""
    verdict = dossier.verdict
    texts = [reason.sentence for reason in verdict.first_reasons]
    # A notice takes a line of its own, in larger letters.
    texts += [*verdict.notices, *verdict.notices, *origins]
    texts += [row.why for row in verdict.matrix]
    letters = sum(map(len, texts))
    return FirstSheet(letters <= _MOST_BESIDE_FACTS, letters <= _MOST_BESIDE_CHART)
