"""The answer first: may this vehicle be transferred, licensed, driven; might it be removed?

Every sentence names the record it stands on. A lookup that could not be asked makes the
verdict incomplete, or leaves it as bad as what is known; it never makes it good.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from portal.law.answers import ACTS, Act, Answer, Mark, worst
from portal.law.assessment import FineAssessment
from portal.law.courts import find_court
from portal.law.effects import Effect, effect_of
from portal.law.wording import day, listed, money
from portal.vehicle import Restriction

Level = Literal["blocked", "caution", "clear", "incomplete"]
Missing = Literal["decode", "fines", "restrictions"]

LABELS: dict[Act, str] = {
    "transfer": "Transferir",
    "licence": "Licenciar",
    "drive": "Circular",
    "removal": "Remoção",
}
_MISSING_WORDS: dict[Missing, str] = {
    "decode": "os dados do veículo",
    "fines": "as multas",
    "restrictions": "as restrições judiciais",
}
_SHORT: dict[Act, dict[Mark, str]] = {
    "transfer": {"no": "Não", "careful": "Com ressalva", "yes": "Sim"},
    "licence": {"no": "Não", "careful": "Com ressalva", "yes": "Sim"},
    "drive": {"no": "Não", "careful": "Com ressalva", "yes": "Sim"},
    "removal": {"no": "Risco de remoção", "careful": "Risco possível", "yes": "Sem risco indicado"},
}
_CANNOT_TELL = "Não é possível dizer"
_NOTHING_FOUND: dict[Act, str] = {
    "transfer": "Nenhum impedimento nos registros consultados.",
    "licence": "Nenhum impedimento nos registros consultados; tributos não foram verificados.",
    "drive": "Nenhum impedimento nos registros consultados, com o licenciamento em dia.",
    "removal": "Nenhuma ordem de remoção nos registros consultados.",
}
_AFTER_PAYMENT = "só depois de pagar as multas exigíveis"
_LICENSING_LAW = "art. 131, § 2º, do CTB"
_TRANSFER_LAW = "arts. 124, VIII, e 128 do CTB"


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence and the anchor of the record it stands on ("multa-1", "restricao-2")."""

    sentence: str
    anchor: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the "posso…?" matrix.

    ``mark`` "yes" is the good news in every row: for removal, that no order was found.
    ``short`` is the answer in a word or three, ``why`` its sentences, ``records`` anchors.
    """

    act: Act
    label: str
    mark: Mark
    short: str
    why: str
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``matrix`` holds four rows in the order of ACTS; ``missing`` what could not be asked."""

    level: Level
    headline: str
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
) -> Verdict:
    """What the records allow on ``today``.

    None for ``fines`` or ``restrictions``: they could not be asked, which is not "none".
    ``decode_known`` False: the vehicle itself could not be looked up (pass True where it is
    not part of the lookup, as by Renavam).
    """
    missing = _missing(decode_known, fines, restrictions)
    effects = [effect_of(restriction) for restriction in restrictions or ()]
    matrix = tuple(
        _row(act, [*_fine_answers(act, fines), *_court_answers(act, effects)], missing)
        for act in ACTS
    )
    reasons = tuple(_court_reasons(restrictions or (), effects)) + tuple(_fine_reasons(fines or ()))
    level, headline = _headline(matrix, effects, fines or (), missing)
    return Verdict(level, headline, reasons, matrix, missing, today)


def _missing(
    decode_known: bool,
    fines: Sequence[FineAssessment] | None,
    restrictions: Sequence[Restriction] | None,
) -> tuple[Missing, ...]:
    asked: dict[Missing, bool] = {
        "decode": decode_known,
        "fines": fines is not None,
        "restrictions": restrictions is not None,
    }
    return tuple(part for part, known in asked.items() if not known)


def _headline(
    matrix: tuple[Row, ...],
    effects: Sequence[Effect],
    fines: Sequence[FineAssessment],
    missing: tuple[Missing, ...],
) -> tuple[Level, str]:
    transfer, licence, drive, _ = (row.mark for row in matrix)
    if transfer == "no":
        return "blocked", _blocked_headline(licence == "no", drive == "no", effects)
    if missing:
        what = listed([_MISSING_WORDS[part] for part in missing])
        return "incomplete", f"Verificação incompleta: não foi possível consultar {what}"
    if any(effect.in_force for effect in effects):
        return "caution", "Há restrição judicial de alcance não reconhecido: confirme com o juízo"
    if any(fine.standing == "enforceable" for fine in fines):
        return "caution", "Em regra, só pode ser transferido depois de pagas as multas"
    if licence != "yes" or transfer != "yes":
        return "caution", "Há multa em aberto: confirme a situação antes da transferência"
    return "clear", "Nada impede a transferência nos registros consultados"


