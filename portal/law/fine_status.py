"""Determine from a fine's record whether payment can be enforced now.

The result is the fine's standing. After a recorded penalty, the standing is "due" until the
earliest possible due date. It is then "probably_due" until 60 days after the penalty, and
"enforceable" from then on. A fine with only an infraction notice has the standing "notice". A
status word of the source (the upstream API), such as DIVIDA ATIVA (a debt that can be claimed in
court), takes precedence over the dates. The source does not document its status words. A word such
as CANCELADA ("cancelled") therefore does not prove that nothing is owed: the standing "called_off"
is no debt, and no end of one. A word that this module cannot read leaves the standing "unknown".
"""

import re
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from portal.data_files import read_toml
from portal.law import deadlines
from portal.law.paid_fines import Payment
from portal.law.standing import Standing
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine
from portal.wording import bare, counted, day

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
    known = frozenset().union(*(_VOCABULARY[meaning] for meaning in ("plain", *meanings)))
    return [each for each in _WORD.findall(word) if _GENDER.sub("", each) not in known]


_CONFIRM = "Confirme com o órgão autuador."
_NO_DATES = "a fonte não trouxe as datas."
_MAYBE_PAID = "talvez paga"
_CHARGEABLE = (Standing.DUE, Standing.PROBABLY_DUE, Standing.ENFORCEABLE)
_NEVER_NOTIFIED = (
    " O registro não traz a notificação da autuação. Se ela não foi enviada, a multa não pode "
    "impedir o licenciamento (Súmulas 127 e 312 do STJ); confirme."
)


class Status(Struct, frozen=True):
    """A fine's standing, which says whether payment can be enforced now.

    ``note`` explains the standing and quotes the source's status word. ``word`` names the standing
    in Portuguese. ``quoted`` is the source's text because of which the standing is unknown, or "".
    ``is_plain`` is true if ``word`` is that of the standing.
    """

    standing: Standing
    note: str
    word: str
    quoted: str = ""
    is_plain: bool = True


def status_of(fine: Fine, payment: Payment, today: date, state: str) -> Status:
    """Return the status of a fine. ``state`` is the authority's state, whose holidays count."""
    found = _status(fine, payment, today, state)
    more = f" {payment.note}" if payment.state == "none" and payment.note else ""
    if fine.kind:
        more += _source_word(fine.kind, found.standing, found.note)
    if fine.notified_on and fine.penalty_on and fine.penalty_on < fine.notified_on:
        more += " As datas se contradizem: a penalidade é anterior à notificação da autuação."
    if (
        found.standing in _CHARGEABLE
        and fine.penalty_on
        and _IN_DEFENCE.search(bare(str(fine.kind)))
    ):
        more += " A fonte se contradiz: a penalidade encerra a defesa prévia."
    if found.standing in _CHARGEABLE and fine.penalty_on and fine.notified_on_text.state == "empty":
        more += _NEVER_NOTIFIED
    return replace(found, note=found.note + more)


def _status(fine: Fine, payment: Payment, today: date, state: str) -> Status:
    if payment.state == "paid":
        return _plain(Standing.PAID, payment.note)
    if payment.state == "unclear":
        found = _plain(Standing.UNKNOWN, payment.note, word=_MAYBE_PAID)
        return replace(found, quoted=payment.quoted)
    if over := _no_longer_owed(fine):
        return over
    if fine.penalty_on_text.is_hidden:
        return _unknown("a fonte oculta a data da penalidade.")
    committed_on = fine.committed_on
    if committed_on is not None and committed_on > today:
        return _unknown("a data da infração está no futuro.")
    for after, what in ((fine.penalty_on, "penalidade"), (fine.notified_on, "notificação")):
        if committed_on is not None and after is not None and after < committed_on:
            return _unknown(f"as datas se contradizem (a da {what} é anterior à da infração).")
    return _by_word(fine) or _by_dates(fine, today, state)


