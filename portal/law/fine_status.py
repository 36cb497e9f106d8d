"""Determine from a fine's record whether payment can be enforced now.

The result is the fine's standing. After a recorded penalty, the standing is "due" until the
earliest possible due date. It is then "probably_due" until 60 days after the penalty, and
"enforceable" from then on. A fine with only an infraction notice has the standing "notice". A
status word of the source (the upstream API), such as DIVIDA ATIVA (a debt that can be claimed in
court), takes precedence over the dates. The source does not document its status words. A word such
as CANCELADA ("cancelled") therefore does not prove that nothing is owed: the standing "called_off"
is no debt, and no end of one. A word that this module cannot read leaves the standing "unknown".
``portal.phrasebook.fines`` says the status.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.data_files import read_toml
from portal.law import deadlines
from portal.law.paid_fines import Payment
from portal.law.standing import Standing
from portal.vehicle.fines import Fine
from portal.wording import bare

_SUSPENDING = re.compile(
    r"(?<!RECURSO )\b(SUSPENS[AO]|EFEITO SUSPENSIVO|EM RECURSO|EM DEFESA)\b"
    r"|\bRECURSO( JARI| CETRAN)? (EM (ANALISE|ANDAMENTO|JULGAMENTO|TRAMITE)|INTERPOSTO|PENDENTE)\b"
)
_CHARGED = re.compile(
    r"\b(EXIGIVEL|(?<!DEFESA )(?<!DEFESA PREVIA )VENCID[AO]|DIV(IDA|\.)? ATIVA)\b"
)
_NOT_CHARGED = re.compile(r"\b(NAO EXIGIVEL|INEXIGIVEL)\b")
# The status denies the penalty or the debt that the dates suggest. Beside a word of
# _OF_A_SUSPENSION, it denies something else.
_AGAINST_PENALTY = re.compile(
    r"\bSEM (COBRANCA|DEBITO|NOTIFICACAO|PENALIDADE)\b"
    r"|\bNAO (APLICAD|DEVID|EMITID|IMPOST|MANTID|NOTIFICAD|PENDENTE|SUBSISTENTE)"
    r"|\b(ATIVA|COBRANCA|DEBITO|DIVIDA|IMPOSICAO|NIP) (BAIXAD|CANCELAD|ENCERRAD|EXCLUID)"
    r"|\b(BAIXAD|CANCELAD|EXCLUID|RETIRAD)[AO] (D[AE]|NA) (COBRANCA|DIV(IDA|\.)?)\b"
    r"|^CANCELAMENTO( D[AEO] (AUTO|AUTUACAO|INFRACAO|MULTA|PENALIDADE))*$"
    r"|(?<!NAO )\bREVOGAD"
)
_OF_A_SUSPENSION = re.compile(r"\b(SUSPENS|EFEITO|RECURSO|DEFESA)")
# The time to appeal may still run, or an appeal was granted in part.
_APPEAL_STILL_OPEN = re.compile(
    r"\b(AGUARDANDO|PRAZO)\b.*\bRECURSO\b"
    r"|\b(DEFERID|PROVID)[AO] PARCIAL|\bPARCIALMENTE (DEFERID|PROVID)"
)
# The due date lies ahead, although the dates suggest that it has passed.
_NOT_YET_DUE = re.compile(
    r"\bA VENCER\b|\bNAO VENCID|\b(EM|NO|DENTRO DO) PRAZO\b(?! (DA|DE|PARA) DEFESA)"
)
_IN_NOTICE = re.compile(r"\bAUTUACAO\b")
_IN_DEFENCE = re.compile(r"\bEM DEFESA\b")
_OF_PENALTY = re.compile(r"\bPENALIDADE\b")
_SAYS_PAID = re.compile(
    r"\b(PAG[AO]\b|QUITAD|LIQUIDAD|PAGAMENTO (EFETUAD|CONFIRMAD|REALIZAD)"
    r"|BAIXA(D[AO])? (POR|PELO|COM|APOS) (O )?PAGAMENTO\b)"
)
_SAYS_OVER = re.compile(
    r"\b(ABSOLVID|ANISTIA|ANULAD|ARQUIVAD|BAIXAD|CANCELAD|DEFERID|DESCONSTITUID|DUPLICADA"
    r"|EXCLUID|EXTINT|INSUBSISTENTE|INVALIDAD|INVALIDA\b|ISENT|NULA\b|NULO\b|PERDOAD|PRESCR"
    r"|PROVID[AO]\b|REMID[AO]|REMISSAO|ADVERTENCIA)"
)
# A fine whose status contains one of these words is still owed, even if _SAYS_PAID or _SAYS_OVER
# matches. For example, "SUSPENSAO CANCELADA" says that the suspension was cancelled, not the fine.
_KEEPS_OWED = re.compile(
    r"\b(NAO|SEM|CESS|ESTORN|INDEFERID|REVOGAD|SUSPENS|EFEITO|PAGAMENTO CANCEL"
    r"|PARCIAL|PARCEL|PEDID|PENDENT|REQUER|SOLICIT|(ISENCAO|PRESCRICAO) CANCEL"
    r"|RECURSO D[AO] (AUTORIDADE|ORGAO))"
)
_WORD = re.compile(r"\w+")
_GENDER = re.compile(r"[AO]S?$")
# In a status with one of these words, a word of _SAYS_OVER is about an appeal or defence. Only a
# granted appeal ("RECURSO DEFERIDO") means that the fine is over. A cancelled appeal ("RECURSO
# CANCELADO") does not.
_OF_AN_APPEAL = re.compile(r"\b(RECURSO|DEFESA)")
# The fine itself is over, whatever the status says of an appeal ("MULTA ANULADA RECURSO").
_OF_THE_FINE = re.compile(
    r"\b(AUTO|AUTUACAO|INFRACAO|MULTA|PENALIDADE) (ANULAD|ARQUIVAD|CANCELAD)[AO]\b"
)
_ARTICLE = re.compile(r"\bART(IGO)?\.? ?[0-9]+(-?[A-Z]\b)?")
# A status of which a word can be read. "N" and "1" are none.
_READABLE = re.compile(r"[^\W\d_]{2}")
# In a status with one of these words, another word may mean the opposite ("NAO VENCIDA": not past
# due).
_DENYING = re.compile(
    r"\b(NAO|SEM|CASSAD|CESS|DESPROV|ENCERRAD|EXPIRAD|IMPROV|INDEFERID|CANCELAD|LEVANTAD|NEGAD|PEDID"
    r"|REJEIT|REQUER|REVOGAD|SOLICIT)"
)
_VOCABULARY = {
    meaning: frozenset(_GENDER.sub("", word) for word in words.split())
    for meaning, words in read_toml(__package__, "status_words.toml", dict[str, str]).items()
}


def _unread(word: str, *meanings: str) -> list[str]:
    """Return the words of a status that agree with none of ``meanings``."""
    known = [_VOCABULARY[meaning] for meaning in ("plain", *meanings)]
    stems = ((part, _GENDER.sub("", part)) for part in _WORD.findall(word))
    return [part for part, stem in stems if not any(stem in words for words in known)]


# Why a standing is what it is.
Why = Literal[
    # What the record says of a payment.
    "payment",
    # The source's word.
    "said_paid",
    "called_off",
    "warning",
    "not_charged",
    "charged",
    "suspended",
    "contradicted",
    "unread",
    "not_yet_due",
    "penalty_supposed",
    # A date that is missing, or cannot be.
    "no_dates",
    "penalty_hidden",
    "penalty_missing",
    "penalty_unread",
    "infraction_in_future",
    "notice_in_future",
    "penalty_in_future",
    "penalty_before_infraction",
    "notice_before_infraction",
    # The dates.
    "unnotified",
    "unnotified_late",
    "notice",
    "old_notice",
    "due",
    "probably_due",
    "enforceable",
]
# What is said beside the reason: an amount that settles nothing, the source's word, and what the
# dates or that word contradict.
Remark = Literal[
    "amount_alone",
    "word",
    "penalty_before_notice",
    "penalty_ends_defence",
    "never_notified",
]
_CHARGEABLE: Final = (Standing.DUE, Standing.PROBABLY_DUE, Standing.ENFORCEABLE)


class Status(Struct, frozen=True):
    """A fine's standing, which says whether payment can be enforced now, and why.

    ``text`` is the source's text that led to it, or "". ``days`` are those since the infraction,
    and ``until`` is the last day of the deadline that ``why`` names.
    """

    standing: Standing
    why: Why
    text: str = ""
    days: int = 0
    until: date | None = None
    payment: Payment = Payment("none")
    remarks: tuple[Remark, ...] = ()

    @property
    def quoted(self) -> str:
        """The source's text because of which the standing is unknown, or ""."""
        in_place_of_day = self.payment.why == "day_unread"
        return self.text if self.standing is Standing.UNKNOWN and not in_place_of_day else ""


