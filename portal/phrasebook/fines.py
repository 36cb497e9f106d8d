"""The words of a fine's status, its gravity, its amount and its payment."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, assert_never

from portal.law import fine_amounts, fine_status, paid_fines
from portal.law.assessment import AssessedFine
from portal.law.deadlines import day_of
from portal.law.fine_amounts import Amount, is_whole, plausible
from portal.law.fine_status import Remark, Status
from portal.law.infractions import NEW_AMOUNTS_SINCE, Gravity
from portal.law.paid_fines import PaidSum, Trace
from portal.phrasebook.standings import WORDS
from portal.wording import counted, day, listed, money

_CONFIRM: Final = "Confirme com o órgão autuador."
_CANNOT_TELL: Final = "Não dá para saber se já pode ser cobrada"
_UNKNOWN: Final[Mapping[fine_status.Why, str]] = {
    "contradicted": f"a fonte registra “{{text}}”. {_CONFIRM}",
    "unread": f"o portal não sabe o que a fonte quer dizer com “{{text}}”. {_CONFIRM}",
    "not_yet_due": f"o prazo mínimo já passou, e a fonte registra “{{text}}”. {_CONFIRM}",
    "penalty_supposed": (
        "o registro só traz a notificação da autuação, e o texto da fonte pode supor uma "
        f"penalidade. {_CONFIRM}"
    ),
    "no_dates": "a fonte não trouxe as datas.",
    "penalty_hidden": "a fonte oculta a data da penalidade.",
    "penalty_missing": "falta a data da penalidade.",
    "penalty_unread": "a data da penalidade é ilegível.",
    "infraction_in_future": "a data da infração está no futuro.",
    "notice_in_future": "a data da notificação está no futuro.",
    "penalty_in_future": "a data da penalidade está no futuro.",
    "penalty_before_infraction": (
        "as datas se contradizem (a da penalidade é anterior à da infração)."
    ),
    "notice_before_infraction": (
        "as datas se contradizem (a da notificação é anterior à da infração)."
    ),
}
_NOTES: Final[Mapping[fine_status.Why, str]] = {
    **{why: f"{_CANNOT_TELL}: {words}" for why, words in _UNKNOWN.items()},
    "said_paid": (
        f"A fonte registra “{{text}}”, sem a data do pagamento: segue nas somas. {_CONFIRM}"
    ),
    "called_off": (
        "A fonte registra “{text}”: em regra, já não é devida. Não é contada como dívida; o valor "
        f"aparece à parte. {_CONFIRM}"
    ),
    "warning": (
        "A fonte registra “{text}”: a advertência por escrito, em regra, não tem valor nem pontos "
        "(art. 267 do CTB). Não é contada como dívida; o valor aparece à parte. "
        f"{_CONFIRM}"
    ),
    "not_charged": f"A fonte registra “{{text}}”, sem dizer por quê nem até quando. {_CONFIRM}",
    "charged": f"A fonte registra “{{text}}”: em regra, já pode ser cobrada. {_CONFIRM}",
    "suspended": (
        f"A fonte registra “{{text}}”: em regra, não pode ser cobrada enquanto durar. {_CONFIRM}"
    ),
    "unnotified": (
        "Registrada, ainda sem notificação: ainda não pode ser cobrada e não impede nada. A "
        "notificação deve sair até {until} (art. 281, § 1º, II, do CTB)."
    ),
    "unnotified_late": (
        "Registrada, ainda sem notificação: ainda não pode ser cobrada e não impede nada. Sem "
        "notificação até {until}, em regra, arquiva-se (art. 281, § 1º, II, do CTB)."
    ),
    "notice": (
        "Por enquanto é só autuação: em regra, não precisa ser paga e não impede nada (art. 284, "
        "§ 3º, do CTB). Pode virar multa."
    ),
    "old_notice": (
        "Só há notificação da autuação no registro, embora tenham passado {days}: a data pode "
        f"faltar na fonte, e não dá para saber se já pode ser cobrada. {_CONFIRM}"
    ),
    "due": (
        "Multa aplicada em {penalty}, ainda no prazo: ao menos até {until}, cabe recorrer ou pagar "
        "com desconto."
    ),
    "probably_due": (
        "Multa aplicada em {penalty}; o prazo mínimo acabou em {until}: provavelmente venceu, mas "
        f"a data está na notificação e pode ser posterior. {_CONFIRM}"
    ),
    "enforceable": (
        "Multa aplicada em {penalty}; o prazo mínimo para pagar já passou: em regra, já pode ser "
        f"cobrada, a menos que haja recurso (art. 285 do CTB). {_CONFIRM}"
    ),
}
_GRAVITIES: Final[Mapping[Gravity | None, tuple[str, str]]] = {
    "leve": ("leve", "leves"),
    "media": ("média", "médias"),
    "grave": ("grave", "graves"),
    "gravissima": ("gravíssima", "gravíssimas"),
    "especial": ("especial", "especiais"),
    "depende": ("depende do desdobramento", "dependem do desdobramento"),
    "mudou": ("a confirmar", "a confirmar"),
    None: ("não identificada", "não identificadas"),
}
_NO_DISCOUNT: Final = (
    "Em regra, esta multa não tem mais desconto: ele acaba no vencimento. Juros só correm depois "
    "do último recurso (art. 284, § 4º, do CTB)."
)
_DISCOUNT: Final = (
    "Em regra, quem paga até o vencimento tem 20% de desconto (art. 284 do CTB). Os 40% são só do "
    "dono ou infrator que já usava o SNE quando a autuação saiu, admite a infração e não se "
    "defende nem recorre (§ 1º). Desde 2023, a lei manda todo órgão dar os 40% (§ 6º); na prática, "
    "alguns só dão se participam do SNE. Quem vai comprar não deve contar com os 40%."
)
_NEVER_NOTIFIED: Final = (
    "O registro não traz a notificação da autuação. Se ela não foi enviada, a multa não pode "
    "impedir o licenciamento (Súmulas 127 e 312 do STJ); confirme."
)
_CHANGED: Final = "a regra desta infração mudou entre 2016 e 2021: confirme."
_OF_NIC: Final = (
    "Em regra, é o dobro da multa original, desde abril de 2022; antes, multiplicava-se pelo "
    "número de infrações iguais em 12 meses (art. 257, § 8º, do CTB)."
)
_NO_SINGLE: Final = "Valor enviado pela fonte; a tabela não fixa um valor único para esta infração."
_OUTSIDE: Final = (
    "A fonte enviou {sent}, que não corresponde à tabela ({single}); mantido o valor enviado."
)
_OTHER_PERIOD: Final = f"{{cents}} É o valor da tabela {{era}} {day(NEW_AMOUNTS_SINCE)}"
_AMOUNTS: Final[Mapping[fine_amounts.Why, str]] = {
    "unknown": "Não é possível dizer: a fonte não informa o valor.",
    "unknown_since_changed": f"Não é possível dizer: a fonte não informa o valor, e {_CHANGED}",
    "of_table": "A fonte não informa o valor; é o da tabela da data da infração.",
    "of_table_undated": (
        f"A fonte não informa o valor; é o da tabela em vigor desde {day(NEW_AMOUNTS_SINCE)} (sem "
        "a data da infração, confirme)."
    ),
    "as_sent": "{cents}",
    "in_cents": "O valor enviado ({as_sent}) está em centavos; pela tabela, são {value}.",
    "of_other_period": f"{_OTHER_PERIOD}, que não é a da data da infração.",
    "of_other_period_undated": f"{_OTHER_PERIOD}; confirme.",
    "nic_doubled": f"{{cents}} É o dobro de uma multa de {{single}}. {_OF_NIC}",
    "repeated": "{cents} É o dobro da tabela, como na reincidência em 12 meses.",
    "overweight": (
        "{cents} É a multa de {single} mais {steps} × {each}, um por 200 kg de excesso ou fração "
        "(art. 231, V, do CTB)."
    ),
    "sent_at_80": "O valor enviado ({as_sent}) é o de 80%; o cheio é {value}.",
    "sent_at_60": "O valor enviado ({as_sent}) é o de 60%; o cheio é {value}.",
    "sent_too_low": ("A fonte enviou {sent}, menos que a tabela; vale aqui o da tabela: confirme."),
    "unlisted": "Valor enviado pela fonte; o código não está na tabela.",
    "changed": f"Valor enviado pela fonte, fora das tabelas; {_CHANGED}",
    "no_single": _NO_SINGLE,
    "no_single_nic": f"{_NO_SINGLE} {_OF_NIC}",
    "outside": _OUTSIDE,
    "outside_overweight": (
        f"{_OUTSIDE} No excesso de peso, soma-se um valor a cada 200 kg (art. 231, V, do CTB)."
    ),
    "diverging": (
        "Valor enviado pela fonte: código e descrição são de infrações diferentes, e a tabela não "
        "serve para conferir."
    ),
}


def gravity_word(gravity: Gravity | None) -> str:
    """Name a gravity: ``média``."""
    return _GRAVITIES[gravity][0]


def gravity_counted(gravity: Gravity | None, count: int) -> str:
    """Count fines of a gravity: ``2 médias``."""
    return counted(count, *_GRAVITIES[gravity])


def discount_note(fine: AssessedFine) -> str:
    """Say until when a fine has a discount, and for whom."""
    if fine.is_paid:
        return "Já paga."
    return _DISCOUNT if fine.has_discount else _NO_DISCOUNT


def status_word(status: Status) -> str:
    """Name a fine's standing in a few words: ``exigível``, ``talvez paga``."""
    return _own_word(status) or WORDS[status.standing].word


