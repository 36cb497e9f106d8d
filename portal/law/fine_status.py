"""Determine from a fine's record whether it is enforceable now.

A fine is enforceable only with a recorded penalty whose shortest due date has passed, or with
the source's own word for it. What the record does not state is "unknown", which does not mean
"not owed". The source's status words are not documented, so none of them makes a fine's standing
better than its dates do, except an explicit suspension.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from portal.law import deadlines
from portal.law.payment import Payment
from portal.vehicle import Field, Fine
from portal.wording import bare, counted, day

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


@dataclass(frozen=True, slots=True)
class Status:
    """A fine's standing. ``note`` holds sentences that explain it, with the source's word.

    ``shared`` is the note without the fine's own dates, so that several fines can share it.
    """

    standing: Standing
    note: str
    shared: str


def status_of(fine: Fine, payment: Payment, today: date) -> Status:
    """Return a fine's status on ``today``."""
    found = _status(fine, payment, today)
    if not fine.kind:
        return found
    note = found.note + _source_word(fine.kind, found.standing, found.note)
    return Status(found.standing, note, note)


def _status(fine: Fine, payment: Payment, today: date) -> Status:
    if payment.state == "paid":
        return _plain("paid", payment.note)
    if payment.state == "unclear":
        return _plain("unknown", payment.note)
    if fine.penalty_on_text.is_hidden:
        return _plain("unknown", f"{_CANNOT_TELL}: a fonte oculta a data da penalidade.")
    if fine.committed_on is not None and fine.committed_on > today:
        return _plain("unknown", f"{_CANNOT_TELL}: a data da infração está no futuro.")
    return _by_word(fine) or _by_dates(fine, today)


def _plain(standing: Standing, note: str) -> Status:
    return Status(standing, note, note)


def _by_word(fine: Fine) -> Status | None:
    word, clause = bare(str(fine.kind)), f"A fonte registra “{fine.kind}”"
    if _NOT_CHARGED.search(word):
        return _plain("unknown", f"{clause}, sem dizer por quê nem até quando. {_CONFIRM}")
    if _DENYING.search(word):
        return None
    if _CHARGED.search(word):
        return _plain("enforceable", f"{clause}: em regra, já pode ser cobrada. {_CONFIRM}")
    if _SUSPENDING.search(word):
        return _plain(
            "suspended", f"{clause}: em regra, não pode ser cobrada enquanto durar. {_CONFIRM}"
        )
    return None


def _by_dates(fine: Fine, today: date) -> Status:
    if fine.penalty_on is not None:
        return _after_penalty(fine.penalty_on, today)
    if fine.penalty_on_text:
        return _plain("unknown", f"{_CANNOT_TELL}: a data da penalidade é ilegível.")
    word = bare(str(fine.kind))
    if _OF_PENALTY.search(word):
        return _plain("unknown", f"{_CANNOT_TELL}: falta a data da penalidade.")
    if fine.notified_on is not None or _IN_NOTICE.search(word):
        return _in_notice(fine, today)
    return _plain("unknown", f"{_CANNOT_TELL}: faltam as datas das notificações.")


def _in_notice(fine: Fine, today: date) -> Status:
    """Return the status where only the notice of autuação is on record.

    For an old infraction the later dates may be missing from the source.
    """
    only = "Só há notificação da autuação no registro, sem penalidade"
    if fine.notified_on is not None and fine.notified_on > today:
        return _plain("unknown", f"{_CANNOT_TELL}: a data da notificação está no futuro.")
    since = fine.committed_on or fine.notified_on
    waited = 0 if since is None else (today - since).days
    limit = deadlines.PENALTY_DAYS_WITH_DEFENCE
    if waited > limit:
        why = "a data pode faltar na fonte, e não é possível dizer se já é exigível"
        return Status(
            "unknown",
            f"{only}, embora tenham passado {counted(waited, 'dia', 'dias')}: {why}. {_CONFIRM}",
            f"{only}, embora tenham passado mais de {limit} dias: {why}. {_CONFIRM}",
        )
    return _plain(
        "notice",
        f"{only}: em regra, ainda não é exigível e não bloqueia o licenciamento. {_CONFIRM}",
    )


def _after_penalty(penalty_on: date, today: date) -> Status:
    if penalty_on > today:
        return _plain("unknown", f"{_CANNOT_TELL}: a data da penalidade está no futuro.")
    shortest = deadlines.MINIMUM_DAYS
    if today - penalty_on <= timedelta(days=shortest):
        first = deadlines.day_of(deadlines.plus_days(penalty_on, shortest))
        until = "até lá cabe recurso ou pagamento com desconto"
        return Status(
            "due",
            f"Penalidade de {day(penalty_on)}: o vencimento, em regra, não é antes de {first}; "
            f"{until}.",
            f"O vencimento, em regra, não é antes de {shortest} dias da penalidade; {until}.",
        )
    result = f"em regra, exigível, salvo recurso que a suspenda. {_CONFIRM}"
    return Status(
        "enforceable",
        f"Penalidade de {day(penalty_on)}, com o prazo mínimo vencido: {result}",
        f"O prazo mínimo de {shortest} dias da penalidade passou: {result}",
    )


def _source_word(kind: Field, standing: Standing, note: str) -> str:
    """Return a sentence with the source's status word, unless the note has it."""
    word = bare(str(kind))
    is_stated = (standing == "notice" and _IN_NOTICE.search(word)) or (
        standing in ("due", "enforceable") and _OF_PENALTY.search(word)
    )
    if is_stated or f"“{kind}”" in note:
        return ""
    if standing != "paid" and _OVER.search(word) and not re.search(r"\bNAO\b", word):
        return f" A fonte registra “{kind}”, sem o que o comprove: segue nas somas. {_CONFIRM}"
    return f" A fonte registra “{kind}”."
