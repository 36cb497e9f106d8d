"""Tests of what pages show of fields."""

from datetime import date

import pytest

from portal.dossier.details import Detail
from portal.presentation.fields import amount, definitions
from portal.vehicle.field import EMPTY, HIDDEN, UNREAD, Field

DAY, TODAY = date(2026, 1, 1), date(2026, 11, 1)


@pytest.mark.parametrize("text", ["a", '<b a="&">', "two\0parts <i>", "", "\0"])
def test_a_definition_list_shows_each_label_and_text_as_text(text: str) -> None:
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = shown.replace('"', "&#34;")
    rows = definitions([Detail("first", Field("1")), Detail(text, Field(text))])
    assert rows == (
        f"<div><dt>first</dt><dd>1</dd></div>\n<div><dt>{shown}</dt><dd>{shown}</dd></div>"
    )


@pytest.mark.parametrize("field", [EMPTY, HIDDEN, UNREAD])
def test_a_definition_list_says_why_a_value_is_missing(field: Field) -> None:
    assert "<dd><span class=" in definitions([Detail("a", field)])


def test_a_passed_deadline_says_on_screen_since_when() -> None:
    passed = [Detail("Prazo", Field("01/01/2026"), DAY)]
    assert '<dd class="past">01/01/2026</dd>' in definitions(passed)
    assert '<dd class="past">01/01/2026, há 10 meses</dd>' in definitions(passed, TODAY)


def test_an_unknown_amount_is_never_a_number() -> None:
    assert amount(None) == '<span class="empty">não informado</span>'
