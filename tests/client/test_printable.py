"""Invisible characters, and those that a terminal obeys, are not printed."""

import json
import unicodedata

import pytest
from dossie_veicular_client.printable import cleaned, one_line, printable, printable_json

HOSTILE = {
    "ESC": "\x1b[2J",
    "OSC 52": "\x1b]52;c;cm0=\x07",
    "C1": "\x9b31m",
    "NUL": "a\x00b",
    "bidi": "\u202e\u2066\u200f\u061c",
    "variation selectors": "\ufe0f\ufe00\U000e0100\U000e01ef",
    "tags": "\U000e0041",
    "zero width": "\u200b\ufeff\u2060",
    "separators": "a\u2028b\u2029c",
    "surrogate": "\udcff",
    "return": "shown\rhidden",
    "backspace": "a\x08b",
}


def is_harmless(text: str) -> bool:
    kinds = {unicodedata.category(each) for each in text if each not in "\n\t"}
    selectors = any("\ufe00" <= each <= "\ufe0f" or each >= "\U000e0100" for each in text)
    return not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"} and not selectors


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_becomes_harmless(name: str) -> None:
    text = f"Laudo {HOSTILE[name]} ✅ ção"
    assert is_harmless(printable(text))
    assert "✅ ção" in printable(text)
    assert "\n" not in one_line(text)
    written = printable_json({text: [text]})
    assert is_harmless(written)
    assert json.loads(written) == {text: [text]}
    assert is_harmless(json.dumps(cleaned({text: [text]}), ensure_ascii=False))