def has_own_word(status: Status) -> bool:
    """Return whether a status has another name than its standing."""
    return bool(_own_word(status))


def _own_word(status: Status) -> str:
    match status.why:
        case "payment" if status.payment.state == "unclear":
            return "talvez paga"
        case "said_paid":
            return "talvez paga"
        case "called_off" | "warning":
            return f"“{status.text}”, segundo a fonte"
        case "unnotified" | "unnotified_late":
            return "registrada, sem notificação"
        case _:
            return ""


def status_note(fine: AssessedFine) -> str:
    """Explain a fine's standing, and quote the source's word."""
    status = fine.status
    remarks = (_remark(remark, fine) for remark in status.remarks)
    return " ".join((_because(fine), *remarks))


def _because(fine: AssessedFine) -> str:
    status, penalty_on = fine.status, fine.record.penalty_on
    if status.why == "payment":
        return payment_note(fine)
    return _NOTES[status.why].format(
        text=status.text,
        days=counted(status.days, "dia", "dias"),
        until=day_of(status.until),
        penalty=day(penalty_on) if penalty_on else "",
    )


def _remark(remark: Remark, fine: AssessedFine) -> str:
    match remark:
        case "amount_alone":
            return payment_note(fine)
        case "word":
            return f"A fonte registra “{fine.record.kind}”."
        case "penalty_before_notice":
            return "As datas se contradizem: a penalidade é anterior à notificação da autuação."
        case "penalty_ends_defence":
            return "A fonte se contradiz: a penalidade encerra a defesa prévia."
        case "never_notified":
            return _NEVER_NOTIFIED
    assert_never(remark)