def _blocked_headline(licence_too: bool, drive_too: bool, effects: Sequence[Effect]) -> str:
    """One sentence for the acts that are stopped, "em regra" where only memory says so."""
    sure = any(e.transfer.mark == "no" and e.transfer.confidence != "memory" for e in effects)
    if drive_too:
        return "Não pode circular, ser licenciado nem ser transferido agora"
    if not sure:
        return "Não pode ser licenciado agora nem, em regra, transferido"
    if licence_too:
        return "Não pode ser transferido nem licenciado agora"
    return "Não pode ser transferido agora"


def _row(act: Act, answers: Sequence[Answer], missing: tuple[Missing, ...]) -> Row:
    """Unasked registers leave an act unknown, unless what is known already forbids it.

    Fines never bear on driving or removal by themselves, so only the courts' silence counts
    there; the vehicle's own data decide nothing.
    """
    relevant: tuple[Missing, ...] = ("fines", "restrictions")
    if act in ("drive", "removal"):
        relevant = ("restrictions",)
    unasked = [_MISSING_WORDS[part] for part in missing if part in relevant]
    found = worst([answer for answer in answers if answer.mark != "yes"])
    mark: Mark = found[0].mark if found else "yes"
    sentences = list(dict.fromkeys(answer.reason for answer in found))
    if unasked and mark != "no":
        mark = "unknown"
        sentences.insert(0, f"Não foi possível consultar {listed(unasked)}.")
    short = _SHORT[act].get(mark, _CANNOT_TELL)
    if mark == "careful" and any(answer.phrase == _AFTER_PAYMENT for answer in found):
        short = "Só após pagar"
    records = tuple(dict.fromkeys(anchor for answer in found for anchor in answer.records))
    return Row(act, LABELS[act], mark, short, " ".join(sentences) or _NOTHING_FOUND[act], records)


def _court_answers(act: Act, effects: Sequence[Effect]) -> Iterable[Answer]:
    for number, effect in enumerate(effects, start=1):
        if effect.in_force:
            answer = effect.answer(act)
            yield replace(answer, records=(f"restricao-{number}",))


def _fine_answers(act: Act, fines: Sequence[FineAssessment] | None) -> Iterable[Answer]:
    """Fines bear on licensing and transfer alone; each standing speaks once for its fines."""
    if act not in ("licence", "transfer"):
        return
    law = _LICENSING_LAW if act == "licence" else _TRANSFER_LAW
    verb = "licenciar" if act == "licence" else "transferir"
    texts = {
        "enforceable": f"{_AFTER_PAYMENT} ({law})",
        "due": "há multa no prazo de pagamento ou recurso, que pode passar a impedir",
        "notice": "há multa só com autuação no registro: em regra ainda não impede; confirme",
        "suspended": "há multa suspensa, que em regra não impede enquanto durar a suspensão",
        "unknown": "há multa em aberto de situação não informada, que pode impedir",
    }
    for standing, text in texts.items():
        anchors = tuple(
            f"multa-{number}"
            for number, fine in enumerate(fines or (), start=1)
            if fine.standing == standing
        )
        if anchors:
            phrase = f"em regra pode {verb}" if standing != "enforceable" else _AFTER_PAYMENT
            sentence = f"{text[0].upper()}{text[1:]}."
            yield Answer("careful", phrase, sentence, law, "verified", anchors)


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
        sentence = f"Restrição judicial{what}{came}{where}: {effect.sentence}."
        mark = worst([effect.answer(act) for act in ACTS])[0].mark
        yield Reason(sentence, f"restricao-{number}", mark)


def _fine_reasons(fines: Sequence[FineAssessment]) -> Iterable[Reason]:
    for number, fine in enumerate(fines, start=1):
        if fine.is_paid:
            continue
        parts = [f"Multa {fine.standing_word}"]
        if fine.committed_on:
            parts.append(f"de {day(fine.committed_on)}")
        if fine.gravity not in (None, "especial", "depende"):
            parts.append(f"({fine.gravity_word})")
        value = fine.amount.value
        cost = "valor não informado" if value is None else money(value)
        yield Reason(f"{' '.join(parts)}: {cost}.", f"multa-{number}", "careful")