def _plain(standing: Standing, note: str, *, word: str = "") -> Status:
    return Status(standing, note, word or standing.word, is_plain=not word)


def _unknown(why: str, quoted: str = "") -> Status:
    found = _plain(Standing.UNKNOWN, f"Não dá para saber se já pode ser cobrada: {why}")
    return replace(found, quoted=quoted)


def _no_longer_owed(fine: Fine) -> Status | None:
    """Return "called_off" if the status word says that nothing is owed.

    A word that says that the fine is paid, without the day, makes it "unknown". For any other word,
    the result is None.
    """
    word, clause = bare(str(fine.kind)), f"A fonte registra “{fine.kind}”"
    if _KEEPS_OWED.search(word):
        return None
    if _SAYS_PAID.search(word):
        note = f"{clause}, sem a data do pagamento: segue nas somas. {_CONFIRM}"
        return replace(_plain(Standing.UNKNOWN, note, word=_MAYBE_PAID), quoted=str(fine.kind))
    over = _SAYS_OVER.search(word)
    is_of_fine = _OF_THE_FINE.search(word) or not _OF_AN_APPEAL.search(word)
    if over is None or not (is_of_fine or over[1].startswith(("DEFERID", "PROVID"))):
        return None
    if not all(map(_SAYS_OVER.match, _unread(_ARTICLE.sub("", word), "end"))):
        return None
    what = "em regra, já não é devida"
    if over[1] == "ADVERTENCIA":
        what = "a advertência por escrito, em regra, não tem valor nem pontos (art. 267 do CTB)"
    note = f"{clause}: {what}. Não é contada como dívida; o valor aparece à parte. {_CONFIRM}"
    return _plain(Standing.CALLED_OFF, note, word=f"“{fine.kind}”, segundo a fonte")


def _by_word(fine: Fine) -> Status | None:
    word, clause = bare(str(fine.kind)), f"A fonte registra “{fine.kind}”"
    if _NOT_CHARGED.search(word):
        why = f"{clause}, sem dizer por quê nem até quando. {_CONFIRM}"
        return replace(_plain(Standing.UNKNOWN, why), quoted=str(fine.kind))
    is_denied = _AGAINST_PENALTY.search(word) and not _OF_A_SUSPENSION.search(word)
    if is_denied or _APPEAL_STILL_OPEN.search(word):
        return _unknown(f"a fonte registra “{fine.kind}”. {_CONFIRM}", str(fine.kind))
    if _DENYING.search(word):
        return None
    if _CHARGED.search(word) and _agrees_with_penalty(word):
        return _plain(Standing.ENFORCEABLE, f"{clause}: em regra, já pode ser cobrada. {_CONFIRM}")
    words = _WORD.findall(word)
    if not _SUSPENDING.search(word) or _unread(word, "suspension"):
        return None
    # A penalty ends the prior defence, and only an appeal suspends it.
    if fine.penalty_on is None or "DEFESA" not in words or "RECURSO" in words:
        return _plain(
            Standing.SUSPENDED,
            f"{clause}: em regra, não pode ser cobrada enquanto durar. {_CONFIRM}",
        )
    return None


def _by_dates(fine: Fine, today: date, state: str) -> Status:
    word = bare(str(fine.kind))
    if fine.penalty_on is not None:
        if not _agrees_with_penalty(word):
            sent = f"o portal não sabe o que a fonte quer dizer com “{fine.kind}”"
            return _unknown(f"{sent}. {_CONFIRM}", str(fine.kind))
        found = _after_penalty(fine.penalty_on, state, today)
        if found.standing is not Standing.DUE and _NOT_YET_DUE.search(word):
            sent = f"o prazo mínimo já passou, e a fonte registra “{fine.kind}”"
            return _unknown(f"{sent}. {_CONFIRM}", str(fine.kind))
        return found
    if fine.penalty_on_text:
        return _unknown("a data da penalidade é ilegível.")
    if _OF_PENALTY.search(word):
        return _unknown("falta a data da penalidade.")
    if fine.notified_on is not None or _IN_NOTICE.search(word):
        if not _agrees_with_notice(word):
            return _unknown(
                "o registro só traz a notificação da autuação, e o texto da fonte pode supor uma "
                f"penalidade. {_CONFIRM}"
            )
        return _in_notice(fine, today)
    if fine.committed_on is not None and not word and not fine.notified_on_text:
        return _unnotified(fine.committed_on, today)
    return _unknown(_NO_DATES)


