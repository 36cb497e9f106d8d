"""One scalar of a record: what the source said, that it said nothing, or that it hides it.

Three states, because the reader of a page must never mistake one for another: a hidden
chassis is not a missing one, and the marker's text is not a value (contract, rule 8).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

State = Literal["known", "empty", "hidden"]

# The marker seen on the wire; the contract promises a fixed text, not this one.
HIDDEN_MARKER = "INFORMACAO OCULTADA"

# Long enough for every real field, short enough that one absurd string cannot fill a page.
FIELD_LIMIT = 2_000

# Controls and surrogates break HTML or its encoding; format characters (bidi overrides, zero
# widths, tags) make a text look like another one; private and unassigned ones show as boxes.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BLANK = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n[ \n]*")


@dataclass(frozen=True, slots=True)
class Field:
    """A scalar text. Falsy unless known; ``str()`` is the value, or "" where there is none."""

    value: str = ""
    state: State = "empty"

    def __bool__(self) -> bool:
        return self.state == "known"

    def __str__(self) -> str:
        return self.value

    @property
    def is_hidden(self) -> bool:
        return self.state == "hidden"


EMPTY = Field()
HIDDEN = Field(state="hidden")


def clean(text: str, *, limit: int = FIELD_LIMIT, lines: bool = False) -> str:
    """Printable text on one line, or with ``lines`` its line breaks kept; clipped with "…"."""
    # Controls may make up most of a hostile string: cut it before looking at each character.
    text = text[: 4 * limit].replace("\u2028", "\n").replace("\u2029", "\n")
    if not text.isprintable():
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
        text = "".join(c for c in text if c == "\n" or unicodedata.category(c) not in _DROPPED)
    text = _BLANK.sub(" ", text)
    text = _BLANK_LINES.sub("\n" if lines else " ", text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def plain(text: str) -> str:
    """Upper case, no accents, blanks as they stand; of a text what it is of its characters."""
    if text.isascii():
        return text.upper()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).upper()


def fold(text: str) -> str:
    """Upper case, no accents, single spaces: how two spellings of one word are compared."""
    return " ".join(plain(text).split())


def read_field(raw: object, marker: str) -> Field:
    """A Field out of any JSON value: numbers become their text, other types read as empty.

    A text that holds ``marker`` is hidden; with an empty marker nothing is.
    """
    if isinstance(raw, bool):
        return EMPTY
    if isinstance(raw, int | float):
        try:
            raw = str(raw)
        except ValueError:  # CPython refuses to print integers beyond 4,300 digits
            return EMPTY
    if not isinstance(raw, str):
        return EMPTY
    text = clean(raw)
    if not text:
        return EMPTY
    # A marker inside a longer text still hides something: "is it the marker" would leak it.
    hidden = fold(marker)
    return HIDDEN if hidden and hidden in fold(text) else Field(text, "known")
