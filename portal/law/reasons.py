"""The reasons for a verdict: court orders and fines, grouped by kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from portal.law.act_answers import ACTS, Mark, worst
from portal.law.assessment import FineAssessment
from portal.law.courts import find_court
from portal.law.effects import Effect
from portal.law.fine_status import Standing
from portal.vehicle import Restriction
from portal.wording import day, listed, money


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for the verdict: a group of records of the same kind.

    ``detail`` is a clause on the legal consequence, or "". ``anchor`` is the HTML anchor of the
    first record ("multa-1", "restricao-2"). ``about`` is "vehicle" for a doubt about the vehicle's
    identification, which no payment removes.
    """

    finding: str
    detail: str
    anchor: str
    mark: Mark
    about: Literal["vehicle", "order", "fine"]

    @property
    def sentence(self) -> str:
        return f"{self.finding}: {self.detail}." if self.detail else f"{self.finding}."


def court_reasons(
    restrictions: Sequence[Restriction], effects: Sequence[Effect]
) -> Iterator[Reason]:
    """Yield one reason for each group of court orders of the same kind and effect."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, effect in enumerate(effects):
        if effect.in_force:
            key = (effect.kinds_word, effect.unrecognised, effect.doubt, effect.sentence)
            groups.setdefault(key, []).append(index)
    for indices in groups.values():
        first, effect = indices[0], effects[indices[0]]
        records = [restrictions[index] for index in indices]
        count = len(records)
        name = f"{count} restrições judiciais" if count > 1 else "Restrição judicial"
        kind = f" de {effect.kinds_word}" if effect.kinds else ""
        as_sent = f" “{effect.unrecognised}”" if effect.unrecognised else ""
        doubt = f"{effect.doubt}; " if effect.doubt else ""
        mark = worst([effect.answers[act] for act in ACTS])[0].mark
        finding = f"{name}{kind}{as_sent}{_origin(records)}"
        yield Reason(finding, f"{doubt}{effect.sentence}", f"restricao-{first + 1}", mark, "order")


def _origin(restrictions: Sequence[Restriction]) -> str:
    courts = dict.fromkeys(_court(restriction) for restriction in restrictions)
    details = [listed([court for court in courts if court])]
    if len(restrictions) == 1 and restrictions[0].included_at:
        details.append(f"incluída em {day(restrictions[0].included_at.date())}")
    known = [detail for detail in details if detail]
    return f" ({', '.join(known)})" if known else ""


def _court(restriction: Restriction) -> str:
    court = find_court(str(restriction.court), str(restriction.case))
    return court.acronym if court else str(restriction.court)


# A standing says whether payment of a fine can be enforced. The gravest standing comes first. Each
# value has three texts: the name of one such fine, the name of several, and the consequence. "paga"
# or "pagas" ("paid") replaces {} in a consequence.
_FINE_REASONS: Mapping[Standing, tuple[str, str, str]] = {
    "enforceable": (
        "Multa exigível",
        "multas exigíveis",
        "em regra, licenciamento e transferência só depois de {}",
    ),
    "probably_due": (
        "Multa de vencimento provável",
        "multas de vencimento provável",
        "se venceu, impede até ser paga",
    ),
    "due": (
        "Multa no prazo de pagamento ou recurso",
        "multas no prazo de pagamento ou recurso",
        "pode passar a impedir",
    ),
    "unknown": (
        "Multa de situação incerta",
        "multas de situação incerta",
        "pode impedir a transferência",
    ),
    "suspended": (
        "Multa suspensa",
        "multas suspensas",
        "em regra, não impede enquanto durar a suspensão",
    ),
    "notice": ("Autuação", "autuações", "ainda sem multa aplicada, pode virar multa"),
}


def fine_reasons(fines: Sequence[FineAssessment]) -> Iterator[Reason]:
    for standing, (singular, plural, detail) in _FINE_REASONS.items():
        found = {n: fine for n, fine in enumerate(fines, start=1) if fine.standing == standing}
        if not found:
            continue
        if len(found) == 1:
            (fine,) = found.values()
            name = f"{singular} de {day(fine.committed_on)}" if fine.committed_on else singular
            paid = "paga"
        else:
            name, paid = f"{len(found)} {plural}", "pagas"
        finding = f"{name}, {_sum(list(found.values()))}"
        yield Reason(finding, detail.format(paid), f"multa-{min(found)}", "careful", "fine")


def _sum(fines: Sequence[FineAssessment]) -> str:
    known = [fine.amount.value for fine in fines if fine.amount.value is not None]
    if not known:
        return "valor não informado"
    at_least = "ao menos " if len(known) < len(fines) else ""
    return f"{at_least}{money(sum(known[1:], known[0]))}"
