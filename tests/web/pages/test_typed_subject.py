"""Hints about invalid plates and Renavams, which follow the contract's message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation import search_page
from portal.presentation.site.typed_subject import (
    padded_renavam,
    what_is_wrong,
    without_label,
)
from portal.web.pages.public import normalise_query
from tests.presentation.rendering import render
from tests.web.html_checker import check_html, text_of
from tests.web.page_client import PageClient

CONTRACT = "Por favor, informe uma placa válida."


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("1234567891", "Um Renavam tem 11 algarismos; aqui há 10."),
        ("123.456.789-101", "Um Renavam tem 11 algarismos; aqui há 12."),
        ("ABC12", "“ABC12” tem 5 dos 7 caracteres de uma placa."),
        ("abc-12", "“abc12” tem 5 dos 7 caracteres de uma placa."),
        ("ABCD1234", "“ABCD1234” tem 8 caracteres; uma placa tem 7."),
        ("ABCD123", "Uma placa tem 3 letras"),
        ("ÁBC1D23", "sem acento"),
        ("00000000000", "Um Renavam só de zeros não existe."),
        ("renavam 798318546", "aqui há 9. Documentos antigos omitem os zeros da frente."),
        ("", ""),
        (" - ", ""),
    ],
)
def test_hint_says_what_is_wrong(typed: str, expected: str) -> None:
    assert (expected in what_is_wrong(typed)) if expected else what_is_wrong(typed) == ""


@pytest.mark.parametrize("path", ["/placa/ABC12", "/buscar?q=ABC12"])
def test_hint_follows_the_contracts_message(buyer: PageClient, path: str) -> None:
    page = buyer.get(path, 400)
    assert f"{CONTRACT} “ABC12” tem 5 dos 7 caracteres de uma placa." in page.text


def test_renavam_of_ten_digits_gets_a_hint(buyer: PageClient) -> None:
    assert "Um Renavam tem 11 algarismos; aqui há 10." in buyer.get("/renavam/1234567891", 400).text


@pytest.mark.parametrize("typed", ["798.318.546", "0798318546", "Renavam: 798318546"])
def test_short_renavam_is_padded_on_request(buyer: PageClient, typed: str) -> None:
    page = buyer.get(f"/buscar?q={typed}", 400)
    (link,) = page.all("a", href="/renavam/00798318546")
    assert "00798318546" in text_of(link)


@pytest.mark.parametrize("typed", ["12345678", "123456789012", "000000000", "ABC12", ""])
def test_other_texts_are_not_padded(typed: str) -> None:
    assert padded_renavam(typed) == ""


@pytest.mark.parametrize(
    "typed", ["renavam 79831854647", "RENAVAM: 79831854647", "Renavam nº 798.318.546-47"]
)
def test_renavam_pasted_with_the_word_is_found(typed: str) -> None:
    assert normalise_query(typed) == "79831854647"


def test_word_renavam_without_number_stays() -> None:
    assert without_label("renavam") == "renavam"
    assert without_label("ABC1D23") == "ABC1D23"


@pytest.mark.parametrize("path", ["/buscar?q=00000000000", "/renavam/00000000000"])
def test_renavam_of_zeros_is_refused_as_invented(buyer: PageClient, path: str) -> None:
    assert "Um Renavam só de zeros não existe." in buyer.get(path, 400).text


def test_search_page_without_problem_has_no_hint() -> None:
    assert search_page(query="ABC12").hint == ""


@given(st.text(max_size=200))
def test_any_text_renders_a_valid_form(typed: str) -> None:
    html = render(search_page(query=typed, problem=CONTRACT))
    check_html(html)
    assert len(what_is_wrong(typed)) < 150
