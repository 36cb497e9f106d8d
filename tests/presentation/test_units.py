"""People count plates, and operators count calls: no page counts "consultas"."""

import re

import pytest

from tests.presentation.checked_pages import checked
from tests.presentation.specimens import PAGES
from tests.web.html_checker import text_of

COUNTED = re.compile(r"\b\d[\d.]*\sconsultas?\b|\bconsultas por dia\b")


@pytest.mark.parametrize("name", PAGES)
def test_no_page_counts_lookups_for_people(name: str) -> None:
    text = text_of(checked(name))
    assert not [found[0] for found in COUNTED.finditer(text)]
