"""The reasons for a verdict: court orders and fines, grouped by kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from portal.law.act_answers import ACTS, Mark, worst
from portal.law.assessment import AssessedFine, known_sum
from portal.law.orders import AssessedOrder
from portal.law.restriction_kinds import NAMED_ORDERS
from portal.law.standing import Standing
from portal.wording import counted, day, listed, money


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


def court_reasons(orders: Sequence[AssessedOrder]) -> Iterator[Reason]:
    """Yield one reason for each group of court orders of the same kind and effect."""
    groups: dict[tuple[str, ...], list[AssessedOrder]] = {}
    for order in orders:
        if order.in_force:
            effect = order.effect
            key = (effect.kinds_word, effect.unrecognised, effect.doubt, effect.sentence)
            groups.setdefault(key, []).append(order)
    for group in groups.values():
        first, effect = group[0], group[0].effect
        name = f"{len(group)} restrições judiciais" if len(group) > 1 else "Restrição judicial"
        is_named = len(group) == len(effect.kinds) == 1 and not effect.unrecognised
        if is_named and effect.kinds[0] in ("penhora", *NAMED_ORDERS):
            name, kind = first.title, ""
        else:
            kind = f" de {effect.kinds_word}" if effect.kinds else ""
        as_sent = f" “{effect.unrecognised}”" if effect.unrecognised else ""
        doubt = f"{effect.doubt}; " if effect.doubt else ""
        mark = worst([effect.answers[act] for act in ACTS])[0].mark
        finding = f"{name}{kind}{as_sent}{_origin(group)}"
        yield Reason(finding, f"{doubt}{effect.sentence}", first.anchor, mark, "order")


def _origin(orders: Sequence[AssessedOrder]) -> str:
    courts = dict.fromkeys(order.short_court for order in orders)
    included_at = orders[0].record.included_at if len(orders) == 1 else None
    included = f"incluída em {day(included_at.date())}" if included_at else ""
    known = ", ".join(filter(None, (listed(list(filter(None, courts))), included)))
    return f" ({known})" if known else ""


_GRAVEST_FIRST = (
    *(Standing.ENFORCEABLE, Standing.PROBABLY_DUE, Standing.DUE, Standing.UNKNOWN),
    *(Standing.SUSPENDED, Standing.NOTICE, Standing.CALLED_OFF),
)


def fine_reasons(fines: Sequence[AssessedFine]) -> Iterator[Reason]:
    for standing in _GRAVEST_FIRST:
        found = [fine for fine in fines if fine.standing is standing]
        if not found:
            continue
        committed_on = found[0].record.committed_on
        if len(found) == 1:
            on = f" de {day(committed_on)}" if committed_on else ""
            name, consequence = f"{standing.finding}{on}", standing.consequence
        else:
            name, consequence = f"{len(found)} {standing.findings}", standing.consequences
        finding = f"{name}, {sum_in_words(found)}"
        detail = f"{consequence}{_lapse(standing, found)}"
        yield Reason(finding, detail, found[0].anchor, "careful", "fine")


def _lapse(standing: Standing, fines: Sequence[AssessedFine]) -> str:
    """Return a clause on fines that may be enforceable and may have lapsed, or ""."""
    if standing not in (Standing.ENFORCEABLE, Standing.UNKNOWN):
        return ""
    ends = [fine.prescription.ends_on for fine in fines]
    lapsed = sum(end is not None and end < fines[0].today for end in ends)
    if not lapsed:
        return ""
    how_many = "pode" if len(fines) == 1 else counted(lapsed, "pode", "podem")
    return f"; {how_many} ter prescrito"


def sum_in_words(fines: Sequence[AssessedFine]) -> str:
    amounts = [fine.amount.value for fine in fines]
    known = known_sum(amounts)
    if known is None:
        return "valor não informado"
    return f"{'ao menos ' if None in amounts else ''}{money(known)}"
