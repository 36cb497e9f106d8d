"""The visitor's choices in the query of a page's URL, such as the version in the price chart.

A link that changes one choice keeps all other choices.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlencode

from portal.wording import IGNORABLE

Query = tuple[tuple[str, str], ...]

_MOST: Final = 320  # parameters: one for each of the 300 fines of a page, and 20 others
_LONGEST: Final = 64
_NAME: Final = re.compile(r"[a-z][a-z_-]{0,19}")


def kept_query(sent: Iterable[tuple[str, str]]) -> Query:
    """Return the parameters whose names match _NAME, at most _MOST of them.

    Control and format characters, which a pasted text may contain, are removed from the values.
    Values are cut to _LONGEST characters.
    """
    kept = [(name, _plain(value)) for name, value in sent if _NAME.fullmatch(name)]
    return tuple(kept[:_MOST])


def chosen(query: Query, name: str) -> str:
    """Return the first value of a parameter, or "" if the query lacks it."""
    return next((value for key, value in query if key == name), "")


def _plain(value: str) -> str:
    plain = (c for c in value[: 4 * _LONGEST] if not unicodedata.category(c).startswith("C"))
    return IGNORABLE.sub("", "".join(plain))[:_LONGEST]


def changed(query: Query, **changes: str) -> str:
    """Return the changed query as a text such as "?versao=2", or "" if no parameter is left.

    ``changes`` has the new values by parameter name. The value "" removes the parameter.
    """
    pairs = [(key, value) for key, value in query if key not in changes]
    pairs += [(key, value) for key, value in changes.items() if value]
    return f"?{urlencode(pairs)}" if pairs else ""