def payment_note(fine: AssessedFine) -> str:
    """Say what the record states of a payment, or return ""."""
    payment = fine.status.payment
    match payment.state:
        case "none":
            if payment.why == "none":
                return ""
            amount = f"o valor pago de {_shown(_paid_amount(fine))}, sem a data do pagamento"
            return f"A fonte traz {amount}: segue nas somas; confirme."
        case "paid":
            return _paid(fine)
        case "unclear":
            doubt = _doubt(fine)
            return f"Não é possível dizer se foi paga: {doubt}. Segue nas somas; confirme."
    assert_never(payment.state)


def _paid(fine: AssessedFine) -> str:
    payment = fine.status.payment
    note = f"Paga em {_day(payment)}, segundo a fonte."
    if payment.why == "paid_zero":
        return f"{note} O valor pago consta como zero: confirme com o órgão autuador."
    if payment.why == "paid_short":
        return (
            f"{note} O valor pago é o do desconto, e o pagamento parece posterior ao vencimento: "
            "confirme com o órgão autuador se falta alguma diferença."
        )
    return note


def _doubt(fine: AssessedFine) -> str:
    payment = fine.status.payment
    stated = f"a data do pagamento ({_day(payment)})"
    match payment.why:
        case "day_hidden":
            return "a fonte oculta a data do pagamento"
        case "day_unread":
            return f"a fonte traz “{payment.text}” no lugar da data do pagamento"
        case "day_in_future":
            return f"{stated} está no futuro"
        case "day_before_infraction":
            return f"{stated} é anterior à da infração"
        case "day_before_record":
            return f"{stated} é anterior a todas as outras do registro"
        case "registered_in_future":
            return f"a data do registro do pagamento ({_day(payment)}) está no futuro"
        case "contradicted":
            return f"a fonte traz {stated} e, mesmo assim, registra “{payment.text}”"
        case "zero":
            return f"a fonte traz {stated} e o valor pago de zero"
        case "too_little":
            return (
                f"a fonte traz {stated} e o valor pago de {_shown(_paid_amount(fine))}, que não "
                f"quita a multa de {_shown(fine.amount.value)}; pode faltar o resto"
            )
        case "without_day":
            traces = [_trace(trace, fine) for trace in payment.traces]
            return f"a fonte traz {listed(traces)}, sem a data do pagamento"
        case "none" | "amount_alone" | "paid" | "paid_zero" | "paid_short":
            return ""
    assert_never(payment.why)


