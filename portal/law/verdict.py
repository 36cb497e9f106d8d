"""The verdict: may a vehicle be transferred, licensed, driven or removed?

Every sentence refers to the record it is based on. A missing lookup makes the verdict
incomplete, unless the known records already block the transfer. With a stale answer in place of a
missing one the verdict is never "clear".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from portal.law.act_answers import ACTS, Act, Mark, worst
from portal.law.act_matrix import (
    MISSING_WORDS,
    NOTHING_STALE,
    UNLESS_APPEALED,
    WRONG_CHECK_DIGIT,
    Missing,
    Row,
    Stale,
    as_of,
    row_of,
)
from portal.law.assessment import FineAssessment
from portal.law.courts import find_court
from portal.law.effects import Effect, effect_of
from portal.law.fine_status import STANDING_WORDS
from portal.vehicle import Restriction
from portal.wording import day, listed, money

Level = Literal["blocked", "caution", "clear", "incomplete"]
_LOOKUPS: Mapping[Missing, str] = {
    "decode": "Dados do veículo",
    "fines": "Multas",
    "restrictions": "Restrições judiciais",
}
# A finding, not a conclusion: what most often stops a transfer is in none of the records.
_NOTHING_FOUND = "Nenhuma multa em aberto nem restrição judicial encontrada"
_STILL_MISSING = "falta verificar IPVA, financiamento, roubo e furto"
# Gravities that are not shown in brackets.
_NO_GRAVITY = (None, "especial", "depende", "mudou")


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence and the anchor of the record behind it ("multa-1", "restricao-2")."""

    sentence: str
    anchor: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a vehicle.

    ``matrix`` holds four rows in the order of ACTS. ``missing`` names the lookups that failed or
    returned nothing. ``notices`` are sentences on stale answers, one per lookup.
    """

    level: Level
    headline: str
    notices: tuple[str, ...]
    reasons: tuple[Reason, ...]
    matrix: tuple[Row, ...]
    missing: tuple[Missing, ...]
    today: date

    def row(self, act: Act) -> Row:
        return self.matrix[ACTS.index(act)]


def judge(
    decode_known: bool,
    fines: Sequence[FineAssessment] | None,
    restrictions: Sequence[Restriction] | None,
    today: date,
    *,
    is_described: bool = True,
    check_digit_holds: bool = True,
    stale: Stale = NOTHING_STALE,
) -> Verdict:
    """Return the verdict on ``today``.

    ``fines`` or ``restrictions`` is None where the lookup failed, which does not mean "none".
    ``decode_known`` is False where the vehicle's own lookup failed; pass True where that lookup
    is not part of the request, as by Renavam. ``is_described`` is False where the source
    answered without describing the vehicle. ``check_digit_holds`` is False for a Renavam with
    another check digit, whose records may be another vehicle's. ``stale`` maps each lookup whose
    answer is a stored one, because the source gave none now, to the time of that answer (local
    time).
    """
    missing = _missing(decode_known and is_described, fines, restrictions)
    stale = {part: stale[part] for part in MISSING_WORDS if part in stale and part not in missing}
    effects = [effect_of(restriction) for restriction in restrictions or ()]
    doubt = "" if check_digit_holds else WRONG_CHECK_DIGIT
    matrix = tuple(row_of(act, effects, fines or (), missing, stale, doubt) for act in ACTS)
    reasons = (
        *_court_reasons(restrictions or (), effects),
        *_payment_reason(fines or ()),
        *_fine_reasons(fines or ()),
    )
    unavailable = "" if decode_known else MISSING_WORDS["decode"]
    gap = "; ".join(filter(None, (_gap(missing, unavailable), doubt)))
    level, headline = _headline(matrix, effects, fines or (), gap, stale)
    notices = tuple(f"{_LOOKUPS[part]}: {as_of(at)}." for part, at in stale.items())
    return Verdict(level, headline, notices, reasons, matrix, missing, today)


def _missing(
    decode_known: bool,
    fines: Sequence[FineAssessment] | None,
    restrictions: Sequence[Restriction] | None,
) -> tuple[Missing, ...]:
    is_known: dict[Missing, bool] = {
        "decode": decode_known,
        "fines": fines is not None,
        "restrictions": restrictions is not None,
    }
    return tuple(part for part, known in is_known.items() if not known)


def _gap(missing: tuple[Missing, ...], decode: str) -> str:
    """Return a clause on the missing parts of a verdict, "" where none are missing.

    ``decode`` is the phrase for the vehicle's own lookup, or "" if that lookup succeeded but its
    answer did not describe the vehicle.
    """
    names = [decode if part == "decode" else MISSING_WORDS[part] for part in missing]
    unavailable = [name for name in names if name]
    parts = [f"não foi possível consultar {listed(unavailable)}"] if unavailable else []
    return "; ".join(parts + ["a fonte não descreveu o veículo"] * ("" in names))


def _headline(
    matrix: tuple[Row, ...],
    effects: Sequence[Effect],
    fines: Sequence[FineAssessment],
    gap: str,
    stale: Stale,
) -> tuple[Level, str]:
    transfer, licence, drive, _ = (row.mark for row in matrix)
    if transfer == "no":
        return "blocked", _blocked_headline(licence == "no", drive == "no", effects)
    if gap:
        return "incomplete", f"Verificação incompleta: {gap}"
    if any(effect.in_force for effect in effects):
        return "caution", "Há restrição judicial de situação incerta: confirme com o juízo"
    if any(fine.standing == "enforceable" for fine in fines):
        return "caution", "Em regra, só pode ser transferido depois de pagas as multas"
    if any(fine.is_open for fine in fines):
        return "caution", "Há multa em aberto: confirme a situação antes da transferência"
    if stale:
        return "caution", f"{_NOTHING_FOUND}, {as_of(min(stale.values()))}"
    return "clear", f"{_NOTHING_FOUND}; {_STILL_MISSING}"


def _blocked_headline(licence_too: bool, drive_too: bool, effects: Sequence[Effect]) -> str:
    """Return the headline for the stopped acts, as certain as its best source.

    It says "na prática" if no source is verified, and "em regra" if all are from memory.
    """
    sources = {e.transfer.confidence for e in effects if e.transfer.mark == "no"}
    if drive_too:
        return "Não pode circular, ser licenciado nem ser transferido agora"
    if sources == {"memory"}:
        if licence_too:
            return "Não pode ser licenciado agora nem, em regra, transferido"
        return "Em regra, não pode ser transferido agora"
    acts = "transferido nem licenciado" if licence_too else "transferido"
    if "verified" not in sources:
        return f"Na prática, não pode ser {acts} agora"
    return f"Não pode ser {acts} agora"


def _court_reasons(
    restrictions: Sequence[Restriction], effects: Sequence[Effect]
) -> Iterable[Reason]:
    for number, (restriction, effect) in enumerate(
        zip(restrictions, effects, strict=True), start=1
    ):
        if not effect.in_force:
            continue
        court = find_court(str(restriction.court), str(restriction.case))
        details = [court.acronym if court else str(restriction.court)]
        if restriction.included_at:
            details.append(f"incluída em {day(restriction.included_at.date())}")
        details = [detail for detail in details if detail]
        where = f" ({', '.join(details)})" if details else ""
        what = f" de {effect.kinds_word}" if effect.kinds else ""
        came = f" “{effect.unrecognised}”" if effect.unrecognised else ""
        doubt = f"{effect.doubt}; " if effect.doubt else ""
        sentence = f"Restrição judicial{what}{came}{where}: {doubt}{effect.sentence}."
        mark = worst([effect.answer(act) for act in ACTS])[0].mark
        yield Reason(sentence, f"restricao-{number}", mark)


def _payment_reason(fines: Sequence[FineAssessment]) -> Iterable[Reason]:
    """Yield one reason for the sum of the enforceable fines, if there are any.

    It is given whether or not there are other obstacles.
    """
    due = {n: fine for n, fine in enumerate(fines, start=1) if fine.standing == "enforceable"}
    if not due:
        return
    known = [fine.amount.value for fine in due.values() if fine.amount.value is not None]
    cost = money(sum(known[1:], known[0])) if known else "valor não informado"
    at_least = "ao menos " if known and len(known) < len(due) else ""
    what, pay = ("Multas exigíveis", "pagas") if len(due) > 1 else ("Multa exigível", "paga")
    sentence = (
        f"{what} em aberto ({at_least}{cost}): licenciamento e transferência só depois de {pay}, "
        f"{UNLESS_APPEALED}."
    )
    yield Reason(sentence, f"multa-{min(due)}", "careful")


def _fine_reasons(fines: Sequence[FineAssessment]) -> Iterable[Reason]:
    for number, fine in enumerate(fines, start=1):
        if fine.is_paid:
            continue
        when = f"de {day(fine.committed_on)}" if fine.committed_on else "sem data informada"
        gravity = "" if fine.gravity in _NO_GRAVITY else f" ({fine.gravity_word})"
        value = fine.amount.value
        cost = "valor não informado" if value is None else money(value)
        word = fine.standing_word
        how = f"de {word}" if word == STANDING_WORDS["unknown"] else word
        sentence = f"Multa {when}, {how}{gravity}: {cost}."
        yield Reason(sentence, f"multa-{number}", "careful")
