"""The words of each status, amount and payment of a fine."""

from datetime import date
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.law import fine_amounts, fine_status, paid_fines
from portal.law.assessment import AssessedFine
from portal.law.fine_amounts import Amount
from portal.law.paid_fines import PaidSum
from portal.phrasebook import deadlines as say_deadlines
from portal.phrasebook import fines as say
from portal.phrasebook.standings import WORDS
from portal.vehicle.field import HIDDEN
from portal.vehicle.fines import Fine
from tests.law.records import TODAY, fine
from tests.law.strategies import FINES

PENALTY = {
    "code": "7455",
    "amount": Decimal("130.16"),
    "committed_on": date(2025, 3, 10),
    "notified_on": date(2025, 3, 25),
    "notified_on_text": "25/03/2025",
    "penalty_on": date(2025, 6, 10),
    "penalty_on_text": "10/06/2025",
}
PAID = {**PENALTY, "paid_on": date(2025, 7, 5), "paid_on_text": "05/07/2025"}
CONFIRM = "Confirme com o órgão autuador."
CANNOT_TELL = "Não dá para saber se já pode ser cobrada: "
CHARGED = (
    "Multa aplicada em 10/06/2025; o prazo mínimo para pagar já passou: em regra, já pode ser "
    f"cobrada, a menos que haja recurso (art. 285 do CTB). {CONFIRM}"
)
NOT_NOTIFIED = "Registrada, ainda sem notificação: ainda não pode ser cobrada e não impede nada. "
OFF = "Não é contada como dívida; o valor aparece à parte. "


def without_dates(**given: Any) -> dict[str, Any]:
    return {"code": "7455", "amount": Decimal("130.16"), **given}


def unclear(doubt: str) -> str:
    return f"Não é possível dizer se foi paga: {doubt}. Segue nas somas; confirme."


