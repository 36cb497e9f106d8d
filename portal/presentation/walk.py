"""The way through a list from one vehicle's page to the next."""

import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode, urlsplit

from portal.presentation.paths import subject_path
from portal.presentation.query import Query, chosen
from portal.vehicle.plate import Plate, Renavam

_LIST: Final = re.compile(r"/(?:historico|lote/[0-9a-f]{24})(?:\?[\w=&%+-]*)?", re.ASCII)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Walk:
    """The place of a vehicle in a list: ``number`` of ``total``, from 1.

    ``path`` is the list's address with the visitor's choice. The vehicle's address holds all three,
    so that its page does not read the list.
    """

    path: str
    number: int
    total: int

    @classmethod
    def of(cls, query: Query) -> Self | None:
        """Return what the address of a vehicle's page says of its list, or None."""
        path, *numbers = (chosen(query, name) for name in ("lista", "n", "de"))
        if not _LIST.fullmatch(path) or not all(map(_NUMBER.fullmatch, numbers)):
            return None
        number, total = map(int, numbers)
        return cls(path, number, total) if number <= total else None

    def url_of(self, subject: Plate | Renavam) -> str:
        place = {"lista": self.path, "n": self.number, "de": self.total}
        return f"{subject_path(subject)}?{urlencode(place)}"

    @property
    def before(self) -> str:
        """The address that leads to the vehicle before, or "" for the first."""
        return self._step(self.number - 1)

    @property
    def after(self) -> str:
        return self._step(self.number + 1)

    @property
    def deciding(self) -> str:
        """The address on which this list is decided."""
        return self._below("mesa")

    def _step(self, number: int) -> str:
        return self._below(f"carro/{number}") if 1 <= number <= self.total else ""

    def _below(self, ending: str) -> str:
        parts = urlsplit(self.path)
        return parts._replace(path=f"{parts.path}/{ending}").geturl()
