"""Hints about invalid plates and Renavams, which follow the contract's message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation import search_page
from portal.presentation.site.typed_subject import what_is_wrong
from tests.presentation.rendering import render
from tests.web.html_checker import check_html
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
        ("ABCD123", "Uma placa tem três letras"),
        ("ÁBC1D23", "sem acento"),
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


def test_search_page_without_problem_has_no_hint() -> None:
    assert search_page(query="ABC12").hint == ""


@given(st.text(max_size=200))
def test_any_text_renders_a_valid_form(typed: str) -> None:
    html = render(search_page(query=typed, problem=CONTRACT))
    check_html(html)
    assert len(what_is_wrong(typed)) < 150
