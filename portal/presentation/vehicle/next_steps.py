"""The panel "O que fazer agora" ("what to do now"): steps that follow from the records."""

from collections.abc import Iterator
from dataclasses import dataclass

from portal.law import HEDGE, PHASE_TITLES, Situation, Step, court_name, steps_for
from portal.presentation.source_text import named
from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.wording import listed

# The largest number of entries in the list of court cases, and in the list of issuing bodies.
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class StepGroup:
    title: str
    facts: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class NextSteps:
    groups: tuple[StepGroup, ...]
    hedge: str


def next_steps(
    fines: FineList | None,
    restrictions: RestrictionList | None,
    *,
    vehicle_is_known: bool,
) -> NextSteps:
    """Return the steps that the records and the unavailable lookups call for."""
    situations = frozenset(_situations(fines, restrictions, vehicle_is_known=vehicle_is_known))
    facts = {"before": tuple(_cases(restrictions)), "fines": tuple(_authorities(fines))}
    chosen = steps_for(situations)
    groups = (
        StepGroup(title, facts.get(phase, ()), tuple(s for s in chosen if s.phase == phase))
        for phase, title in PHASE_TITLES.items()
    )
    return NextSteps(tuple(group for group in groups if group.steps), HEDGE)


def _situations(
    fines: FineList | None, restrictions: RestrictionList | None, *, vehicle_is_known: bool
) -> Iterator[Situation]:
    if not vehicle_is_known:
        yield "vehicle_unavailable"
    if fines is None:
        yield "fines_unavailable"
    else:
        yield from _of_fines(fines)
    if restrictions is None:
        yield "restrictions_unavailable"
    elif restrictions.in_force:
        yield "court_order"
        if any("penhora" in c.effect.kinds for c in restrictions.cards if c.effect.in_force):
            yield "penhora"
    if restrictions is None or not restrictions.in_force:
        yield "free_of_court_orders"
    if any(row.details.names_other_vehicle for row in (fines.rows if fines else ())) or any(
        card.details.notes for card in (restrictions.cards if restrictions else ())
    ):
        yield "other_vehicle"


def _of_fines(fines: FineList) -> Iterator[Situation]:
    standings = {law.standing for law in fines.assessments if law.is_open}
    if standings:
        yield "open_fine"
    if "enforceable" in standings:
        yield "enforceable_fine"
    if "probably_due" in standings:
        yield "probably_due_fine"
    if "notice" in standings:
        yield "notice_without_fine"
    if "unknown" in standings:
        yield "fine_of_unclear_payment"


def _cases(restrictions: RestrictionList | None) -> Iterator[str]:
    """Yield a sentence with the case number and the court for each court order in force.

    Only the first _MOST_NAMES orders get a sentence.
    """
    cards = [card for card in restrictions.cards if card.effect.in_force] if restrictions else []
    for card in cards[:_MOST_NAMES]:
        case = card.record.case
        where = card.court or court_name(str(card.record.court)) or "tribunal não informado"
        if case:
            yield f"Processo {case}, {where}."
        elif case.is_hidden:
            yield f"{where}: a fonte oculta o número do processo; peça-o ao vendedor."
        else:
            yield f"{where}: a fonte não informa o número do processo; peça-o ao vendedor."


def _authorities(fines: FineList | None) -> Iterator[str]:
    """Yield one sentence with the issuing bodies of the open fines.

    Yields nothing if no fine is open.
    """
    names: dict[str, int] = {}
    for row in fines.rows if fines else ():
        if row.law.is_open:
            state = f" ({row.fine.authority_state})" if row.fine.authority_state else ""
            name = str(named(row.fine.authority)) or "órgão não informado"
            names[name + state] = names.get(name + state, 0) + 1
    shown = [f"{name}: {n}" if n > 1 else name for name, n in names.items()]
    if shown:
        more = f" e mais {len(shown) - _MOST_NAMES}" if len(shown) > _MOST_NAMES else ""
        yield f"Órgãos das multas em aberto: {listed(shown[:_MOST_NAMES])}{more}."