def _trace(trace: Trace, fine: AssessedFine) -> str:
    match trace:
        case "amount":
            return f"o valor pago ({paid_words(fine.paid)})"
        case "registered":
            return f"o registro do pagamento ({fine.record.payment_registered_on_text})"
        case "state":
            return f"a UF do pagamento ({fine.record.paid_state})"
    assert_never(trace)


def _day(payment: paid_fines.Payment) -> str:
    return day(payment.on) if payment.on else ""


def _paid_amount(fine: AssessedFine) -> Decimal | None:
    return plausible(fine.record.paid_amount)


def _shown(amount: Decimal | None) -> str:
    return "" if amount is None else money(amount, 0 if is_whole(amount) else 2)


def paid_sum(paid: PaidSum) -> str:
    """Return a paid amount alone: ``R$ 234,78``. Unknown cents are left out."""
    return "" if paid.value is None else money(paid.value, 2 if paid.is_exact else 0)


def paid_words(paid: PaidSum) -> str:
    """Return a paid amount and how it follows from the sent one, or "".

    An example is ``R$ 234,78 (80% do valor da tabela; a fonte enviou 234, sem os centavos)``.
    """
    match paid.why:
        case "as_sent":
            return paid_sum(paid)
        case "in_cents":
            note = f"a fonte enviou {paid.sent:f}, em centavos"
        case "of_table":
            sent = f"a fonte enviou {paid.sent:f}, sem os centavos"
            note = f"{paid.share}% do valor da tabela; {sent}"
        case "may_lack_cents":
            note = "como a fonte enviou, talvez sem os centavos"
        case _:
            assert_never(paid.why)
    return f"{paid_sum(paid)} ({note})"


def amount_note(amount: Amount) -> str:
    """Say why a fine's amount is what it is."""
    note = _amount(amount)
    if amount.may_lack_cents and amount.why != "diverging":
        note += " A fonte costuma cortar os centavos."
    return note


def _amount(amount: Amount) -> str:
    values = {"value": amount.value, "single": amount.single, "sent": amount.sent}
    shown = {name: money(value) for name, value in values.items() if value is not None}
    return _AMOUNTS[amount.why].format(
        **shown,
        as_sent=f"{amount.sent:f}" if amount.sent is not None else "",
        cents=_cents(amount),
        era="em vigor desde" if amount.is_new else "anterior a",
        steps=amount.steps,
        each=_each_step(amount),
    )


def _each_step(amount: Amount) -> str:
    if not amount.steps or amount.value is None or amount.single is None:
        return ""
    return money((amount.value - amount.single) / amount.steps)


def _cents(amount: Amount) -> str:
    if amount.sent is None or amount.value is None:
        return ""
    if amount.sent == amount.value:
        return "Valor enviado pela fonte, igual ao da tabela."
    exact = money(amount.value)
    return f"O valor enviado ({amount.sent:f}) veio sem os centavos; pela tabela, são {exact}."
