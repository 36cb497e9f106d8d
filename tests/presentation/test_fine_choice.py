"""Tests of the filters and picked fines that a page's query string holds."""

import pytest

from portal.dossier.changes import MOST_FINES
from portal.presentation.query import kept_query
from portal.presentation.vehicle.fine_choice import (
    LONGEST_SEARCH,
    FineChoice,
    fine_choice,
    matches,
)
from portal.vehicle.field import fold


def choice_of(**sent: str) -> FineChoice:
    return fine_choice(kept_query(sent.items()))


def test_no_parameters_choose_nothing() -> None:
    assert fine_choice(()) == FineChoice()


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
    assert choice_of(**{name: value}) == FineChoice()


def test_search_drops_format_characters_and_is_limited() -> None:
    assert choice_of(busca="  sinal\u200b   vermelho\n").text == "sinal vermelho"
    assert len(choice_of(busca="x" * 5000).text) == LONGEST_SEARCH


def test_other_parameters_are_kept() -> None:
    choice = choice_of(periodo="5a", versao="2", completo="1", A="1", vazio="", uf="SP")
    assert choice.others == (("periodo", "5a"), ("versao", "2"))


def test_every_listed_fine_can_be_picked() -> None:
    numbers = range(1, MOST_FINES + 1)
    sent = [("versao", "2"), *(("marcada", str(number)) for number in numbers)]
    assert fine_choice(kept_query(sent)).picked == frozenset(numbers)


def test_search_finds_all_words_without_accents_or_case() -> None:
    text = fold("Avançar o sinal vermelho do semáforo Pref. São Paulo SP")
    assert matches("SEMAFORO avançar", text)
    assert matches("sao paulo", text)
    assert not matches("semáforo Campinas", text)
