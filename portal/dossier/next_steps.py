"""The panel "O que fazer agora" ("what to do now"): steps that follow from the records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from portal.law.assessment import AssessedFine
from portal.law.fine_hints import hints_of
from portal.law.identification import tampering_of
from portal.law.next_steps import HEDGE, PHASE_TITLES, Situation, Step, steps_for
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.vehicle.source_text import named
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
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    *,
    vehicle_is_known: bool,
) -> NextSteps:
    """Return the steps that the records and the unavailable lookups call for."""
    situations = frozenset(_situations(fines, orders, vehicle_is_known=vehicle_is_known))
    before = (*_cases(orders or ()), *hints_of(fines or ()))
    facts = {"before": before, "fines": tuple(_authorities(fines or ()))}
    chosen = steps_for(situations)
    groups = (
        StepGroup(title, facts.get(phase, ()), tuple(s for s in chosen if s.phase == phase))
        for phase, title in PHASE_TITLES.items()
    )
    return NextSteps(tuple(group for group in groups if group.steps), HEDGE)


def _situations(
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    *,
    vehicle_is_known: bool,
) -> Iterator[Situation]:
    in_force = [order for order in orders or () if order.in_force]
    if not vehicle_is_known:
        yield "vehicle_unavailable"
    if fines is None:
        yield "fines_unavailable"
    else:
        yield from _of_fines(fines)
    if orders is None:
        yield "restrictions_unavailable"
    if in_force:
        yield "court_order"
        if any("penhora" in order.effect.kinds for order in in_force):
            yield "penhora"
    elif orders is not None:
        yield "free_of_court_orders"
    if any(fine.differing for fine in fines or ()) or any(o.differing for o in orders or ()):
        yield "other_vehicle"


def _of_fines(fines: Sequence[AssessedFine]) -> Iterator[Situation]:
    standings = {fine.standing for fine in fines if fine.is_open}
    if any(tampering_of(fine.record) for fine in fines):
        yield "tampered"
    if standings:
        yield "open_fine"
    if Standing.ENFORCEABLE in standings:
        yield "enforceable_fine"
    if Standing.PROBABLY_DUE in standings:
        yield "probably_due_fine"
    if Standing.NOTICE in standings:
        yield "notice_without_fine"
    if Standing.UNKNOWN in standings:
        yield "fine_of_unclear_payment"


def _cases(orders: Sequence[AssessedOrder]) -> Iterator[str]:
    """Yield a sentence with the case number and the court for each court order in force.

    Equal sentences are said once, and at most _MOST_NAMES sentences in all.
    """
    sentences = dict.fromkeys(_case(order) for order in orders if order.in_force)
    yield from islice(sentences, _MOST_NAMES)


def _case(order: AssessedOrder) -> str:
    case = order.record.case
    where = order.court or "tribunal não informado"
    if case:
        return f"Processo {case}, {where}."
    if case.is_hidden:
        return f"{where}: a fonte oculta o número do processo; peça ao vendedor."
    return f"{where}: a fonte não informa o número do processo; peça ao vendedor."


def _authorities(fines: Sequence[AssessedFine]) -> Iterator[str]:
    """Yield one sentence with the issuing bodies of the open fines.

    Yields nothing if no fine is open.
    """
    names: dict[str, int] = {}
    for fine in fines:
        if fine.is_open:
            record = fine.record
            state = f" ({record.authority_state})" if record.authority_state else ""
            name = str(named(record.authority)) or "órgão não informado"
            names[name + state] = names.get(name + state, 0) + 1
    shown = [f"{name}: {n}" if n > 1 else name for name, n in names.items()]
    if shown:
        more = f" e mais {len(shown) - _MOST_NAMES}" if len(shown) > _MOST_NAMES else ""
        yield f"Órgãos das multas em aberto: {listed(shown[:_MOST_NAMES])}{more}."
