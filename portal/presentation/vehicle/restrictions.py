"""The court restrictions of a vehicle: courts, effects, and who can lift a restriction."""

from dataclasses import dataclass

from portal.law import (
    ACT_LABELS,
    ACTS,
    WHO_LIFTS,
    Act,
    Answer,
    Effect,
    court_body_name,
    court_name,
    effect_of,
)
from portal.presentation.panels import Panel, is_readable
from portal.presentation.render_context import RenderContext
from portal.presentation.status_style import ANSWER_LOOKS, REMOVAL_WORDS, StatusStyle
from portal.presentation.vehicle.record_details import RestrictionDetails, restriction_details
from portal.vehicle import Restriction, VehicleIdentity, read_restrictions
from portal.wording import grouped

MOST_CARDS = 200


@dataclass(frozen=True, slots=True)
class Consequence:
    question: str
    word: str
    answer: Answer
    look: StatusStyle


@dataclass(frozen=True, slots=True)
class RestrictionCard:
    number: int
    anchor: str
    title: str
    court: str
    court_body: str
    record: Restriction
    details: RestrictionDetails
    effect: Effect
    consequences: tuple[Consequence, ...]


@dataclass(frozen=True, slots=True)
class RestrictionList:
    """The court restrictions in the source's order.

    ``cards`` has the first MOST_CARDS restrictions. ``records`` has all restrictions.
    """

    cards: tuple[RestrictionCard, ...]
    omitted: int
    in_force: int
    who_lifts: str
    records: tuple[Restriction, ...]
    effects: tuple[Effect, ...]

    @property
    def count(self) -> int:
        return len(self.records)

    @property
    def heading(self) -> str:
        if not self.records:
            return ""
        return f"{grouped(self.in_force)} em vigor" if self.in_force else "nenhuma em vigor"


def restriction_list(
    panel: Panel, context: RenderContext, vehicle: VehicleIdentity | None = None
) -> RestrictionList | None:
    """Return the restrictions of an answer, or None if the answer is missing or unreadable.

    If a record describes a vehicle that differs from ``vehicle``, the record gets a note.
    """
    if not is_readable(panel.result, "renajud"):
        return None
    records = read_restrictions(panel.result, context.marker)
    effects = tuple(effect_of(record, context.today) for record in records)
    return RestrictionList(
        cards=tuple(
            _card(number, record, effect, vehicle)
            for number, (record, effect) in enumerate(
                zip(records[:MOST_CARDS], effects, strict=False), start=1
            )
        ),
        omitted=max(len(records) - MOST_CARDS, 0),
        in_force=sum(effect.in_force for effect in effects),
        who_lifts=WHO_LIFTS,
        records=records,
        effects=effects,
    )


def _card(
    number: int, record: Restriction, effect: Effect, vehicle: VehicleIdentity | None
) -> RestrictionCard:
    return RestrictionCard(
        number=number,
        anchor=f"restricao-{number}",
        title=title_of(effect, record),
        court=court_name(str(record.court), str(record.case)),
        court_body=court_body_name(str(record.court_body)),
        record=record,
        details=restriction_details(record, vehicle),
        effect=effect,
        consequences=tuple(
            _consequence(act, effect.answers[act]) for act in ACTS if effect.in_force
        ),
    )


def _consequence(act: Act, answer: Answer) -> Consequence:
    look = ANSWER_LOOKS[answer.mark]
    word = REMOVAL_WORDS[answer.mark] if act == "removal" else look.word
    return Consequence(ACT_LABELS[act], word, answer, look)


def title_of(effect: Effect, record: Restriction) -> str:
    """Return a title: the restriction's kind, or a note that it is not in force."""
    if not effect.in_force:
        return "Registro sem restrição em vigor"
    if effect.unrecognised:
        return f"Restrição “{effect.unrecognised}”"
    if effect.kinds == ("penhora",):
        return "Penhora registrada"
    if effect.kinds_word:
        return f"Restrição de {effect.kinds_word}"
    return f"Restrição “{record.kinds_text}”" if record.kinds_text else "Restrição judicial"
