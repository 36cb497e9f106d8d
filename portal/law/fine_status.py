"""Determine from a fine's record whether it is enforceable now.

A fine is enforceable only if the shortest due date of its recorded penalty has passed, or if the
source itself says so. What the record does not state is "unknown", which does not mean
"not owed". The source's status words are not documented, so none of them makes a fine's standing
better than its dates do, except an explicit suspension.
"""

import re
from datetime import date, timedelta
from typing import Literal

from portal.law import deadlines
from portal.law.payment import Payment
from portal.law.wording import bare, counted, day
from portal.vehicle import Field, Fine

Standing = Literal["paid", "enforceable", "due", "notice", "suspended", "unknown"]

STANDING_WORDS: dict[Standing, str] = {
    "paid": "paga",
    "enforceable": "exigível",
    "due": "no prazo de pagamento ou recurso",
    "notice": "em autuação",
    "suspended": "suspensa",
    "unknown": "situação não informada",
}
_SUSPENDING = re.compile(r"\b(SUSPENS[AO]|EFEITO SUSPENSIVO|EM RECURSO|EM DEFESA)\b")
_CHARGED = re.compile(r"\b(EXIGIVEL|VENCID[AO]|DIVIDA ATIVA)\b")
_NOT_CHARGED = re.compile(r"\b(NAO EXIGIVEL|INEXIGIVEL)\b")
_IN_NOTICE = re.compile(r"\bAUTUACAO\b")
_OF_PENALTY = re.compile(r"\bPENALIDADE\b")
_OVER = re.compile(
    r"\b(PAG[AO]|QUITAD|CANCELAD|ARQUIVAD|DEFERID|ANULAD|BAIXAD|EXTINT|PRESCR|ISENT|ADVERTENCIA)"
)
# Beside one of these words, a status word may mean its opposite.
_DENYING = re.compile(r"\b(NAO|SEM|CESS|ENCERRAD|REVOGAD|INDEFERID|CANCELAD|LEVANTAD)")
_CONFIRM = "Confirme com o órgão autuador."
_CANNOT_TELL = "Não é possível dizer se é exigível"


def standing_of(fine: Fine, payment: Payment, today: date) -> tuple[Standing, str]:
    """Return a fine's standing on ``today`` and the sentences that explain it.

    The sentences include the source's own word for the status.
    """
    standing, note = _standing(fine, payment, today)
    return standing, note + _source_word(fine.kind, standing, note)


def _standing(fine: Fine, payment: Payment, today: date) -> tuple[Standing, str]:
    if payment.state == "paid":
        return "paid", payment.note
    if payment.state == "unclear":
        return "unknown", payment.note
    if fine.penalty_on_text.is_hidden:
        return "unknown", f"{_CANNOT_TELL}: a fonte oculta a data da penalidade."
    if fine.committed_on is not None and fine.committed_on > today:
        return "unknown", f"{_CANNOT_TELL}: a data da infração está no futuro."
    return _by_word(fine) or _by_dates(fine, today)


def _by_word(fine: Fine) -> tuple[Standing, str] | None:
    word, clause = bare(str(fine.kind)), f"A fonte registra “{fine.kind}”"
    if _NOT_CHARGED.search(word):
        return "unknown", f"{clause}, sem dizer por quê nem até quando. {_CONFIRM}"
    if _DENYING.search(word):
        return None
    if _CHARGED.search(word):
        return "enforceable", f"{clause}: em regra, já pode ser cobrada. {_CONFIRM}"
    if _SUSPENDING.search(word):
        return "suspended", f"{clause}: em regra, não pode ser cobrada enquanto durar. {_CONFIRM}"
    return None


def _by_dates(fine: Fine, today: date) -> tuple[Standing, str]:
    if fine.penalty_on is not None:
        return _after_penalty(fine.penalty_on, today)
    if fine.penalty_on_text:
        return "unknown", f"{_CANNOT_TELL}: a data da penalidade é ilegível."
    word = bare(str(fine.kind))
    if _OF_PENALTY.search(word):
        return "unknown", f"{_CANNOT_TELL}: falta a data da penalidade."
    if fine.notified_on is not None or _IN_NOTICE.search(word):
        return _in_notice(fine, today)
    return "unknown", f"{_CANNOT_TELL}: faltam as datas das notificações."


def _in_notice(fine: Fine, today: date) -> tuple[Standing, str]:
    """Return the standing where only the notice of autuação is on record.

    For an old infraction it is "unknown", because the source may lack the later dates.
    """
    only = "Só há notificação da autuação no registro, sem penalidade"
    if fine.notified_on is not None and fine.notified_on > today:
        return "unknown", f"{_CANNOT_TELL}: a data da notificação está no futuro."
    since = fine.committed_on or fine.notified_on
    waited = 0 if since is None else (today - since).days
    if waited > deadlines.PENALTY_DAYS_WITH_DEFENCE:
        return "unknown", (
            f"{only}, embora tenham passado {counted(waited, 'dia', 'dias')}: a data pode faltar "
            f"na fonte, e não é possível dizer se já é exigível. {_CONFIRM}"
        )
    return "notice", (
        f"{only}: em regra, ainda não é exigível e não bloqueia o licenciamento. {_CONFIRM}"
    )


def _after_penalty(penalty_on: date, today: date) -> tuple[Standing, str]:
    if penalty_on > today:
        return "unknown", f"{_CANNOT_TELL}: a data da penalidade está no futuro."
    if today - penalty_on <= timedelta(days=deadlines.MINIMUM_DAYS):
        first = deadlines.day_of(deadlines.plus_days(penalty_on, deadlines.MINIMUM_DAYS))
        return "due", (
            f"Penalidade de {day(penalty_on)}: o vencimento, em regra, não é antes de {first}; "
            "até lá cabe recurso ou pagamento com desconto."
        )
    return "enforceable", (
        f"Penalidade de {day(penalty_on)}, com o prazo mínimo vencido: em regra, exigível, salvo "
        f"recurso que a suspenda. {_CONFIRM}"
    )


def _source_word(kind: Field, standing: Standing, note: str) -> str:
    """Return a sentence with the source's status word, unless the note has it."""
    word = bare(str(kind))
    is_stated = (standing == "notice" and _IN_NOTICE.search(word)) or (
        standing in ("due", "enforceable") and _OF_PENALTY.search(word)
    )
    if not kind or is_stated or f"“{kind}”" in note:
        return ""
    if standing != "paid" and _OVER.search(word) and not re.search(r"\bNAO\b", word):
        return f" A fonte registra “{kind}”, sem o que o comprove: segue nas somas. {_CONFIRM}"
    return f" A fonte registra “{kind}”."
