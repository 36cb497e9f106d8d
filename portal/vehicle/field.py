"""One scalar of a record in one of three states: known, empty or hidden.

The states are kept apart because a page must not confuse them: a hidden chassis number is not a
missing one, and the marker's text is not a value (contract, rule 8).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from portal.wording import bare

State = Literal["known", "empty", "hidden"]

# The observed marker (docs/contract.md, "Observed values"). The contract does not name it.
HIDDEN_MARKER = "INFORMACAO OCULTADA"

# In characters, more than any real field has. The limit keeps one oversized string from filling a
# page.
FIELD_LIMIT = 2_000

# Unicode categories to drop. Controls and surrogates break HTML or its encoding. Format
# characters (bidi overrides, zero widths, tags) make a text look like another one. Private and
# unassigned characters are displayed as boxes.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BLANK = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n[ \n]*")


@dataclass(frozen=True, slots=True)
class Field:
    """A scalar text. Falsy unless known; ``str()`` is the value, or "" if none."""

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
    """Return printable text on one line, clipped to ``limit`` characters with "…".

    With ``lines`` the line breaks are kept.
    """
    # The text is cut before each character is examined, because a hostile string may be long and
    # consist mostly of controls.
    text = text[: 4 * limit].replace("\u2028", "\n").replace("\u2029", "\n")
    if not text.isprintable():
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
        text = "".join(c for c in text if c == "\n" or unicodedata.category(c) not in _DROPPED)
    text = _BLANK.sub(" ", text)
    text = _BLANK_LINES.sub("\n" if lines else " ", text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def fold(text: str) -> str:
    """Convert to upper case, without accents, single-spaced, to compare spellings."""
    return " ".join(bare(text).split())


def read_field(raw: object, marker: str) -> Field:
    """Read any JSON value as a Field: a number as its text, other types as empty.

    A text that contains ``marker`` is hidden; with an empty marker no text is.
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
    # A marker inside a longer text still hides something, so containment is tested, not
    # equality. With equality the marker's text would be displayed.
    hidden = fold(marker)
    return HIDDEN if hidden and hidden in fold(text) else Field(text, "known")