def status_of(fine: Fine, payment: Payment, today: date, state: str) -> Status:
    """Return the status of a fine. ``state`` is the authority's state, whose holidays count."""
    status = replace(_status(fine, payment, today, state), payment=payment)
    return replace(status, remarks=tuple(_remarks(fine, status)))


def _remarks(fine: Fine, status: Status) -> Iterator[Remark]:
    if status.payment.why == "amount_alone":
        yield "amount_alone"
    if fine.kind and not _is_stated(fine, status):
        yield "word"
    if fine.notified_on and fine.penalty_on and fine.penalty_on < fine.notified_on:
        yield "penalty_before_notice"
    if status.standing not in _CHARGEABLE or not fine.penalty_on:
        return
    if _IN_DEFENCE.search(bare(fine.kind.value)):
        yield "penalty_ends_defence"
    if fine.notified_on_text.state == "empty":
        yield "never_notified"


def _is_stated(fine: Fine, status: Status) -> bool:
    """Return whether the status already says what the source's word says."""
    word = bare(fine.kind.value)
    is_kind = (status.standing is Standing.NOTICE and _IN_NOTICE.search(word)) or (
        status.standing in _CHARGEABLE and _OF_PENALTY.search(word)
    )
    return bool(is_kind) or fine.kind.value == status.text


