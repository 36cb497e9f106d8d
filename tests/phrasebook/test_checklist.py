"""The words of the checklist: each line and each situation has some, and links are official."""

from typing import get_args
from urllib.parse import urlsplit

import pytest

from portal.law.checklist import LINES, UNVERIFIED, Situation
from portal.phrasebook.checklist import ADVICE, WORDS, LineWords
from portal.phrasebook.shop_sheet import TEXTS


def test_every_situation_has_an_advice_and_every_line_a_first_title() -> None:
    assert {advice.situation for advice in ADVICE} == set(get_args(Situation))
    lines = {advice.line for advice in ADVICE} - {item.key for item in UNVERIFIED}
    assert lines == {"justica", "multas", "depois"}
    first = {advice.line: advice for advice in reversed(ADVICE) if advice.line in lines}
    assert all(first[line].title for line in lines)
    # Any open fine or order in force has one of these situations, so that its line has a title.
    titled = {advice.situation for advice in ADVICE if advice.title and advice.ask}
    assert titled == {
        "restrictions_unavailable",
        "court_order",
        "block_of_others",
        "fines_unavailable",
        "open_fine",
    }


def test_texts_are_sentences() -> None:
    for advice in ADVICE:
        assert advice.text.endswith("."), advice
        assert advice.sentence.endswith("."), advice
        assert not advice.title.endswith("."), advice
    assert not [each.title for each in WORDS.values() if each.ask[-1] == "." or not each.ask]


def test_each_line_and_each_item_of_the_law_has_its_words() -> None:
    assert [*WORDS] == [line.key for line in LINES]
    assert {line.law for line in LINES} - {""} == set(TEXTS.items)


def test_subject_without_official_service_has_no_link() -> None:
    without = {line.key for line in UNVERIFIED if WORDS[line.key].link is None}
    assert without == {
        *("roubo-e-furto", "leilao", "hodometro", "identificacao"),
        *("divida-ativa", "certidoes-do-vendedor"),
    }
    assert not any(WORDS[key].link_name for key in without)


@pytest.mark.parametrize(
    "words",
    [words for words in WORDS.values() if words.link],
    ids=[key for key, words in WORDS.items() if words.link],
)
def test_link_of_an_unverified_subject_is_https_under_gov_br(words: LineWords) -> None:
    address = urlsplit(words.link)
    assert address.scheme == "https"
    assert address.hostname == "gov.br" or (address.hostname or "").endswith(".gov.br")
    assert not (address.query or address.fragment or address.username or address.port)
    assert words.link_name
