"""Where fines happened, by year, and which bodies may know of further fines.

The register of fines may lack fines of the state and the town (Resolução CONTRAN 932/2022 orders
their registration, and not every authority follows it). A body that fined the vehicle before is
therefore worth asking.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from portal.law.assessment import AssessedFine
from portal.law.authorities import Town
from portal.vehicle.plate import STATES
from portal.wording import listed

# The most states, and the most towns, that the advice names: those of the most fines.
_MOST_BODIES: Final = 3


@dataclass(frozen=True, slots=True)
class FinedPlace:
    """Fines of one year and place. ``town`` is "" if only the state is known."""

    year: int | None
    state: str
    town: str
    count: int


def fined_places(fines: Sequence[AssessedFine]) -> tuple[FinedPlace, ...]:
    """Return the known places of fines, the latest year first, and a year's most fines first."""
    counts = Counter(
        (fine.record.committed_on.year if fine.record.committed_on else None, *place)
        for fine in fines
        if (place := _place(fine)) is not None
    )
    places = [FinedPlace(*key, count) for key, count in counts.items()]
    return tuple(
        sorted(places, key=lambda one: (-(one.year or 0), -one.count, one.state, one.town))
    )


def places_by_year(fines: Sequence[AssessedFine]) -> str:
    """Return the places in words: ``2025: Betim/MG (2) e SP; 2023: Betim/MG``, or ""."""
    years: dict[int | None, list[str]] = {}
    for one in fined_places(fines):
        place = str(Town(one.town, one.state)) if one.town else one.state
        many = f" ({one.count})" if one.count > 1 else ""
        years.setdefault(one.year, []).append(place + many)
    return "; ".join(f"{year or 'sem data'}: {listed(places)}" for year, places in years.items())


def whom_to_ask(fines: Sequence[AssessedFine]) -> str:
    """Return a sentence that names the bodies to ask for further fines, or ""."""
    counts = Counter(place for fine in fines if (place := _place(fine)) is not None)
    states = list(dict.fromkeys(state for (state, _), _ in counts.most_common()))
    towns = [Town(town, state) for (state, town), _ in counts.most_common() if town]
    bodies = [f"ao Detran/{state}" for state in states[:_MOST_BODIES]]
    bodies += [f"à Prefeitura de {town}" for town in towns[:_MOST_BODIES]]
    if not bodies:
        return ""
    return (
        "Multas do estado e do município podem faltar nesta consulta: pergunte também "
        f"{listed(bodies)}."
    )


def _place(fine: AssessedFine) -> tuple[str, str] | None:
    """Return the state and the town, which is "" if unknown, or None."""
    if fine.town is not None:
        return fine.town.state, fine.town.name
    stated = fine.record.authority_state.value.strip().upper()
    state = fine.authority.state if fine.authority else ""
    state = state or (stated if stated in STATES else "")
    return (state, "") if state else None