# The record, the reason of the status, its word, and what explains it.
STATUSES: list[tuple[dict[str, Any], fine_status.Why, str, str]] = [
    (PENALTY, "enforceable", "exigível", CHARGED),
    (
        PENALTY | {"penalty_on": date(2026, 11, 1)},
        "due",
        "no prazo de pagamento ou recurso",
        "Multa aplicada em 01/11/2026, ainda no prazo: ao menos até 01/12/2026, cabe recorrer ou "
        "pagar com desconto.",
    ),
    (
        PENALTY | {"penalty_on": date(2026, 10, 8)},
        "probably_due",
        "vencimento provável",
        "Multa aplicada em 08/10/2026; o prazo mínimo acabou em 09/11/2026: provavelmente venceu, "
        f"mas a data está na notificação e pode ser posterior. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "EXIGIVEL"},
        "charged",
        "exigível",
        f"A fonte registra “EXIGIVEL”: em regra, já pode ser cobrada. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "EM RECURSO"},
        "suspended",
        "suspensa",
        f"A fonte registra “EM RECURSO”: em regra, não pode ser cobrada enquanto durar. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "CANCELADA"},
        "called_off",
        "“CANCELADA”, segundo a fonte",
        f"A fonte registra “CANCELADA”: em regra, já não é devida. {OFF}{CONFIRM}",
    ),
    (
        PENALTY | {"kind": "ADVERTENCIA"},
        "warning",
        "“ADVERTENCIA”, segundo a fonte",
        "A fonte registra “ADVERTENCIA”: a advertência por escrito, em regra, não tem valor nem "
        f"pontos (art. 267 do CTB). {OFF}{CONFIRM}",
    ),
    (
        PENALTY | {"kind": "PAGA"},
        "said_paid",
        "talvez paga",
        f"A fonte registra “PAGA”, sem a data do pagamento: segue nas somas. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "NAO EXIGIVEL"},
        "not_charged",
        "situação incerta",
        f"A fonte registra “NAO EXIGIVEL”, sem dizer por quê nem até quando. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "SEM DEBITO"},
        "contradicted",
        "situação incerta",
        f"{CANNOT_TELL}a fonte registra “SEM DEBITO”. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "XYZ"},
        "unread",
        "situação incerta",
        f"{CANNOT_TELL}o portal não sabe o que a fonte quer dizer com “XYZ”. {CONFIRM}",
    ),
    (
        PENALTY | {"kind": "A VENCER"},
        "not_yet_due",
        "situação incerta",
        f"{CANNOT_TELL}o prazo mínimo já passou, e a fonte registra “A VENCER”. {CONFIRM}",
    ),
    (
        without_dates(notified_on=date(2026, 10, 1), kind="PROTESTADA"),
        "penalty_supposed",
        "situação incerta",
        f"{CANNOT_TELL}o registro só traz a notificação da autuação, e o texto da fonte pode supor "
        f"uma penalidade. {CONFIRM} A fonte registra “PROTESTADA”.",
    ),
    (
        without_dates(),
        "no_dates",
        "situação incerta",
        f"{CANNOT_TELL}a fonte não trouxe as datas.",
    ),
    (
        without_dates(penalty_on_text=HIDDEN),
        "penalty_hidden",
        "situação incerta",
        f"{CANNOT_TELL}a fonte oculta a data da penalidade.",
    ),
    (
        without_dates(penalty_on_text="31/31/2025"),
        "penalty_unread",
        "situação incerta",
        f"{CANNOT_TELL}a data da penalidade é ilegível.",
    ),
    (
        without_dates(kind="PENALIDADE"),
        "penalty_missing",
        "situação incerta",
        f"{CANNOT_TELL}falta a data da penalidade. A fonte registra “PENALIDADE”.",
    ),
    (
        without_dates(committed_on=date(2027, 1, 1)),
        "infraction_in_future",
        "situação incerta",
        f"{CANNOT_TELL}a data da infração está no futuro.",
    ),
    (
        without_dates(notified_on=date(2027, 1, 1)),
        "notice_in_future",
        "situação incerta",
        f"{CANNOT_TELL}a data da notificação está no futuro.",
    ),
    (
        without_dates(penalty_on=date(2027, 1, 1)),
        "penalty_in_future",
        "situação incerta",
        f"{CANNOT_TELL}a data da penalidade está no futuro.",
    ),
    (
        PENALTY | {"penalty_on": date(2025, 3, 1)},
        "penalty_before_infraction",
        "situação incerta",
        f"{CANNOT_TELL}as datas se contradizem (a da penalidade é anterior à da infração). As "
        "datas se contradizem: a penalidade é anterior à notificação da autuação.",
    ),
    (
        PENALTY | {"notified_on": date(2025, 3, 1)},
        "notice_before_infraction",
        "situação incerta",
        f"{CANNOT_TELL}as datas se contradizem (a da notificação é anterior à da infração).",
    ),
    (
        without_dates(committed_on=date(2026, 11, 10)),
        "unnotified",
        "registrada, sem notificação",
        f"{NOT_NOTIFIED}A notificação deve sair até 10/12/2026 (art. 281, § 1º, II, do CTB).",
    ),
    (
        without_dates(committed_on=date(2026, 10, 10)),
        "unnotified_late",
        "registrada, sem notificação",
        f"{NOT_NOTIFIED}Sem notificação até 09/11/2026, em regra, arquiva-se (art. 281, § 1º, II, "
        "do CTB).",
    ),
    (
        without_dates(notified_on=date(2026, 10, 1)),
        "notice",
        "em autuação",
        "Por enquanto é só autuação: em regra, não precisa ser paga e não impede nada (art. 284, § "
        "3º, do CTB). Pode virar multa.",
    ),
    (
        without_dates(committed_on=date(2024, 8, 18), notified_on=date(2024, 9, 9)),
        "old_notice",
        "situação incerta",
        "Só há notificação da autuação no registro, embora tenham passado 825 dias: a data pode "
        f"faltar na fonte, e não dá para saber se já pode ser cobrada. {CONFIRM}",
    ),
    (PAID, "payment", "paga", "Paga em 05/07/2025, segundo a fonte."),
    # What stands beside a penalty that can be charged.
    (
        PENALTY | {"kind": "EM DEFESA PREVIA"},
        "enforceable",
        "exigível",
        f"{CHARGED} A fonte registra “EM DEFESA PREVIA”. A fonte se contradiz: a penalidade "
        "encerra a defesa prévia.",
    ),
    (
        PENALTY | {"paid_amount": Decimal(50)},
        "enforceable",
        "exigível",
        f"{CHARGED} A fonte traz o valor pago de R$\u00a050, sem a data do pagamento: segue nas "
        "somas; confirme.",
    ),
]

