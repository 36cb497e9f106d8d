"""The words of the "posso…?" matrix: what each act's row answers, and why."""

from collections.abc import Mapping
from typing import Final

from portal.law.act_answers import Answer, Hedge
from portal.law.act_matrix import Row
from portal.law.findings import (
    AdverseData,
    Finding,
    PaidShort,
    UnreadData,
    Warned,
)
from portal.phrasebook import effects
from portal.phrasebook.effects import ACT_TEXTS
from portal.phrasebook.findings import paid_short_brief, sentence, warning_brief
from portal.phrasebook.verdict import MISSING_WORDS, WRONG_CHECK_DIGIT, as_of, not_confirmed
from portal.wording import listed

_CANNOT_TELL: Final = "Não se sabe"
_LICENCE_MAY_HAVE_LAPSED: Final = (
    "Multa exigível pode ter impedido o licenciamento: confira no CRLV-e se está em dia."
)
_WITHOUT_LICENCE: Final = (
    "Sem ele, circular é infração gravíssima, com remoção do veículo (art. 230, V, do CTB)."
)
_BY_ORDER: Final[Mapping[Hedge, str]] = {
    "": "Por ordem da Justiça",
    "rule": "Em regra, ordem da Justiça",
    "practice": "Na prática, ordem da Justiça",
}


def label(row: Row) -> str:
    return ACT_TEXTS[row.act].label


def short(row: Row) -> str:
    """Return the row's answer: ``Nada encontrado``."""
    texts = ACT_TEXTS[row.act]
    if row.stale_since:
        return texts.stale
    if row.after_payment:
        return "Só após pagar"
    return _CANNOT_TELL if row.mark == "unknown" else str(getattr(texts, row.mark))


def why(row: Row) -> str:
    """Return the row's reasons in full sentences, with the law."""
    reasons = dict.fromkeys(_reason(one) for one in row.deciding)
    sentences = [*_unknown(row), *reasons] or [ACT_TEXTS[row.act].nothing_found]
    if row.may_be_unlicensed:
        is_said = any(isinstance(o, Answer) and effects.says_unlicensed(o) for o in row.deciding)
        sentences += [_LICENCE_MAY_HAVE_LAPSED, *([] if is_said else [_WITHOUT_LICENCE])]
    if row.stale_since:
        sentences.append(f"{_capitalised(as_of(row.stale_since))}.")
    return " ".join(sentences)


def brief(row: Row) -> str:
    """Return the reason in at most 14 words, without the law."""
    if row.stale_since:
        return "Resposta guardada: não há mais nova da fonte"
    if row.gaps:
        return _unknown_clauses(row)[0]
    return _brief(row.deciding[0]) if row.deciding else ACT_TEXTS[row.act].unverified


def _unknown(row: Row) -> list[str]:
    return [f"{part}." for part in _unknown_clauses(row)] if row.gaps else []


def _unknown_clauses(row: Row) -> list[str]:
    gaps = row.gaps
    if gaps is None:
        return []
    failed = listed([MISSING_WORDS[part] for part in gaps.failed])
    unchosen = listed([MISSING_WORDS[part] for part in gaps.unchosen])
    clauses = (
        WRONG_CHECK_DIGIT if gaps.wrong_check_digit else "",
        not_confirmed(gaps.unclear),
        failed and f"não foi possível consultar {failed}",
        unchosen and f"{unchosen} não foram pedidas",
    )
    return [_capitalised(part) for part in clauses if part]


def _reason(one: Answer | Finding) -> str:
    return effects.reason(one) if isinstance(one, Answer) else sentence(one)


def _brief(one: Answer | Finding) -> str:
    if isinstance(one, Warned):
        return warning_brief(one)
    if isinstance(one, PaidShort):
        return paid_short_brief()
    if isinstance(one, AdverseData | UnreadData):
        return "Confirme antes no Detran"
    if not isinstance(one, Answer):
        return "Só depois da perícia"
    if few := effects.short(one):
        return few
    return _BY_ORDER[one.hedge] if one.mark == "no" else _capitalised(effects.phrase(one))


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