def _status(fine: Fine, payment: Payment, today: date, state: str) -> Status:
    if payment.state == "paid":
        return Status(Standing.PAID, "payment")
    if payment.state == "unclear":
        return Status(Standing.UNKNOWN, "payment", payment.text)
    if over := _no_longer_owed(fine):
        return over
    if fine.penalty_on_text.is_hidden:
        return _unknown("penalty_hidden")
    committed_on = fine.committed_on
    if committed_on is not None and committed_on > today:
        return _unknown("infraction_in_future")
    steps: tuple[tuple[date | None, Why], ...] = (
        (fine.penalty_on, "penalty_before_infraction"),
        (fine.notified_on, "notice_before_infraction"),
    )
    for after, why in steps:
        if committed_on is not None and after is not None and after < committed_on:
            return _unknown(why)
    return _by_word(fine) or _by_dates(fine, today, state)


def _unknown(why: Why, text: str = "") -> Status:
    return Status(Standing.UNKNOWN, why, text)


def _no_longer_owed(fine: Fine) -> Status | None:
    """Return "called_off" if the status word says that nothing is owed.

    A word that says that the fine is paid, without the day, makes it "unknown". For any other word,
    the result is None.
    """
    word = bare(fine.kind.value)
    if _KEEPS_OWED.search(word):
        return None
    if _SAYS_PAID.search(word):
        return _unknown("said_paid", fine.kind.value)
    over = _SAYS_OVER.search(word)
    is_of_fine = _OF_THE_FINE.search(word) or not _OF_AN_APPEAL.search(word)
    if over is None or not (is_of_fine or over[1].startswith(("DEFERID", "PROVID"))):
        return None
    if not all(map(_SAYS_OVER.match, _unread(_ARTICLE.sub("", word), "end"))):
        return None
    why: Why = "warning" if over[1] == "ADVERTENCIA" else "called_off"
    return Status(Standing.CALLED_OFF, why, fine.kind.value)


