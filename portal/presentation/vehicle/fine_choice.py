"""The visitor's choices in the fines panel: sort order, filters and selected fines.

``fine_choice`` ignores unknown and malformed values, so that an old or misspelt URL still opens the
page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from portal.law.standing import Standing
from portal.presentation.query import Query, chosen
from portal.vehicle.field import fold
from portal.vehicle.plate import STATES

Order = Literal["data", "valor", "gravidade"]
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
OPEN: Final = "aberto"  # chooses the fines of every standing but "paid"
FINE_SITUATIONS: Final = (OPEN, *(standing.key for standing in Standing))
# The filter for fines whose record names no Brazilian state for the issuing body.
NO_STATE: Final = "sem"
LONGEST_SEARCH: Final = 40
_LARGEST_NUMBER: Final = 300
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
# The parameters of the page's URL that ``FineChoice.others`` leaves out. The form of the fines
# panel sends ``others`` again in hidden fields. It has visible fields for all parameters listed
# here, except "completo" ("complete"). It must not send "completo", because this parameter would
# permit paid lookups.
_NOT_OTHERS: Final = frozenset({"ordem", "situacao", "uf", "busca", "marcada", "completo"})


@dataclass(frozen=True, slots=True)
class FineChoice:
    """The order, the filters and the selection of a list of fines.

    ``situation``, ``state`` and ``text`` are filters. ``picked`` are the numbers of the selected
    fines. ``others`` are other parameters of the page's URL, such as the version in the price
    chart.
    """

    order: Order = "data"
    situation: str = ""
    state: str = ""
    text: str = ""
    picked: frozenset[int] = frozenset()
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_made(self) -> bool:
        """Whether the visitor has chosen an order, a filter or a fine."""
        return self != FineChoice(others=self.others)


def fine_choice(query: Query) -> FineChoice:
    order, situation = chosen(query, "ordem"), chosen(query, "situacao")
    state = chosen(query, "uf")
    return FineChoice(
        order=order if order in ORDERS else "data",
        situation=situation if situation in FINE_SITUATIONS else "",
        state=state if state in STATES or state == NO_STATE else "",
        text=" ".join(chosen(query, "busca").split())[:LONGEST_SEARCH].rstrip(),
        picked=frozenset(_numbers(query)),
        others=tuple((name, value) for name, value in query if value and name not in _NOT_OTHERS),
    )


def matches(text: str, folded: str) -> bool:
    """Return whether ``folded`` contains each word of ``text``.

    ``folded`` must already be normalised by ``fold``.
    """
    return all(word in folded for word in fold(text).split())


def _numbers(query: Query) -> Iterator[int]:
    for name, text in query:
        if name == "marcada" and _NUMBER.fullmatch(text) and int(text) <= _LARGEST_NUMBER:
            yield int(text)
