"""When a fine counts as paid, and how exact the paid amount is."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from portal.law.assessment import AssessedFine, totals
from portal.law.fine_amounts import Amount
from portal.law.paid_fines import paid_sum
from tests.law.records import fine, known

TODAY = date(2026, 11, 21)
PAID = fine(
    code="7455",
    amount=Decimal(130),
    committed_on=date(2026, 3, 10),
    penalty_on=date(2026, 6, 10),
    paid_on=date(2026, 7, 25),
    paid_amount=Decimal(130),
)
OWED = Amount(Decimal("293.47"), "table", "as_sent", matches=True)


@pytest.mark.parametrize(
    ("sent", "value", "share"),
    [("234", "234.78", 80), ("176", "176.08", 60), ("293", "293.47", 100)],
)
def test_cut_cents_are_restored_from_the_table(sent: str, value: str, share: int) -> None:
    paid = paid_sum(Decimal(sent), OWED)
    assert (paid.value, paid.is_exact) == (Decimal(value), True)
    assert (paid.why, paid.share, paid.sent) == ("of_table", share, Decimal(sent))


@pytest.mark.parametrize("sent", ["234.78", "293.47", "250.10", "250.00"])
def test_sum_with_cents_is_kept_as_sent(sent: str) -> None:
    paid = paid_sum(Decimal(sent), OWED)
    assert (paid.value, paid.is_exact, paid.why) == (Decimal(sent), True, "as_sent")


def test_whole_number_that_is_no_share_is_not_exact() -> None:
    paid = paid_sum(Decimal(1250), OWED)
    assert (paid.is_exact, paid.why) == (False, "may_lack_cents")


def test_cents_are_not_restored_without_a_table() -> None:
    assert not paid_sum(Decimal(130), Amount(Decimal(130), "sent", "unlisted")).is_exact


@pytest.mark.parametrize("sent", [None, Decimal(-1), Decimal("NaN"), Decimal("1e400")])
def test_implausible_sum_has_no_value(sent: Decimal | None) -> None:
    assert paid_sum(sent, OWED).value is None


def test_zero_is_an_exact_sum() -> None:
    paid = paid_sum(Decimal("0.00"), OWED)
    assert (paid.value, paid.is_exact, paid.why) == (Decimal(0), True, "as_sent")


@pytest.mark.parametrize(
    "status",
    [
        *("PAGAMENTO ESTORNADO", "PAGAMENTO CANCELADO", "DEVOLVIDO", "REJEITADO", "REATIVADA"),
        *("NAO CONFIRMADO", "ABERTA", "EM COBRANCA", "INADIMPLENTE", "PROTESTADA", "EM DEBITO"),
        *("SALDO DEVEDOR", "PAGO A MENOR", "VALOR INSUFICIENTE", "PAGO PARCIALMENTE"),
        *("Pagamento parcial", "PAGA EM PARTE", "PARCELADA", "SUB JUDICE", "EM RECURSO"),
        *("PAGO 1 DE 3", "1/3", "MULTA 2 DE 3", "PAGO 50%", "PAGAS 2", "1-3"),
        *("A PAGAR", "EM ABERTO", "NÃO PAGA", "SEM PAGAMENTO", "CANCELADA", "VENCIDA", "??x"),
    ],
)
def test_status_beside_a_payment_makes_it_doubtful(status: str) -> None:
    found = AssessedFine(replace(PAID, kind=known(status)), TODAY)
    assert (found.standing, found.status.quoted) == ("unknown", status)
    payment = found.status.payment
    assert (payment.why, payment.on, payment.text) == ("contradicted", PAID.paid_on, status)
    assert totals([found]).amount == Decimal("130.16")


@pytest.mark.parametrize(
    "status",
    [
        *("", "PAGA", "Paga", "PAGO", "QUITADA", "LIQUIDADA", "BAIXADA", "BAIXADA POR PAGAMENTO"),
        *("QUITADA VIA SNE", "3 - PAGA", "PAGO EM 2026-07-25", "PAGO À VISTA"),
        *("PAGAMENTO EFETUADO", "PAGAMENTO CONFIRMADO EM 25/07/2026", "PAGA COM DESCONTO DE 20%"),
        *("PAGA INTEGRALMENTE", "QUITAÇÃO TOTAL", "PAGA PELO SNE", "NAO EXIGIVEL", "INEXIGÍVEL"),
        *("MULTA", "PENALIDADE", "NOTIFICACAO DE PENALIDADE", "MULTA COM NOTIFICAÇÃO DE AUTUAÇÃO"),
    ],
)
def test_status_that_agrees_with_a_payment_keeps_it(status: str) -> None:
    kind = known(status) if status else PAID.kind
    assert AssessedFine(replace(PAID, kind=kind), TODAY).is_paid


@pytest.mark.parametrize("sent", ["50", "1", "0.01", "77", "90", "103", "129.99"])
def test_sum_that_cannot_settle_a_fine_makes_its_payment_doubtful(sent: str) -> None:
    found = AssessedFine(replace(PAID, paid_amount=Decimal(sent)), TODAY)
    assert (found.standing, found.status.payment.why) == ("unknown", "too_little")
    assert totals([found]).amount == Decimal("130.16")
    # A word that says "paid" does not replace the missing part.
    assert not AssessedFine(
        replace(PAID, paid_amount=Decimal(sent), kind=known("PAGA")), TODAY
    ).is_paid


@pytest.mark.parametrize("sent", ["130", "130.16", "104", "104.13", "78", "78.10", "195.20"])
def test_full_or_discounted_sum_settles_a_fine(sent: str) -> None:
    assert AssessedFine(replace(PAID, paid_amount=Decimal(sent)), TODAY).is_paid


@pytest.mark.parametrize("sent", ["50", "999"])
def test_sum_that_is_no_payment_is_told_without_a_day(sent: str) -> None:
    found = AssessedFine(replace(PAID, paid_on=None, paid_amount=Decimal(sent)), TODAY)
    assert found.standing != "unknown" and found.is_open
    assert found.status.remarks[0] == "amount_alone"


def test_discounted_sum_after_the_due_date_may_be_short() -> None:
    late = replace(PAID, paid_amount=Decimal("104.13"), paid_on=date(2026, 11, 1))
    found = AssessedFine(late, TODAY)
    assert found.is_paid
    assert found.status.payment.why == "paid_short"
    in_time = AssessedFine(replace(late, paid_on=date(2026, 7, 9)), TODAY)
    assert in_time.status.payment.why == "paid"


@pytest.mark.parametrize(
    ("beside", "quoted"),
    [
        ({"payment_registered_on_text": known("ESTORNADO EM 30/07/2026")}, "ESTORNADO EM"),
        ({"paid_amount": None, "paid_amount_text": known("PARCIAL")}, "PARCIAL"),
        ({"paid_amount": None, "paid_amount_text": known("-130,16")}, "-130,16"),
        ({"paid_state": known("ESTORNADO")}, "ESTORNADO"),
        ({"paid_state": known("MG - PARCIAL")}, "MG - PARCIAL"),
    ],
)
def test_other_texts_of_a_payment_can_make_it_doubtful(beside: dict[str, Any], quoted: str) -> None:
    found = AssessedFine(replace(PAID, **beside), TODAY)
    assert found.standing == "unknown"
    assert found.status.payment.why == "contradicted"
    assert found.status.quoted.startswith(quoted)


@pytest.mark.parametrize("state", ["MG", "Minas Gerais", "BR", "mg"])
def test_state_beside_a_payment_keeps_it(state: str) -> None:
    assert AssessedFine(replace(PAID, paid_state=known(state)), TODAY).is_paid
