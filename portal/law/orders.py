"""Assess a court order: its effect on each act, its court and its title."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from portal.law.act_answers import ACTS, Act, Mark, is_worse, worst
from portal.law.courts import Court, court_body_name, find_court, has_wrong_check_digits
from portal.law.effects import Effect, effect_of, mark_of
from portal.law.restriction_kinds import (
    NAMED_ORDERS,
    NOT_OF_A_JUDGE,
    RENAJUD_SINCE,
    Kind,
    read_kinds,
    says_lifted,
)
from portal.law.rules import CONSULTED
from portal.vehicle.field import Field
from portal.vehicle.identity import VehicleIdentity, differing_fields
from portal.vehicle.judicial import Restriction
from portal.wording import bare, counted, day, listed

_WHO_LIFTS: Final = (
    "Só o juiz que deu a ordem (ou um tribunal acima) pode retirá-la; Detran e Senatran não podem. "
    "O interessado pede a baixa no processo, com advogado ou defensor."
)
_WHO_LIFTS_ELSE: Final[Mapping[Kind, str]] = {
    "alienacao_fiduciaria": (
        "Alienação fiduciária não é ordem de juiz: quem a baixa é o credor, depois da quitação."
    ),
    "bloqueio_administrativo": (
        "Bloqueio administrativo não é ordem de juiz: só o Detran ou o órgão que o pôs o retira."
    ),
}


@dataclass(frozen=True)
class AssessedOrder:
    """A court order's record, and what the law says of it on the day ``today``.

    Nothing is computed before it is read. ``number`` is the order's place in the answer, from 1.
    ``vehicle`` is the vehicle as the lookup "decode" describes it, or None if that is unknown.
    """

    record: Restriction
    today: date
    number: int = 1
    vehicle: VehicleIdentity | None = None

    @property
    def anchor(self) -> str:
        """The HTML anchor of the order on every page."""
        return f"restricao-{self.number}"

    @cached_property
    def effect(self) -> Effect:
        return effect_of(self.record, self.today)

    @property
    def in_force(self) -> bool:
        return self.effect.in_force

    @property
    def is_of_judge(self) -> bool:
        """Whether a judge gave the order. A creditor or the Detran puts some kinds in place."""
        kinds = set(self.effect.kinds)
        return not kinds or bool(self.effect.unrecognised) or not kinds <= set(NOT_OF_A_JUDGE)

    @property
    def is_doubtful(self) -> bool:
        """Whether the record leaves open what the order forbids, or whether it still does."""
        marks = {answer.mark for answer in self.effect.answers.values()}
        return self.in_force and "no" not in marks and "unknown" in marks

    @cached_property
    def _court(self) -> Court | None:
        return find_court(str(self.record.court), str(self.record.case))

    @property
    def court(self) -> str:
        """The court's acronym and name, or the source's text if the court is not known."""
        if self._court is None:
            return str(self.record.court).strip()
        return f"{self._court.acronym} – {self._court.name}"

    @property
    def short_court(self) -> str:
        """The court's acronym, or the source's text if the court is not known."""
        return self._court.acronym if self._court else str(self.record.court)

    @property
    def court_site(self) -> str:
        return self._court.site if self._court else ""

    @cached_property
    def court_body(self) -> str:
        return court_body_name(str(self.record.court_body))

    @property
    def title(self) -> str:
        """The order's kind, or a note that it is not in force."""
        effect = self.effect
        if not effect.in_force:
            return "Registro sem restrição em vigor"
        if effect.unrecognised:
            return f"Restrição “{effect.unrecognised}”"
        if effect.kinds == ("penhora",):
            return "Penhora registrada"
        if (len(effect.kinds) == 1 and effect.kinds[0] in NAMED_ORDERS) or not self.is_of_judge:
            return effect.kinds_word[0].upper() + effect.kinds_word[1:]
        if effect.kinds_word:
            return f"Restrição de {effect.kinds_word}"
        kinds = self.record.kinds_text
        return f"Restrição “{kinds}”" if kinds else "Restrição judicial"

    @cached_property
    def differing(self) -> tuple[Field, ...]:
        """The fields that name another vehicle than the one looked up."""
        return differing_fields(self.vehicle, self.record) if self.vehicle else ()


def is_graver(kinds: Iterable[Kind], orders: Sequence[AssessedOrder]) -> bool:
    """Return whether kinds forbid more than the orders do: a driving ban beside a transfer ban."""
    named = tuple(kinds)
    return any(is_worse(mark_of(named, act), _mark(act, orders)) for act in ACTS)


def _mark(act: Act, orders: Sequence[AssessedOrder]) -> Mark:
    answers = worst(one.effect.answers[act] for one in orders)
    return answers[0].mark if answers else "yes"


def contradictions_of(order: AssessedOrder) -> Iterator[str]:
    """Yield sentences on what an order's record contradicts itself in."""
    record, today = order.record, order.today
    if record.included_at is not None and record.included_at.date() > today:
        day_ = day(record.included_at.date())
        yield f"A data de inclusão ({day_}) está no futuro: confirme com o juízo."
    elif record.included_at is None and record.included_at_text:
        yield (
            f"A data de inclusão ({record.included_at_text}) não serve: o Renajud existe desde "
            f"{RENAJUD_SINCE}. Confirme com o juízo."
        )
    if order.in_force and record.detail and _denies(str(record.detail), today):
        yield (
            f"O detalhe diz “{record.detail}”, e o registro segue como restrição: confirme a baixa "
            "no processo."
        )
    if has_wrong_check_digits(str(record.case)):
        yield (
            f"Os dígitos verificadores do processo {record.case} não conferem: confira o número "
            "antes de consultar."
        )
    named, of_case = find_court(str(record.court)), find_court("", str(record.case))
    if named and of_case and named.j_tr != of_case.j_tr:
        yield (
            f"O número do processo é do {of_case.acronym}, e o registro traz {named.acronym}: "
            "confirme qual é o juízo."
        )
    if named and named.branch == "trabalho" and "CIVEL" in bare(str(record.court_body)):
        yield f"O {named.acronym} não tem vara cível: confirme qual é o juízo."


def _denies(detail: str, today: date) -> bool:
    return says_lifted(detail) or bool(read_kinds(detail, today).revoked_by)


def orders_in_words(orders: Iterable[AssessedOrder]) -> str:
    """Return the numbers of orders: ``2 em vigor e 1 de situação incerta``, or "" for none."""
    in_force = [order for order in orders if order.in_force]
    doubtful = sum(order.is_doubtful for order in in_force)
    parts = [(len(in_force) - doubtful, "em vigor"), (doubtful, "de situação incerta")]
    return listed([counted(number, words, words) for number, words in parts if number])


def who_lifts(orders: Iterable[AssessedOrder]) -> str:
    """Say who can lift the orders in force: their judge, or for some kinds a creditor or a body."""
    in_force = [order for order in orders if order.in_force]
    others = [kind for kind in NOT_OF_A_JUDGE if any(kind in o.effect.kinds for o in in_force)]
    is_of_judge = not in_force or any(order.is_of_judge for order in in_force)
    said = [_WHO_LIFTS] if is_of_judge else []
    said += [_WHO_LIFTS_ELSE[kind] for kind in others]
    return " ".join((*said, f"Lei consultada em {CONSULTED}."))