def _by_word(fine: Fine) -> Status | None:
    word, text = bare(fine.kind.value), fine.kind.value
    if _NOT_CHARGED.search(word):
        return _unknown("not_charged", text)
    is_denied = _AGAINST_PENALTY.search(word) and not _OF_A_SUSPENSION.search(word)
    if is_denied or _APPEAL_STILL_OPEN.search(word):
        return _unknown("contradicted", text)
    if _DENYING.search(word):
        return None
    if _CHARGED.search(word) and _agrees_with_penalty(word):
        return Status(Standing.ENFORCEABLE, "charged", text)
    words = _WORD.findall(word)
    if not _SUSPENDING.search(word) or _unread(word, "suspension"):
        return None
    # A penalty ends the prior defence, and only an appeal suspends it.
    if fine.penalty_on is None or "DEFESA" not in words or "RECURSO" in words:
        return Status(Standing.SUSPENDED, "suspended", text)
    return None


def _by_dates(fine: Fine, today: date, state: str) -> Status:
    word, text = bare(fine.kind.value), fine.kind.value
    if fine.penalty_on is not None:
        if not _agrees_with_penalty(word):
            return _unknown("unread", text)
        status = _after_penalty(fine.penalty_on, state, today)
        if status.standing is not Standing.DUE and _NOT_YET_DUE.search(word):
            return _unknown("not_yet_due", text)
        return status
    if fine.penalty_on_text:
        return _unknown("penalty_unread")
    if _OF_PENALTY.search(word):
        return _unknown("penalty_missing")
    if fine.notified_on is not None or _IN_NOTICE.search(word):
        if not _agrees_with_notice(word):
            return _unknown("penalty_supposed")
        return _in_notice(fine, today)
    if fine.committed_on is not None and not word and not fine.notified_on_text:
        return _unnotified(fine.committed_on, today)
    return _unknown("no_dates")


def _unnotified(committed_on: date, today: date) -> Status:
    """Return "notice" while no penalty can be enforced, whatever dates the source omits.

    Before the shortest due date lie at least the prior defence and the appeal, of MINIMUM_DAYS each
    (arts. 281-A and 282, § 4º).
    """
    waited = (today - committed_on).days
    if waited > 2 * deadlines.MINIMUM_DAYS:
        return _unknown("no_dates")
    why: Why = "unnotified_late" if waited > deadlines.NOTICE_DAYS else "unnotified"
    until = deadlines.plus_days(committed_on, deadlines.NOTICE_DAYS)
    return Status(Standing.NOTICE, why, until=until)


def _agrees_with_notice(word: str) -> bool:
    """Return whether a status supposes nothing beyond a notice."""
    is_readable = not word or bool(_READABLE.search(word))
    return is_readable and not _unread(word, "notice", *(["defence"] if "DEFESA" in word else []))


def _agrees_with_penalty(word: str) -> bool:
    """Return whether each word of a status is known beside a penalty."""
    also = ["penalty_with_suspension"] if re.search(r"\b(SUSPENSAO|EFEITO)\b", word) else []
    is_readable = not word or bool(_READABLE.search(word))
    return is_readable and all(map(str.isdecimal, _unread(word, "notice", "penalty", *also)))


def _in_notice(fine: Fine, today: date) -> Status:
    """Return "notice", or "unknown" if the infraction is more than 360 days old.

    A penalty must be issued within 360 days of the infraction. If the record of an older infraction
    has no penalty, the source may have omitted the penalty.
    """
    if fine.notified_on is not None and fine.notified_on > today:
        return _unknown("notice_in_future")
    since = fine.committed_on or fine.notified_on
    waited = 0 if since is None else (today - since).days
    if waited > deadlines.PENALTY_DAYS_WITH_DEFENCE:
        return Status(Standing.UNKNOWN, "old_notice", days=waited)
    return Status(Standing.NOTICE, "notice")


def _after_penalty(penalty_on: date, state: str, today: date) -> Status:
    if penalty_on > today:
        return _unknown("penalty_in_future")
    first_due = deadlines.last_day(penalty_on, deadlines.MINIMUM_DAYS, state)
    if first_due is None or today <= first_due:
        return Status(Standing.DUE, "due", until=first_due)
    if (today - penalty_on).days <= deadlines.PROBABLY_DUE_DAYS:
        return Status(Standing.PROBABLY_DUE, "probably_due", until=first_due)
    return Status(Standing.ENFORCEABLE, "enforceable", until=first_due)