# The record, the reason of its payment, and what says so.
PAYMENTS: list[tuple[dict[str, Any], paid_fines.Why, str]] = [
    (PENALTY, "none", ""),
    (
        PENALTY | {"paid_amount": Decimal("50.10")},
        "amount_alone",
        "A fonte traz o valor pago de R$\u00a050,10, sem a data do pagamento: segue nas somas; "
        "confirme.",
    ),
    (PAID, "paid", "Paga em 05/07/2025, segundo a fonte."),
    (
        PAID | {"paid_amount": Decimal(0), "kind": "PAGA"},
        "paid_zero",
        "Paga em 05/07/2025, segundo a fonte. O valor pago consta como zero: confirme com o órgão "
        "autuador.",
    ),
    (
        PAID | {"paid_amount": Decimal("104.13"), "paid_on": date(2025, 11, 5)},
        "paid_short",
        "Paga em 05/11/2025, segundo a fonte. O valor pago é o do desconto, e o pagamento parece "
        "posterior ao vencimento: confirme com o órgão autuador se falta alguma diferença.",
    ),
    (PAID | {"paid_on_text": HIDDEN}, "day_hidden", unclear("a fonte oculta a data do pagamento")),
    (
        PENALTY | {"paid_on_text": "PAGO"},
        "day_unread",
        unclear("a fonte traz “PAGO” no lugar da data do pagamento"),
    ),
    (
        PAID | {"paid_on": date(2030, 1, 1)},
        "day_in_future",
        unclear("a data do pagamento (01/01/2030) está no futuro"),
    ),
    (
        PAID | {"paid_on": date(2024, 1, 1)},
        "day_before_infraction",
        unclear("a data do pagamento (01/01/2024) é anterior à da infração"),
    ),
    (
        PAID | {"paid_on": date(2024, 1, 1), "committed_on": None},
        "day_before_record",
        unclear("a data do pagamento (01/01/2024) é anterior a todas as outras do registro"),
    ),
    (
        PAID | {"payment_registered_on_text": "01/02/2030"},
        "registered_in_future",
        unclear("a data do registro do pagamento (01/02/2030) está no futuro"),
    ),
    (
        PAID | {"kind": "ESTORNADA"},
        "contradicted",
        unclear(
            "a fonte traz a data do pagamento (05/07/2025) e, mesmo assim, registra “ESTORNADA”"
        ),
    ),
    (
        PAID | {"paid_amount": Decimal(0)},
        "zero",
        unclear("a fonte traz a data do pagamento (05/07/2025) e o valor pago de zero"),
    ),
    (
        PAID | {"paid_amount": Decimal(50)},
        "too_little",
        unclear(
            "a fonte traz a data do pagamento (05/07/2025) e o valor pago de R$\u00a050, que não "
            "quita a multa de R$\u00a0130,16; pode faltar o resto"
        ),
    ),
    (
        PENALTY
        | {
            "paid_amount": Decimal(104),
            "payment_registered_on_text": "02/10/2025",
            "paid_state": "MG",
        },
        "without_day",
        unclear(
            "a fonte traz o valor pago (R$\u00a0104,13 (80% do valor da tabela; a fonte enviou "
            "104, sem os centavos)), o registro do pagamento (02/10/2025) e a UF do pagamento "
            "(MG), sem a data do pagamento"
        ),
    ),
]

R = "R$\u00a0"
ROUNDED = "A fonte costuma cortar os centavos."
NIC = (
    "Em regra, é o dobro da multa original, desde abril de 2022; antes, multiplicava-se pelo "
    "número de infrações iguais em 12 meses (art. 257, § 8º, do CTB)."
)
NO_SINGLE = "Valor enviado pela fonte; a tabela não fixa um valor único para esta infração."
CHANGED = "a regra desta infração mudou entre 2016 e 2021: confirme."
OUTSIDE = f"A fonte enviou {R}500,00, que não corresponde à tabela ({R}130,16)"
IN_2025 = date(2025, 3, 10)


