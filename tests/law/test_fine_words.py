"""Words of a status that once read better, or surer, than they are."""

from datetime import date

import pytest

from portal.law.assessment import AssessedFine
from portal.vehicle.fines import read_fines
from tests.factories import fine, payment

TODAY = date(2026, 11, 28)
DATES = {
    "dataInfracao": "10/03/2026",
    "dataEmissaoNotificacao": "25/03/2026",
    "dataEmissaoPenalidade": "10/06/2026",
}


def assessed(**given: object) -> AssessedFine:
    (record,) = read_fines([fine(**DATES | given)], "")
    return AssessedFine(record, TODAY)


@pytest.mark.parametrize(
    ("word", "standing"),
    [
        ("BAIXADA POR PAGAMENTO", "unknown"),
        ("BAIXA POR PAGAMENTO", "unknown"),
        ("BAIXADA DA DIVIDA ATIVA", "unknown"),
        ("EXCLUIDA DA DIVIDA ATIVA", "unknown"),
        ("CANCELAMENTO", "unknown"),
        ("CANCELAMENTO DA MULTA", "unknown"),
        ("N", "unknown"),
        ("1", "unknown"),
        ("MULTA ANULADA RECURSO", "called_off"),
        ("ARQUIVADA ART 281", "called_off"),
        ("CONVERTIDA EM ADVERTENCIA ART 267", "called_off"),
        # These still mean what they meant.
        ("RECURSO CANCELADO", "enforceable"),
        ("INSCRITA EM DIVIDA ATIVA", "enforceable"),
        ("3 - PENALIDADE", "enforceable"),
        ("", "enforceable"),
    ],
)
def test_status_beside_a_penalty(word: str, standing: str) -> None:
    assert assessed(tipo=word).standing == standing


def test_defence_beside_a_penalty_is_a_contradiction() -> None:
    assert "penalty_ends_defence" in assessed(tipo="EM DEFESA PREVIA").status.remarks


@pytest.mark.parametrize(
    ("word", "is_paid"),
    [
        *((word, False) for word in ("BOLETO REGISTRADO", "BOLETO", "PIX", "VIA BANCO")),
        *((word, True) for word in ("BOLETO PAGO", "PAGO PIX", "BAIXADA BANCO", "")),
    ],
)
def test_means_of_paying_names_no_payment(word: str, is_paid: bool) -> None:
    paid = payment(dataPagamento="01/07/2026", valorPago="130.16")
    assert assessed(tipo=word, pagamento=paid).is_paid == is_paid


def test_fine_without_a_notice_is_told_in_one_voice() -> None:
    assert assessed(dataEmissaoNotificacao="").status.remarks == ("never_notified",)
