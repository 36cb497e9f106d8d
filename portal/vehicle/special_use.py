"""Reads whether a vehicle is of a kind that the price table does not price: armoured, hired."""

import re
from typing import Final, Literal

from portal.fragments import any_of
from portal.vehicle.decode import Decoded
from portal.wording import bare

SpecialUse = Literal["armoured", "hired", "exempt", "collector"]
_USES: Final[tuple[tuple[SpecialUse, re.Pattern[str]], ...]] = (
    ("armoured", re.compile(r"\bBLINDA(D[OA]|GEM)\b|\bBLIND\.")),
    ("hired", re.compile(r"\bTAXI\b|\bALUGUEL\b|\bALUG\.")),
    ("exempt", re.compile(r"\bPCD\b|\bPNE\b|\bDEFICIEN(TE|CIA)\b")),
    ("collector", re.compile(r"\bCOLECAO\b|\bCOLECIONADOR\b")),
)
# Most texts have none of these, and each match of the patterns above has one.
_FRAGMENTS: Final = any_of("BLIND|TAXI|ALUG|PCD|PNE|DEFICIEN|COLEC")
_DENIED: Final = re.compile(r"\b(NAO|SEM|EXCETO)\b")


def special_uses_of(decoded: Decoded) -> frozenset[SpecialUse]:
    """Return what the texts of the vehicle's data, and of further members, say of its use."""
    further = (
        f"{statement.names} {statement.text}"
        for statement in decoded.further.statements
        if not statement.is_denied
    )
    texts = bare("\n".join((*(field.value for field in decoded.texts), *further)))
    if not _FRAGMENTS.search(texts):
        return frozenset()
    said = [text for text in texts.split("\n") if not _DENIED.search(text)]
    return frozenset(use for use, words in _USES if any(map(words.search, said)))
