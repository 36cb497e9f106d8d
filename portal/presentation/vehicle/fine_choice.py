"""The visitor's choices in the fines panel: sort order, filters and selected fines.

The query of the page's URL contains the choices. ``fine_choice`` ignores unknown and malformed
values, so that an old or misspelt URL still opens the page.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import urlencode

from portal.law import Standing
from portal.vehicle import STATES, fold

Order = Literal["data", "valor", "gravidade"]
Situation = Literal[
    "aberto", "exigivel", "vencimento", "prazo", "autuacao", "suspensa", "incerta", "paga"
]
Query = Mapping[str, Sequence[str]]

ORDERS: Final[tuple[Order, ...]] = get_args(Order)
SITUATIONS: Final[tuple[Situation, ...]] = get_args(Situation)
SITUATION_OF: Final[Mapping[Standing, Situation]] = {
    "enforceable": "exigivel",
    "probably_due": "vencimento",
    "due": "prazo",
    "notice": "autuacao",
    "suspended": "suspensa",
    "unknown": "incerta",
    "paid": "paga",
}
# The filter for fines whose issuing body has no valid Brazilian state.
NO_STATE: Final = "sem"
LONGEST_SEARCH: Final = 40
_LARGEST_NUMBER: Final = 300
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
# The form of the fines panel also submits the page's other parameters, for example those of the
# price chart. It does not submit "completo" ("complete"), which permits paid lookups.
_OTHER_NAME: Final = re.compile(r"[a-z][a-z-]{0,19}", re.ASCII)
_MOST_OTHERS: Final = 8
_LONGEST_OTHER: Final = 40
_OWN: Final = frozenset({"ordem", "situacao", "uf", "busca", "marcada"})
_NOT_KEPT: Final = _OWN | {"completo"}


@dataclass(frozen=True, slots=True)
class FineChoice:
    """The order, the filters and the selection of a list of fines.

    ``situation``, ``state`` and ``text`` are filters. ``picked`` are the numbers of the selected
    fines. ``others`` are the page's other parameters, such as the version in the price chart.
    """

    order: Order = "data"
    situation: Situation | Literal[""] = ""
    state: str = ""
    text: str = ""
    picked: frozenset[int] = frozenset()
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_filter(self) -> bool:
        return bool(self.situation or self.state or self.text)

    @property
    def query(self) -> str:
        """The choices and ``others`` as URL parameters, or "" if there are none."""
        return urlencode([*self.others, *self._own()])

    def _own(self) -> Iterator[tuple[str, str]]:
        if self.order != "data":
            yield "ordem", self.order
        if self.situation:
            yield "situacao", self.situation
        if self.state:
            yield "uf", self.state
        if self.text:
            yield "busca", self.text
        for number in sorted(self.picked):
            yield "marcada", str(number)

    def address(self, path: str) -> str:
        """Return ``path`` with ``query`` added to it."""
        joint = "&" if "?" in path else "?"
        return f"{path}{joint}{query}" if (query := self.query) else path


NO_CHOICE: Final = FineChoice()


def fine_choice(query: Query) -> FineChoice:
    if not query:
        return NO_CHOICE
    order, situation = _first(query, "ordem"), _first(query, "situacao")
    state = _first(query, "uf")
    return FineChoice(
        order=order if order in ORDERS else "data",
        situation=situation if situation in SITUATIONS else "",
        state=state if state in STATES or state == NO_STATE else "",
        text=_search(_first(query, "busca")),
        picked=frozenset(_numbers(query.get("marcada", ()))),
        others=tuple(_others(query)),
    )


def matches(text: str, folded: str) -> bool:
    """Return whether ``folded``, a text normalised by ``fold``, contains each word of ``text``."""
    return all(word in folded for word in fold(text).split())


def _first(query: Query, name: str) -> str:
    values = query.get(name, ())
    return values[0] if values else ""


def _search(text: str) -> str:
    """Shorten a search text, and remove control characters, which a pasted text may contain."""
    kept = (c for c in text[:200] if not unicodedata.category(c).startswith("C"))
    return " ".join("".join(kept).split())[:LONGEST_SEARCH].rstrip()


def _numbers(texts: Sequence[str]) -> Iterator[int]:
    for text in texts[:_LARGEST_NUMBER]:
        if _NUMBER.fullmatch(text) and int(text) <= _LARGEST_NUMBER:
            yield int(text)


def _others(query: Query) -> Iterator[tuple[str, str]]:
    names = [name for name in query if name not in _NOT_KEPT and _OTHER_NAME.fullmatch(name)]
    for name in names[:_MOST_OTHERS]:
        text = _first(query, name)
        if text and len(text) <= _LONGEST_OTHER and text.isprintable():
            yield name, text
