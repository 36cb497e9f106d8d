"""Reads the value of a field, which may be known, empty, hidden or unread.

A value, such as a chassis number, is hidden if the upstream knows it but withholds it. The upstream
then sends a marker text in place of the value (docs/contract.md, "Response fields"). No page may
show the marker as a value. Pages show hidden and empty fields differently.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from portal.wording import IGNORABLE, Removal, bare, is_shown

# "unread": the source names the field, and says that it could not read its value.
State = Literal["known", "empty", "hidden", "unread"]

# The upstream sends this marker without documenting it (docs/contract.md, "Observed values").
HIDDEN_MARKER = "INFORMACAO OCULTADA"

# Longer texts are cut at this number of characters, so that no text fills a page. Real texts are
# shorter.
FIELD_LIMIT = 2_000

# Unicode categories that ``clean`` removes. Control characters break HTML, and surrogates break
# UTF-8. Format characters (bidi overrides, zero-width characters, tags) can make a text look like
# another text, as can the variation selectors of IGNORABLE. Browsers show private and unassigned
# characters as boxes.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_WITHOUT_DROPPED = Removal(
    lambda c: c != "\n" and (unicodedata.category(c) in _DROPPED or IGNORABLE.match(c))
)
_BLANK = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n[ \n]*")


class Field(Struct, frozen=True):
    """The text of a field. A Field is truthy if its text is known."""

    value: str
    state: State = "known"

    def __bool__(self) -> bool:
        return self.state == "known"

    def __str__(self) -> str:
        return self.value

    @property
    def is_hidden(self) -> bool:
        return self.state == "hidden"


EMPTY = Field("", "empty")
HIDDEN = Field("", "hidden")
UNREAD = Field("", "unread")


def clean(text: str, *, limit: int = FIELD_LIMIT, lines: bool = False) -> str:
    """Return a text without unprintable characters, of at most ``limit`` characters.

    A cut text ends in "…". Line breaks become blanks unless ``lines`` is true.
    """
    # A hostile string may be very long, so cut it before examining each character. The factor 4
    # leaves room for characters that the next lines remove.
    text = text[: 4 * limit]
    # An ASCII text needs no further look, and most texts are ASCII.
    if (text.isascii() and text.isprintable()) or is_shown(text):  # so its only blanks are spaces
        text = text.strip()
        if "  " in text:
            text = " ".join(text.split())
    else:
        text = text.replace("\u2028", "\n").replace("\u2029", "\n")
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
        text = _BLANK.sub(" ", text.translate(_WITHOUT_DROPPED))
        text = _BLANK_LINES.sub("\n" if lines else " ", text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def fold(text: str) -> str:
    """Return a text in upper case, without accents or repeated blanks."""
    return " ".join(bare(text).split())


_folded_marker = lru_cache(maxsize=4)(fold)


def scalar_text(raw: object) -> str:
    """Return the text of a JSON number or text, or "" for another value.

    The text of a hidden value is the marker, in which callers find no number or date.
    """
    if isinstance(raw, str):
        return clean(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return ""
    try:
        return clean(str(raw))
    except ValueError:  # Python cannot convert an integer of more than 4,300 digits to a text
        return ""


def read_field(raw: object, marker: str) -> Field:
    """Read a JSON value as a Field, which is empty if the value is neither a number nor a text.

    A text that contains ``marker`` becomes HIDDEN, unless ``marker`` is "".
    """
    if raw == "":  # as sources send most missing values
        return EMPTY
    text = clean(raw) if isinstance(raw, str) else scalar_text(raw)
    if not text:
        return EMPTY
    # A text that has other words beside the marker is hidden as a whole.
    hidden = _folded_marker(marker)
    # A shorter text of ASCII characters cannot contain the marker. Most texts are short.
    if not hidden or (len(text) < len(hidden) and text.isascii()):
        return Field(text)
    # A clean text of ASCII characters is folded when it is in upper case.
    folded = text.upper() if text.isascii() else fold(text)
    return HIDDEN if hidden in folded else Field(text)