def cut(sent: str, exact: str) -> str:
    return f"O valor enviado ({sent}) veio sem os centavos; pela tabela, são {R}{exact}."


# The infraction's code, the sent amount, the day, the reason of the amount, and what says so.
AMOUNTS: list[tuple[str, str, date | None, fine_amounts.Why, str]] = [
    ("9999", "", IN_2025, "unknown", "Não é possível dizer: a fonte não informa o valor."),
    (
        *("6858", "", None, "unknown_since_changed"),
        f"Não é possível dizer: a fonte não informa o valor, e {CHANGED}",
    ),
    (
        *("7455", "", IN_2025, "of_table"),
        "A fonte não informa o valor; é o da tabela da data da infração.",
    ),
    (
        *("7455", "", None, "of_table_undated"),
        "A fonte não informa o valor; é o da tabela em vigor desde 01/11/2016 (sem a data da "
        "infração, confirme).",
    ),
    (
        *("7455", "130.16", IN_2025, "as_sent"),
        "Valor enviado pela fonte, igual ao da tabela.",
    ),
    ("7455", "130", IN_2025, "as_sent", cut("130", "130,16")),
    (
        *("7455", "13016", IN_2025, "in_cents"),
        f"O valor enviado (13016) está em centavos; pela tabela, são {R}130,16.",
    ),
    (
        *("7455", "85", IN_2025, "of_other_period"),
        f"{cut('85', '85,13')} É o valor da tabela anterior a 01/11/2016, que não é a da data da "
        "infração.",
    ),
    (
        *("7455", "130", date(2015, 3, 10), "of_other_period"),
        f"{cut('130', '130,16')} É o valor da tabela em vigor desde 01/11/2016, que não é a da "
        "data da infração.",
    ),
    (
        *("7455", "85", None, "of_other_period_undated"),
        f"{cut('85', '85,13')} É o valor da tabela anterior a 01/11/2016; confirme.",
    ),
    (
        *("5002", "260", IN_2025, "nic_doubled"),
        f"{cut('260', '260,32')} É o dobro de uma multa de {R}130,16. {NIC}",
    ),
    (
        *("51691", "5869", IN_2025, "repeated"),
        f"{cut('5869', '5.869,40')} É o dobro da tabela, como na reincidência em 12 meses.",
    ),
    (
        *("6831", "146.12", IN_2025, "overweight"),
        f"Valor enviado pela fonte, igual ao da tabela. É a multa de {R}130,16 mais 3 × {R}5,32, "
        "um por 200 kg de excesso ou fração (art. 231, V, do CTB).",
    ),
    (
        *("7455", "104.13", IN_2025, "sent_at_80"),
        f"O valor enviado (104.13) é o de 80%; o cheio é {R}130,16.",
    ),
    (
        *("7455", "78.1", IN_2025, "sent_at_60"),
        f"O valor enviado (78.10) é o de 60%; o cheio é {R}130,16.",
    ),
    (
        *("7455", "50", IN_2025, "sent_too_low"),
        f"A fonte enviou {R}50,00, menos que a tabela; vale aqui o da tabela: confirme.",
    ),
    (
        *("9999", "77", IN_2025, "unlisted"),
        f"Valor enviado pela fonte; o código não está na tabela. {ROUNDED}",
    ),
    (
        *("6858", "500.50", None, "changed"),
        f"Valor enviado pela fonte, fora das tabelas; {CHANGED}",
    ),
    ("5002", "123.45", IN_2025, "no_single_nic", f"{NO_SINGLE} {NIC}"),
    ("7455", "500", IN_2025, "outside", f"{OUTSIDE}; mantido o valor enviado. {ROUNDED}"),
    (
        *("6831", "500.00", IN_2025, "outside_overweight"),
        f"{OUTSIDE}; mantido o valor enviado. No excesso de peso, soma-se um valor a cada 200 kg "
        "(art. 231, V, do CTB).",
    ),
]

