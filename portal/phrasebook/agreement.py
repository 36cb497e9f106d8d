"""What buyer and seller may agree on: costs by their certainty, clauses, and what to ask for.

Each text follows from the records alone. Fines are never added to one sum: what can be enforced now
and what may never be owed differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import ClassVar, Final

import msgspec

from portal.data_files import read_toml
from portal.law import deadlines
from portal.law.assessment import AssessedFine, one_per_notice
from portal.law.findings import Finding, PaidShort
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.phrasebook.findings import asked_of_seller, clause, sum_in_words
from portal.phrasebook.orders import title
from portal.phrasebook.rules import CONSULTED
from portal.phrasebook.standings import WORDS
from portal.phrasebook.sums import fines_in_words
from portal.wording import day, listed, money


class _Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    clauses: dict[str, str]
    orders: dict[str, tuple[str, ...]]


_TEXTS: Final = read_toml(__package__, "agreement.toml", _Texts)
# How certain it is that fines of a standing cost something, what it is called, and what is said of
# one fine and of several ones.
_CERTAINTIES: Final = (
    (
        "Certo",
        (Standing.ENFORCEABLE,),
        "{fines} já pode ser cobrada; juros à parte",
        "{fines} já podem ser cobradas; juros à parte",
    ),
    (
        "Provável",
        (Standing.PROBABLY_DUE, Standing.DUE),
        "{fines} aplicada, salvo recurso",
        "{fines} aplicadas, salvo recurso",
    ),
    (
        "Pode vir",
        (Standing.NOTICE, Standing.SUSPENDED, Standing.UNKNOWN),
        "{by_standing}",
        "{by_standing}",
    ),
    (
        "Cancelada, segundo a fonte",
        (Standing.CALLED_OFF,),
        "{fines}; confirme",
        "{fines}; confirme",
    ),
)
# The most fines that one clause, or the message, names.
_MOST_NAMED: Final = 6
# An offer is a round sum, in R$, below the ceiling.
_WHOLE: Final = 100


@dataclass(frozen=True, slots=True)
class Certainty:
    """What the fines of one certainty cost. ``amount`` is in words: ``ao menos R$ 130,16``."""

    name: str
    why: str
    amount: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What buyer and seller may agree on. ``message`` asks the seller for proofs."""

    hedge: ClassVar[str] = (
        f"Modelos, pela lei consultada em {CONSULTED}: mostre a um advogado antes de assinar."
    )
    costs: tuple[Certainty, ...]
    clauses: tuple[str, ...]
    message: str


def terms_of(
    plate: str,
    fines: Sequence[AssessedFine],
    orders: Sequence[AssessedOrder],
    findings: Sequence[Finding],
    today: date,
) -> Terms:
    """Return the terms that the records of a plate call for."""
    in_force = [order for order in orders if order.in_force]
    owed = [fine for fine in one_per_notice(fines) if not fine.is_paid]
    doubts = [finding for finding in findings if finding.about in ("vehicle", "report", "declared")]
    paid_short = [finding for finding in findings if isinstance(finding, PaidShort)]
    return Terms(
        costs=(*_costs(owed), *map(_short_of, paid_short)),
        clauses=tuple(_clauses(owed, in_force, paid_short, today)),
        message=_message(plate, owed, in_force, doubts, paid_short, today),
    )


def offer_message(
    plate: str, owed: Sequence[AssessedFine], amount: Decimal | None, ceiling: Decimal
) -> str:
    """Return an offer to the seller in whole hundreds, or "" if nothing is left to offer.

    ``owed`` are the fines that it is about, which cost ``amount``.
    """
    offer = ceiling // _WHOLE * _WHOLE
    if not offer:
        return ""
    price = money(offer, places=0)
    if not owed or not amount:
        return f"Oi! Consultei a placa {plate}. Fecho por {price}, com a transferência livre."
    return (
        f"Oi! Vi {fines_in_words(owed)} na placa {plate}: {money(amount)}. Fecho por {price} com "
        "tudo quitado, ou retenho esse valor até a baixa."
    )


def order_checklist(order: AssessedOrder) -> tuple[str, ...]:
    """Return what to ask for before buying under a court order, by its kinds."""
    record = order.record
    bought = ["bought_before"] if record.included_at else []
    first, last = (["of_judge"], bought) if order.is_of_judge else ([], ["not_of_judge"])
    keys = (*first, *order.effect.kinds, *last)
    texts = [text for key in keys for text in _TEXTS.orders[key]]
    site = f"Em {order.court_site}" if order.court_site else "No site do tribunal"
    included = day(record.included_at.date()) if record.included_at else ""
    case = f"do processo {record.case}" if record.case else "do processo, com o número dele"
    return tuple(text.format(case=case, site=site, day=included) for text in texts)


def _costs(owed: Sequence[AssessedFine]) -> tuple[Certainty, ...]:
    return tuple(
        Certainty(certainty, _told(group, one if len(group) == 1 else many), sum_in_words(group))
        for certainty, standings, one, many in _CERTAINTIES
        if (group := [fine for fine in owed if fine.standing in standings])
    )


def _short_of(finding: PaidShort) -> Certainty:
    fines, amount = fines_in_words(finding.fines), money(finding.missing)
    why = "com desconto, provavelmente depois do vencimento"
    paid = "paga" if len(finding.fines) == 1 else "pagas"
    return Certainty("Pode faltar", f"{fines} {paid} {why}", amount)


