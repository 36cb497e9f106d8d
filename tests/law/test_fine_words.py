"""Words of a status that once read better, or surer, than they are."""

from datetime import date

import pytest

from portal.dossier.details import fine_rows
from portal.law.assessment import AssessedFine
from portal.law.record_findings import fine_findings
from portal.phrasebook import deadlines as say
from portal.phrasebook.findings import consequence
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


def test_reason_quotes_what_casts_doubt_on_a_payment() -> None:
    paid = payment(dataPagamento="01/07/2026", valorPago="130.16")
    (finding,) = fine_findings([assessed(tipo="PAGAMENTO ESTORNADO", pagamento=paid)])
    said = "a fonte registra “PAGAMENTO ESTORNADO”; pode impedir a transferência"
    assert consequence(finding) == said


@pytest.mark.parametrize(
    ("sent", "code", "shown"),
    [
        ("0,38", "5169", "0,38 (a fonte não diz a unidade)"),
        ("60.0", "7455", "60 km/h"),
        ("080", "7455", "80 km/h"),
        ("60.5", "7455", "60,5 km/h"),
        ("16000 KG", "6831", "16.000 kg"),
        ("80 km/h", "7455", "80 km/h"),
        ("16.000", "6831", "16.000"),
        ("ilegivel", "7455", "ilegivel"),
    ],
)
def test_measure_is_shown_as_a_number_with_its_unit(sent: str, code: str, shown: str) -> None:
    found = assessed(medicaoReal=sent, codigoInfracao=code, descricao="")
    rows = {row.label: str(row.field) for row in fine_rows(found, "screen")}
    assert rows["Medido"] == shown


def test_penalty_of_the_day_of_the_notice_may_be_one_date_sent_twice() -> None:
    found = assessed(dataEmissaoPenalidade="25/03/2026").penalty
    assert "no mesmo dia da notificação da autuação: a fonte pode ter repetido" in say.sentence(
        found
    )
    assert " 0 dias" not in say.sentence(found)


def test_fine_without_a_notice_is_told_in_one_voice() -> None:
    assert assessed(dataEmissaoNotificacao="").status.remarks == ("never_notified",)
