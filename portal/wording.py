"""Formats money, numbers, dates and lists as in CLDR's locale pt_BR (Brazil).

No function here accepts None. ``portal.formats`` formats missing values.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

NO_BREAK_SPACE: Final = "\u00a0"
MINUS: Final = "\u2212"
# A hyphen, and the dashes that word processors and phones put in its place. The hyphen comes first,
# because at any other place inside a regular expression's ``[...]`` it could mean a range.
DASHES: Final = "-‐‑–—−"
_HYPHENS: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
MONTHS: Final = (
    *("janeiro", "fevereiro", "março", "abril", "maio", "junho"),
    *("julho", "agosto", "setembro", "outubro", "novembro", "dezembro"),
)


class Removal(dict[int, int | None]):
    """A table for ``str.translate`` that removes the characters for which ``is_removed`` is true.

    The characters of ``spaced`` become blanks. The table learns each character below U+3000 when it
    first occurs, because a look-up of a missing key takes as long as a generator's step.
    """

    def __init__(self, is_removed: Callable[[str], object], spaced: str = "") -> None:
        super().__init__((ord(character), ord(" ")) for character in spaced)
        self._is_removed = is_removed

    def __missing__(self, code: int) -> int | None:
        kept = None if self._is_removed(chr(code)) else code
        if code < 0x3000:
            self[code] = kept
        return kept


# Characters that are printable by their category and that nothing shows: variation selectors, which
# can hide a text from readers, and fillers (Unicode's Default_Ignorable_Code_Point, without the
# format characters, which are not printable).
IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_WITHOUT_MARKS: Final = Removal(unicodedata.combining)
_SIGNS: Final = str.maketrans(",.-", f".,{MINUS}")


def is_shown(text: str) -> bool:
    """Return whether a text has neither control characters nor others that nothing shows."""
    return text.isprintable() and (text.isascii() or not IGNORABLE.search(text))


def with_hyphens(text: str) -> str:
    """Return the text with each dash of DASHES replaced by a hyphen."""
    return text.translate(_HYPHENS)


def money(value: Decimal, places: int = 2) -> str:
    """Format a finite amount in R$ as ``R$ 1.234,56`` with a no-break space, or ``−R$ 1.234,56``.

    ``places=0`` rounds to whole reais.
    """
    text = grouped(value, places)
    sign = MINUS if text.startswith(MINUS) else ""
    return f"{sign}R${NO_BREAK_SPACE}{text.removeprefix(MINUS)}"


def grouped(number: int | Decimal, places: int = 0) -> str:
    """Format a finite number with separators: ``825``, ``4.113``, ``−4.113,25``."""
    # Rounds half to even. The option "z" changes -0 to 0. An int takes a tenth of a Decimal's time.
    if not places:
        return f"{round(number):,}".replace(",", ".").replace("-", MINUS)
    return f"{Decimal(number):z,.{places}f}".translate(_SIGNS)


def day(value: date) -> str:
    """Format a date as ``31/12/2026``.

    ``strftime`` is not used, because it pads years before 1000 only on some platforms.
    """
    return f"{value.day:02}/{value.month:02}/{value.year:04}"


def since(value: date, today: date) -> str:
    """Say how long ago a day was: ``hoje``, ``há 5 dias``, ``há 10 meses``, ``há 3 anos``."""
    days = (today - value).days
    months = (today.year - value.year) * 12 + today.month - value.month - (today.day < value.day)
    if days <= 0:
        return "hoje"
    if months < 2:
        return f"há {counted(days, 'dia', 'dias')}"
    return f"há {counted(months, 'mês', 'meses')}" if months < 24 else f"há {months // 12} anos"


def month(value: date) -> str:
    """Format a month as ``jan/25``."""
    return f"{MONTHS[value.month - 1][:3]}/{value.year % 100:02}"


def moment(value: datetime) -> str:
    """Format a datetime as ``31/12/2026 às 14:05`` ("at 14:05"), in its own time zone."""
    return f"{day(value.date())} às {value.hour:02}:{value.minute:02}"


def counted(count: int, one: str, many: str) -> str:
    """Format a count with its noun: ``1 dia``, ``22 dias``, ``4.113 dias``."""
    return f"{grouped(count)} {one if count == 1 else many}"


def listed(parts: Sequence[str], last: str = " e ") -> str:
    """Join a list: ``a``, ``a e b``, ``a, b e c``."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + last + parts[-1]


def listed_briefly(parts: Sequence[str], most: int) -> str:
    """Join a list, of which at most ``most`` parts are named: ``a, b, c e mais 9``."""
    if len(parts) <= most:
        return listed(parts)
    return f"{', '.join(parts[:most])} e mais {len(parts) - most}"


def bare(text: str) -> str:
    """Convert a text to upper case without accents, to compare different spellings.

    Blanks are kept. Each character is converted independently of its neighbours.
    """
    if text.isascii():
        return text.upper()
    return unicodedata.normalize("NFKD", text).translate(_WITHOUT_MARKS).upper()


def sanitise_echo(text: str, longest: int) -> str:
    """Prepare a typed or foreign text for display: remove invisible characters, and cut the text.

    HTML forbids control characters. Other invisible characters can make different texts look equal.
    """
    return "".join(filter(is_shown, text[: 4 * longest])).strip()[:longest]