PAID_SUMS: list[tuple[PaidSum, str]] = [
    (PaidSum(None, is_exact=False), ""),
    (PaidSum(Decimal("250.10"), is_exact=True), f"{R}250,10"),
    (
        PaidSum(Decimal("130.16"), is_exact=True, why="in_cents", sent=Decimal(13016)),
        f"{R}130,16 (a fonte enviou 13016, em centavos)",
    ),
    (
        PaidSum(Decimal("234.78"), is_exact=True, why="of_table", sent=Decimal(234), share=80),
        f"{R}234,78 (80% do valor da tabela; a fonte enviou 234, sem os centavos)",
    ),
    (
        PaidSum(Decimal(1250), is_exact=False, why="may_lack_cents"),
        f"{R}1.250 (como a fonte enviou, talvez sem os centavos)",
    ),
]


def assessed(record: dict[str, Any]) -> AssessedFine:
    return AssessedFine(fine(**record), TODAY)


@pytest.mark.parametrize(("record", "why", "word", "note"), STATUSES)
def test_status_is_said(record: dict[str, Any], why: str, word: str, note: str) -> None:
    found = assessed(record)
    assert found.status.why == why
    assert say.status_word(found.status) == word
    assert say.status_note(found) == note
    assert say.has_own_word(found.status) == (word != WORDS[found.standing].word)


@settings(max_examples=60)
@given(st.lists(FINES, max_size=4), st.dates())
def test_every_fine_is_said(records: list[Fine], today: date) -> None:
    for record in records:
        found = AssessedFine(record, today)
        assert say.status_note(found)
        assert say.amount_note(found.amount)
        assert all(map(say_deadlines.sentence, found.deadlines))


@given(st.decimals(allow_nan=True, allow_infinity=True))
def test_cents_are_shown_only_where_known(sent: Decimal) -> None:
    paid = paid_fines.paid_sum(sent, Amount(Decimal("293.47"), "table", "as_sent", matches=True))
    if not paid.is_exact:
        assert "," not in say.paid_sum(paid)


def test_maybe_paid_is_a_word_of_its_own() -> None:
    found = assessed(PENALTY | {"paid_on_text": "PAGO"})
    assert say.status_word(found.status) == "talvez paga"


def test_word_that_the_payment_quotes_is_not_repeated() -> None:
    found = assessed(PAID | {"kind": "ESTORNADA"})
    assert say.status_note(found) == say.payment_note(found)


def test_missing_notice_is_said_beside_a_charged_penalty() -> None:
    record = {name: value for name, value in PENALTY.items() if "notified" not in name}
    assert say.status_note(assessed(record)) == (
        f"{CHARGED} O registro não traz a notificação da autuação. Se ela não foi enviada, a multa "
        "não pode impedir o licenciamento (Súmulas 127 e 312 do STJ); confirme."
    )


@pytest.mark.parametrize(("record", "why", "note"), PAYMENTS)
def test_payment_is_said(record: dict[str, Any], why: str, note: str) -> None:
    found = assessed(record)
    assert found.status.payment.why == why
    assert say.payment_note(found) == note


@pytest.mark.parametrize(("code", "sent", "on", "why", "note"), AMOUNTS)
def test_amount_is_said(code: str, sent: str, on: date | None, why: str, note: str) -> None:
    amount = Decimal(sent) if sent else None
    found = assessed({"code": code, "amount": amount, "committed_on": on}).amount
    assert found.why == why
    assert say.amount_note(found) == note


def test_amount_of_two_infractions_is_said_without_a_table() -> None:
    amount = Amount(Decimal(99), "sent", "diverging", sent=Decimal(99))
    assert say.amount_note(amount) == (
        "Valor enviado pela fonte: código e descrição são de infrações diferentes, e a tabela não "
        "serve para conferir."
    )


@pytest.mark.parametrize(("paid", "words"), PAID_SUMS)
def test_paid_sum_is_said(paid: PaidSum, words: str) -> None:
    assert say.paid_words(paid) == words
    assert words.startswith(say.paid_sum(paid))


def test_each_reason_has_a_row() -> None:
    assert {why for _, why, *_ in STATUSES} == set(get_args(fine_status.Why))
    assert {why for _, why, _ in PAYMENTS} == set(get_args(paid_fines.Why))
    told = {why for *_, why, _ in AMOUNTS} | {"diverging", "no_single"}
    assert told == set(get_args(fine_amounts.Why))