def _told(fines: Sequence[AssessedFine], words: str) -> str:
    return words.format(fines=fines_in_words(fines), by_standing=_by_standing(fines))


def _by_standing(fines: Sequence[AssessedFine]) -> str:
    """Count fines by their standing: ``1 multa suspensa e 1 autuação``."""
    groups: dict[Standing, list[AssessedFine]] = {}
    for fine in fines:
        groups.setdefault(fine.standing, []).append(fine)
    counts = []
    for standing, group in groups.items():
        words = WORDS[standing]
        which = words.of_one if len(group) == 1 else words.of_many
        is_notice = standing is Standing.NOTICE
        counts.append(fines_in_words(group) + ("" if is_notice else f" {which}"))
    return listed(counts)


def _clauses(
    owed: Sequence[AssessedFine],
    orders: Sequence[AssessedOrder],
    paid_short: Sequence[PaidShort],
    today: date,
) -> Iterator[str]:
    """Yield a clause on the court orders, and one for the fines that it can settle together."""
    for clause_of, is_of_judge in (("order", True), ("block", False)):
        if put := [order for order in orders if order.is_of_judge is is_of_judge]:
            yield _TEXTS.clauses[clause_of].format(what="; ".join(map(_order_named, put)))
    groups: dict[tuple[str, str, str], list[AssessedFine]] = {}
    for fine in owed:
        groups.setdefault(_clause_of(fine), []).append(fine)
    for (name, until, longer), group in groups.items():
        is_priced = any(fine.amount.value is not None for fine in group)
        amount = sum_in_words(group) if is_priced else "R$ ________"
        what = _all_named(group)
        yield _TEXTS.clauses[name].format(what=what, amount=amount, until=until, longer=longer)
    for paid in paid_short:
        what, amount = _all_named(paid.fines), money(paid.missing)
        yield _TEXTS.clauses["paid_short"].format(what=what, amount=amount)
    until = deadlines.day_of(deadlines.plus_days(today, deadlines.NOTICE_DAYS))
    yield _TEXTS.clauses["unseen"].format(until=until)


def _message(
    plate: str,
    owed: Sequence[AssessedFine],
    orders: Sequence[AssessedOrder],
    doubts: Sequence[Finding],
    paid_short: Sequence[PaidShort],
    today: date,
) -> str:
    asked = [f"{clause(doubt)}: {ask}" for doubt in doubts if (ask := asked_of_seller(doubt))]
    for order in orders[:_MOST_NAMED]:
        asked.append(f"{_order_named(order)}: {_proof_of(order)}")
    for fine in owed[:_MOST_NAMED]:
        asked.append(f"{_named(fine)}, {sum_in_words([fine])}: {WORDS[fine.standing].proof}")
    if more := owed[_MOST_NAMED:]:
        asked.append(f"Mais {fines_in_words(more)}: o mesmo")
    for paid in paid_short:
        missing = f"pode faltar {money(paid.missing)} do desconto pago tarde"
        named = _all_named(paid.fines)
        asked.append(f"{named[0].upper()}{named[1:]}: {missing}; a quitação do órgão")
    asked.append(f"CRLV-e de {today.year} e, se houver financiamento, a quitação")
    lines = "\n".join(f"{number}. {text}." for number, text in enumerate(asked, 1))
    return f"Oi! Consultei a placa {plate} em {day(today)}. Antes de fechar, me manda:\n{lines}"


def _proof_of(order: AssessedOrder) -> str:
    if not order.is_of_judge:
        return "a prova da baixa"
    case = "" if order.record.case else "o número do processo, "
    return f"{case}a certidão de objeto e pé e a prova da baixa"


def _clause_of(fine: AssessedFine) -> tuple[str, str, str]:
    """Return the clause's name and the last days to impose a penalty, without and with defence."""
    name, until = WORDS[fine.standing].agreement, fine.penalty.ends_on
    committed_on = fine.record.committed_on
    if name != "notice":
        return name, "", ""
    if until is None or committed_on is None:
        return "undated", "", ""
    longer = deadlines.plus_days(committed_on, deadlines.PENALTY_DAYS_WITH_DEFENCE)
    name = "late_notice" if until < fine.today else name
    return name, day(until), deadlines.day_of(longer)


def _all_named(fines: Sequence[AssessedFine]) -> str:
    names = [f"{name[0].lower()}{name[1:]}" for name in map(_named, fines[:_MOST_NAMED])]
    if more := fines[_MOST_NAMED:]:
        names.append(f"mais {fines_in_words(more)}")
    return "; ".join(names)


def _named(fine: AssessedFine) -> str:
    record = fine.record
    what = "Autuação" if fine.standing is Standing.NOTICE else "Multa"
    on = f" de {day(record.committed_on)}" if record.committed_on else ""
    marks = (str(fine.issuer), f"auto {record.notice}" if record.notice else "")
    return ", ".join(filter(None, (f"{what}{on}", *marks)))


def _order_named(order: AssessedOrder) -> str:
    record = order.record
    case = f"processo {record.case}" if record.case else ""
    on = f"de {day(record.included_at.date())}" if record.included_at else ""
    stated = ", ".join(filter(None, (order.short_court, case, on)))
    return f"{title(order)}{f' ({stated})' if stated else ''}"
