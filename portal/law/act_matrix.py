"""The "posso…?" ("may I…?") matrix: one row for each act, such as a transfer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal

from portal.law.act_answers import ACT_TEXTS, Act, Answer, Mark, worst
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.wording import listed, moment

Missing = Literal["decode", "fines", "restrictions"]

Stale = Mapping[Missing, datetime]
NOTHING_STALE: Final[Stale] = MappingProxyType({})

# Each text begins with an article, so that it can be the object or the subject of a sentence, as in
# "consultar as multas" ("look up the fines").
MISSING_WORDS: dict[Missing, str] = {
    "decode": "os dados do veículo",
    "fines": "as multas",
    "restrictions": "as restrições judiciais",
}
_CANNOT_TELL = "Não se sabe"
WRONG_CHECK_DIGIT = "o dígito verificador do Renavam não confere"
_LICENCE_MAY_HAVE_LAPSED = (
    "Multa exigível pode ter impedido o licenciamento: confira no CRLV-e se está em dia."
)
# An order of the kind "licenciamento" says the first part of this, too.
_UNLICENSED = "circular é infração gravíssima"
_WITHOUT_LICENCE = f"Sem ele, {_UNLICENSED}, com remoção do veículo (art. 230, V, do CTB)."
# A standing says whether payment of a fine can be enforced. A row mentions fines with these
# standings even if a court order forbids the act, because such a fine may still stop the act after
# the court has lifted the order.
_OBSTACLES: frozenset[Standing] = frozenset(
    (Standing.ENFORCEABLE, Standing.PROBABLY_DUE, Standing.UNKNOWN)
)
_LICENSING_LAW = "art. 131, § 2º, do CTB"
_TRANSFER_LAW = "arts. 124, VIII, e 128 do CTB"


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is not known of a vehicle.

    ``failed`` names the lookups that failed, ``unclear`` those whose answer neither has nor denies
    records, and ``unchosen`` those that the user did not choose. ``stale`` has the local time of
    each stale (old) answer. If the records may belong to another vehicle, ``doubt`` is a clause
    that explains why, else "".
    """

    failed: Sequence[Missing]
    unclear: Sequence[Missing]
    unchosen: Sequence[Missing]
    stale: Stale
    doubt: str


@dataclass(frozen=True, slots=True)
class Row:
    """The matrix row of one act.

    ``brief`` gives the reason in at most 14 words, without the law. ``records`` are the HTML
    anchors ("multa-1") of the fines and restrictions that ``why`` is about.
    """

    act: Act
    label: str
    mark: Mark
    short: str
    why: str
    brief: str
    records: tuple[str, ...]


def row_of(
    act: Act,
    orders: Sequence[AssessedOrder],
    fines: Sequence[AssessedFine],
    gaps: Gaps,
    others: Sequence[Answer],
) -> Row:
    """Build the matrix row of an act.

    The row gets the least favourable mark of all records. Fines affect only licensing and transfer;
    restrictions affect every act. A doubt about the records, or a missing lookup whose records
    could affect the act, replaces any mark except "no" by "unknown". ``others`` are further answers
    for the act.
    """
    texts = ACT_TEXTS[act]
    by_fines = _fine_answers(act, fines)
    relevant: tuple[Missing, ...] = ("fines", "restrictions")
    if act in ("drive", "removal"):
        relevant = ("restrictions",)
    by_courts = (
        replace(order.effect.answers[act], records=(order.anchor,))
        for order in orders
        if order.in_force and order.effect.answers[act].mark != "yes"
    )
    found = worst([*others, *by_fines.values(), *by_courts])
    mark: Mark = found[0].mark if found else "yes"
    found += tuple(a for s, a in by_fines.items() if s in _OBSTACLES and a not in found)
    failed, unchosen = _named(gaps.failed, relevant), _named(gaps.unchosen, relevant)
    clauses = (
        gaps.doubt,
        not_confirmed(gaps.unclear, relevant),
        failed and f"não foi possível consultar {failed}",
        unchosen and f"{unchosen} não foram pedidas",
    )
    unknown = [f"{each[0].upper()}{each[1:]}." for each in clauses if each and mark != "no"]
    mark = "unknown" if unknown else mark
    short: str = getattr(texts, mark, _CANNOT_TELL)
    if mark == "careful" and "enforceable" in by_fines:
        short = "Só após pagar"
    brief = found[0].brief if found else texts.unverified
    brief = unknown[0].rstrip(".") if unknown else brief
    sentences = [*unknown, *dict.fromkeys(answer.reason for answer in found)]
    sentences = sentences or [texts.nothing_found]
    if act == "drive" and any(fine.standing == "enforceable" for fine in fines):
        is_said = any(_UNLICENSED in sentence for sentence in sentences)
        sentences += [_LICENCE_MAY_HAVE_LAPSED, *([] if is_said else [_WITHOUT_LICENCE])]
    kept = [gaps.stale[part] for part in relevant if part in gaps.stale]
    if kept and mark == "yes":
        mark, short = "careful", texts.stale
        why, brief = as_of(min(kept)), "Resposta guardada: não há mais nova da fonte"
        sentences.append(f"{why[0].upper()}{why[1:]}.")
    records = tuple(dict.fromkeys(anchor for answer in found for anchor in answer.records))
    return Row(act, texts.label, mark, short, " ".join(sentences), brief, records)


def not_confirmed(parts: Sequence[Missing], among: Collection[Missing] = MISSING_WORDS) -> str:
    """Return a clause on lookups whose answer neither has nor denies records, or ""."""
    words = _named(parts, among)
    return f"a fonte não confirmou {words}" if words else ""


def _named(parts: Sequence[Missing], among: Collection[Missing]) -> str:
    return listed([MISSING_WORDS[part] for part in parts if part in among])


def as_of(at: datetime) -> str:
    return f"conforme resposta guardada de {moment(at)}; sem resposta mais nova da fonte"


def _fine_answers(act: Act, fines: Sequence[AssessedFine]) -> Mapping[Standing, Answer]:
    """Return an answer for each standing of open or called-off fines.

    Until the administrative case about a fine ends, the fine does not stop licensing or transfer
    (art. 284, § 3º, of the CTB, the traffic code). A timely appeal suspends the fine (art. 285).
    """
    if act not in ("licence", "transfer"):
        return {}
    law = _LICENSING_LAW if act == "licence" else _TRANSFER_LAW
    answers: dict[Standing, Answer] = {}
    for standing in Standing:
        anchors = tuple(fine.anchor for fine in fines if fine.standing is standing)
        if anchors and standing is not Standing.PAID:
            why = standing.why.format(law=law)
            answers[standing] = Answer("careful", standing.brief, why, law, "verified", anchors)
    return answers