def _unnotified(committed_on: date, today: date) -> Status:
    """Return "notice" while no penalty can be enforced, whatever dates the source omits.

    Before the shortest due date lie at least the prior defence and the appeal, of MINIMUM_DAYS each
    (arts. 281-A and 282, § 4º).
    """
    waited = (today - committed_on).days
    if waited > 2 * deadlines.MINIMUM_DAYS:
        return _unknown(_NO_DATES)
    limit = deadlines.day_of(deadlines.plus_days(committed_on, deadlines.NOTICE_DAYS))
    note = "Registrada, ainda sem notificação: ainda não pode ser cobrada e não impede nada. "
    if waited > deadlines.NOTICE_DAYS:
        note += f"Sem notificação até {limit}, em regra, arquiva-se (art. 281, § 1º, II, do CTB)."
    else:
        note += f"A notificação deve sair até {limit} (art. 281, § 1º, II, do CTB)."
    return _plain(Standing.NOTICE, note, word="registrada, sem notificação")


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
        return _unknown("a data da notificação está no futuro.")
    since = fine.committed_on or fine.notified_on
    waited = 0 if since is None else (today - since).days
    if waited > deadlines.PENALTY_DAYS_WITH_DEFENCE:
        return _plain(
            Standing.UNKNOWN,
            "Só há notificação da autuação no registro, embora tenham passado "
            f"{counted(waited, 'dia', 'dias')}: a data pode faltar na fonte, e não dá para saber "
            f"se já pode ser cobrada. {_CONFIRM}",
        )
    return _plain(
        Standing.NOTICE,
        "Por enquanto é só autuação: em regra, não precisa ser paga e não impede nada (art. 284, "
        "§ 3º, do CTB). Pode virar multa.",
    )


def _after_penalty(penalty_on: date, state: str, today: date) -> Status:
    if penalty_on > today:
        return _unknown("a data da penalidade está no futuro.")
    waited = (today - penalty_on).days
    first_due = deadlines.last_day(penalty_on, deadlines.MINIMUM_DAYS, state)
    first = deadlines.day_of(first_due)
    since = f"Multa aplicada em {day(penalty_on)}"
    if first_due is None or today <= first_due:
        note = (
            f"{since}, ainda no prazo: ao menos até {first}, cabe recorrer ou pagar com desconto."
        )
        return _plain(Standing.DUE, note)
    if waited <= deadlines.PROBABLY_DUE_DAYS:
        return _plain(
            Standing.PROBABLY_DUE,
            f"{since}; o prazo mínimo acabou em {first}: provavelmente venceu, mas a data está na "
            f"notificação e pode ser posterior. {_CONFIRM}",
        )
    return _plain(
        Standing.ENFORCEABLE,
        f"{since}; o prazo mínimo para pagar já passou: em regra, já pode ser cobrada, a menos que "
        f"haja recurso (art. 285 do CTB). {_CONFIRM}",
    )


def _source_word(kind: Field, standing: Standing, note: str) -> str:
    """Return a sentence that quotes the status word, or "" if ``note`` says the same."""
    word = bare(str(kind))
    is_stated = (standing == "notice" and _IN_NOTICE.search(word)) or (
        standing in ("due", "probably_due", "enforceable") and _OF_PENALTY.search(word)
    )
    if is_stated or f"“{kind}”" in note:
        return ""
    return f" A fonte registra “{kind}”."
