"""Capitals without accents become readable; codes and unknown words keep their letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.field import fold
from portal.vehicle.spelling import accented, name_case, sentence_case, spelled_like


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("AUTOMATICA", "Automática"),
        ("Alcool / Gasolina", "Álcool / Gasolina"),
        ("ALCOOL", "Álcool"),
        ("NOTIFICACAO DE AUTUACAO", "Notificação de autuação"),
        ("NAO EXIGIVEL", "Não exigível"),
        (
            "DIRIGIR VEICULO SEM POSSUIR CNH, PPD OU ACC",
            "Dirigir veículo sem possuir CNH, PPD ou ACC",
        ),
        ("CONSTA DETALHE RENAJUD", "Consta detalhe Renajud"),
        ("CVT", "CVT"),
        ("LICENCA PARA CONDUZIR", "Licença para conduzir"),
        ("", ""),
    ],
)
def test_sentence_case(sent: str, shown: str) -> None:
    assert sentence_case(sent) == shown


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("SAO PAULO", "São Paulo"),
        ("POLICIA RODOVIARIA FEDERAL", "Polícia Rodoviária Federal"),
        ("BR-040 KM 562", "BR-040 km 562"),
        ("AV GETULIO VARGAS, 33", "Av Getúlio Vargas, 33"),
        ("DETRAN SP", "Detran SP"),
        ("PREFEITURA MUNICIPAL DE SAO PAULO", "Prefeitura Municipal de São Paulo"),
        ("CET", "CET"),
        ("Av. Sao Joao, 12", "Av. São João, 12"),
    ],
)
def test_name_case(sent: str, shown: str) -> None:
    assert name_case(sent) == shown


def test_model_settles_accents_that_depend_on_the_sentence() -> None:
    model = "Transitar em velocidade superior à máxima permitida em até 20%"
    assert spelled_like("TRANSITAR EM VELOCIDADE SUPERIOR A MAXIMA", model) == (
        "Transitar em velocidade superior à máxima"
    )
    assert spelled_like("PARAR A NOITE", model) == "Parar a noite"


@given(st.text(alphabet="ABCÇÃÉ abc0123-/., ", max_size=40))
def test_spelling_changes_case_and_accents_only(text: str) -> None:
    for spell in (sentence_case, name_case, accented):
        assert fold(spell(text)) == fold(text)
