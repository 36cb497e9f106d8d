"""Dossier numbers in every spelling that a person may type, and links' keys."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.issued.identifiers import display_number, is_share_key, new_identifiers, parse_number


def test_new_identifiers_differ_and_have_their_format() -> None:
    made = [new_identifiers() for _ in range(1000)]
    assert len({each.number for each in made}) == len({each.key for each in made}) == 1000
    for number, key in made:
        assert re.fullmatch("[0-9A-HJKMNP-TV-Z]{12}", number)
        assert parse_number(number) == number
        assert is_share_key(key)
    for position in range(12):  # every character of the number is random
        assert len({each.number[position] for each in made}) > 25


@given(st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=12, max_size=12), st.data())
def test_every_spelling_of_a_number_is_understood(number: str, data: st.DataObject) -> None:
    misread = {"0": "0Oo", "1": "1IiLl"}
    choices = [st.sampled_from(misread.get(each, each + each.lower())) for each in number]
    hyphen = st.sampled_from(["", "-"])
    typed = "".join(data.draw(st.tuples(each, hyphen).map("".join)) for each in choices)
    assert parse_number(typed) == number
    assert parse_number(f" {display_number(number)} ") == number


def test_number_is_shown_in_three_groups() -> None:
    assert display_number("7F3K9QMD2XHA") == "7F3K-9QMD-2XHA"


@pytest.mark.parametrize(
    "text", ["", "7F3K-9QMD-2XH", "7F3K-9QMD-2XHAA", "7F3K-9QMD-2XHU", "７F3K9QMD2XHA", "٣" * 12]
)
def test_other_text_is_no_number(text: str) -> None:
    assert parse_number(text) is None


@pytest.mark.parametrize("text", ["", "a" * 21, "a" * 23, "a" * 21 + "=", "a" * 21 + "é"])
def test_other_text_is_no_key(text: str) -> None:
    assert not is_share_key(text)
