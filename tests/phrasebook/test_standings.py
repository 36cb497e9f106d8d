"""Each standing of a fine has its words."""

import pytest
from msgspec.structs import asdict

from portal.law.standing import Standing
from portal.phrasebook.standings import WORDS

# The paid fine's words: it has no consequence.
_OF_PAID = ("standing", "word", "of_one", "of_many", "clause")


@pytest.mark.parametrize("standing", Standing)
def test_standing_has_every_word(standing: Standing) -> None:
    words = asdict(WORDS[standing])
    names = _OF_PAID if standing is Standing.PAID else words
    assert all(words[name] for name in names)
    assert not words["why"] or words["why"].endswith(".")
