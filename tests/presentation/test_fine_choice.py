"""Tests of the choices that the address of a page holds for its fines."""

from urllib.parse import parse_qs

import pytest

from portal.presentation import FineChoice, fine_choice
from portal.presentation.vehicle.fine_choice import LONGEST_SEARCH, NO_CHOICE, matches
from portal.vehicle import fold


def test_no_parameters_choose_nothing() -> None:
    assert fine_choice({}) == NO_CHOICE
    assert NO_CHOICE.query == ""
    assert not NO_CHOICE.is_filter


def test_choice_survives_its_own_query() -> None:
    choice = FineChoice(
        order="valor",
        situation="exigivel",
        state="SP",
        text="sinal vermelho",
        picked=frozenset({3, 12}),
        others=(("versao", "2"), ("periodo", "5a")),
    )
    assert fine_choice(parse_qs(choice.query)) == choice


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ordem", "preco"),
        ("ordem", "VALOR"),
        ("situacao", "todas"),
        ("situacao", "<b>"),
        ("uf", "XX"),
        ("uf", "sp"),
        ("busca", " \u200b\x00 "),
        ("marcada", "0"),
        ("marcada", "301"),
        ("marcada", "1e2"),
        ("marcada", "-1"),
        ("marcada", "١"),
    ],
)
def test_unknown_values_are_ignored(name: str, value: str) -> None:
    assert fine_choice({name: [value]}) == NO_CHOICE


def test_search_drops_format_characters_and_is_limited() -> None:
    assert fine_choice({"busca": ["  sinal\u200b   vermelho\n"]}).text == "sinal vermelho"
    assert len(fine_choice({"busca": ["x" * 5000]}).text) == LONGEST_SEARCH


def test_other_parameters_are_kept_within_limits() -> None:
    query = {
        "periodo": ["5a"],
        "versao": ["2", "3"],
        "completo": ["1"],
        "A": ["1"],
        "x" * 21: ["1"],
        "longo": ["y" * 41],
        "controle": ["a\nb"],
        "vazio": [""],
    }
    assert fine_choice(query).others == (("periodo", "5a"), ("versao", "2"))
    many = {f"n-{chr(97 + n)}": ["1"] for n in range(20)}
    assert len(fine_choice(many).others) == 8


def test_address_gets_the_choice_after_its_own_parameters() -> None:
    choice = fine_choice({"uf": ["SP"]})
    assert choice.address("/placa/ABC1D23") == "/placa/ABC1D23?uf=SP"
    assert choice.address("/placa/ABC1D23?completo=1") == "/placa/ABC1D23?completo=1&uf=SP"
    assert NO_CHOICE.address("/placa/ABC1D23") == "/placa/ABC1D23"


def test_search_finds_all_words_without_accents_or_case() -> None:
    text = fold("Avançar o sinal vermelho do semáforo Pref. São Paulo SP")
    assert matches("SEMAFORO avançar", text)
    assert matches("sao paulo", text)
    assert not matches("semáforo Campinas", text)
