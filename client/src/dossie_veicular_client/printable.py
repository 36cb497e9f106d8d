"""Texts of a portal or of its source, made harmless for a terminal or a model.

A record may contain anything: escape sequences that set a terminal's title or clipboard, characters
that reverse the reading direction, invisible letters.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

# Control characters but tab and line feed, the separators U+2028 and U+2029, format characters
# (directions, zero-width letters, tags), surrogates, and variation selectors.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BREAKS: Final = re.compile("\r\n|[\r\u2028\u2029\x85]")


def printable(text: str) -> str:
    """Return a text without invisible characters and those that a terminal obeys."""
    return _UNSEEN.sub("", _BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    return " ".join(printable(text).split())


def printable_json(document: object, *, indent: int | None = 2) -> str:
    """Return JSON of the same document, in which those characters are escaped."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=separators)
    return _UNSEEN.sub(_escape, text)


def cleaned(value: Any) -> Any:
    """Return a JSON value whose texts are printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(key)): cleaned(inner) for key, inner in value.items()}
    return [cleaned(inner) for inner in value] if isinstance(value, list) else value


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
