"""The table's name of a version, in words: ``SED.1.8/1.8 Ambit.`` is "Sedan 1.8 Ambition".

Only spellings that mean one thing are written out. A name keeps all that it says.
"""

import re
from collections.abc import Mapping
from typing import Final

# In capitals, without the point at their end.
_WORDS: Final[Mapping[str, str]] = {
    "SED": "Sedan",
    "AMBIT": "Ambition",
    "ATTRACT": "Attraction",
    "AUT": "automático",
    "AUTOM": "automático",
    "MEC": "manual",
    "DIES": "Diesel",
    "CD": "cabine dupla",
    "CS": "cabine simples",
    "COMF": "Comfort",
    "CONFORT": "Comfort",
    "HIGHL": "Highline",
    "TREND": "Trend",
    "AVANC": "Avançado",
}
# A word and its point, which nothing separates from the next word: "SED.1.8".
_CUT: Final = re.compile(r"(?<![\w.])([A-Za-z]{2,8})\.(?=\S)")
# The same displacement twice: "1.8/1.8".
_TWICE: Final = re.compile(r"\b(\d\.\d)/\1\b")


def version_name(text: str) -> str:
    """Return a version's name with the abbreviations of the table written out."""
    spaced = _TWICE.sub(r"\1", _CUT.sub(r"\1. ", text))
    return " ".join(_WORDS.get(word.rstrip(".").upper(), word) for word in spaced.split())
