"""What the records add to the checklist; links on subjects without records are official."""

from typing import get_args
from urllib.parse import urlsplit

import pytest

from portal.law.checklist import ADVICE, UNVERIFIED, ChecklistLine, Situation


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
    assert not [item.title for item in UNVERIFIED if item.ask[-1] == "." or not item.ask]


def test_subject_without_official_service_has_no_link() -> None:
    without = {item.key for item in UNVERIFIED if item.link is None}
    assert without == {
        *("roubo-e-furto", "leilao", "hodometro", "identificacao"),
        *("divida-ativa", "certidoes-do-vendedor"),
    }
    assert not any(item.link_name for item in UNVERIFIED if item.link is None)


@pytest.mark.parametrize(
    "item", [item for item in UNVERIFIED if item.link], ids=lambda item: item.key
)
def test_link_of_an_unverified_subject_is_https_under_gov_br(item: ChecklistLine) -> None:
    address = urlsplit(item.link)
    assert address.scheme == "https"
    assert address.hostname == "gov.br" or (address.hostname or "").endswith(".gov.br")
    assert not (address.query or address.fragment or address.username or address.port)
    assert item.link_name
