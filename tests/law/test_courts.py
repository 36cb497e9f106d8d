"""Courts and court bodies are spelled readably; unknown ones are unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.courts import court_body_name, courts, find_court, has_wrong_check_digits
from portal.law.orders import AssessedOrder, conflicts_of
from tests.law.records import TODAY, court_of, restriction


def court_name(text: str) -> str:
    return AssessedOrder(restriction(court=text), TODAY).court


@pytest.mark.parametrize(
    ("text", "acronym"),
    [
        ("TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS", "TJMG"),
        ("TJ-MG", "TJMG"),
        ("TJ-MG-TRIBUNAL DE JUSTICA", "TJMG"),
        ("Tribunal de Justiça de Minas Gerais", "TJMG"),
        ("tjdf", "TJDFT"),
        ("TRIBUNAL DE JUSTICA DO ESTADO DE MINAS GERAIS", "TJMG"),
        ("TJPA-TRIBUNAL DE JUSTICA DO ESTADO DO PARA", "TJPA"),
        ("TRIBUNAL DE JUSTIÇA DO ESTADO DA BAHIA", "TJBA"),
        ("TRT 2A REGIAO", "TRT2"),
        ("TRT DA 3ª REGIAO", "TRT3"),
        ("TRF DA 1ª Região", "TRF1"),
        ("TRT-15ª REGIÃO", "TRT15"),
        ("TRT 3", "TRT3"),
        ("TRF01-TRIBUNAL REGIONAL FEDERAL", "TRF1"),
        ("JF-SP", "JFSP"),
        ("TJM-SP", "TJMSP"),
    ],
)
def test_court_is_found_by_acronym_alias_or_name(text: str, acronym: str) -> None:
    assert court_of(text).acronym == acronym


def test_every_court_is_found_by_name_and_printed_form() -> None:
    assert len(courts()) == 119
    for court in courts():
        assert find_court(court.acronym) == court
        assert find_court(court.name) == court
        assert find_court(f"{court.acronym}-{court.name.upper()}") == court


def test_court_name_includes_the_acronym() -> None:
    sent = "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS"
    assert court_name(sent) == "TJMG – Tribunal de Justiça de Minas Gerais"


def test_case_number_identifies_an_unnamed_court() -> None:
    assert court_of("", "5001234-56.2025.8.13.0024").acronym == "TJMG"
    assert court_of("", "50012345620255030024").acronym == "TRT3"
    assert court_of("", "5001234-56.2025.4.01.0024").acronym == "TRF1"
    assert court_of("TJSP", "5001234-56.2025.8.13.0024").acronym == "TJSP"


@pytest.mark.parametrize(
    "text", ["", "-", "TRIBUNAL DE OUTRO LUGAR", "04355", "TRF", "1", "TRT 99A REGIAO"]
)
def test_unknown_court_is_returned_unchanged(text: str) -> None:
    assert find_court(text) is None
    assert court_name(text) == text


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("04355-VIGESIMA TERCEIRA VARA CIVEL", "23ª Vara Cível"),
        ("VIGÉSIMA TERCEIRA VARA CÍVEL", "23ª Vara Cível"),
        ("DECIMA PRIMEIRA VARA DE FAMILIA E SUCESSOES", "11ª Vara de Família e Sucessões"),
        ("CENTESIMA VIGESIMA SEGUNDA VARA", "122ª Vara"),
        ("SEGUNDO JUIZADO ESPECIAL DA FAZENDA PUBLICA", "2º Juizado Especial da Fazenda Pública"),
        ("PRIMEIRA SEGUNDA VARA", "1ª 2ª Vara"),
        ("UNDECIMA VARA", "11ª Vara"),
        ("DUODÉCIMA VARA CIVEL", "12ª Vara Cível"),
        ("SETUAGESIMA SEGUNDA VARA DO TRABALHO", "72ª Vara do Trabalho"),
        ("1A VARA DO TRABALHO DE BELO HORIZONTE", "1ª Vara do Trabalho de Belo Horizonte"),
        ("2ª VARA DA COMARCA DE SAO JOAO DEL REI", "2ª Vara da Comarca de São João Del Rei"),
        ("12 VARA CIVEL", "12ª Vara Cível"),
        ("VARA UNICA", "Vara Única"),
        ("3ª Vara Cível (Lourdes)", "3ª Vara Cível (Lourdes)"),
        ("04355-", "04355-"),
        ("123", "123"),
        ("", ""),
    ],
)
def test_court_body_is_spelled_readably(sent: str, shown: str) -> None:
    assert court_body_name(sent) == shown


@given(st.text(max_size=40), st.text(max_size=30))
def test_court_functions_never_raise(text: str, case: str) -> None:
    find_court(text, case)
    court_body_name(text)
    assert court_name(text) or not text.strip()


def test_region_without_its_sign_and_a_short_division_are_read() -> None:
    found = find_court("TRIBUNAL REGIONAL DO TRABALHO DA 15 REGIAO")
    assert found is not None and found.acronym == "TRT15"
    assert court_body_name("2 VF CURITIBA") == "2ª VF Curitiba"


@pytest.mark.parametrize(
    ("case", "is_wrong"),
    [
        ("0000001-39.2024.8.26.0100", False),
        ("00000013920248260100", False),
        ("0000001-00.2024.8.26.0100", True),
        ("Autos 0000001-93.2024.8.26.0100, 2ª Vara", True),
        ("123/2020", False),
        ("", False),
    ],
)
def test_check_digits_of_a_case_number(case: str, is_wrong: bool) -> None:
    """Res. CNJ 65/2008, modulo 97. The note stands beside the order."""
    assert has_wrong_check_digits(case) is is_wrong
    order = AssessedOrder(restriction("TRANSFERENCIA", case=case), TODAY)
    assert ("check_digits" in [each.code for each in conflicts_of(order)]) is is_wrong
