"""The operator's page of who saw and did what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol
from urllib.parse import urlencode

from portal.issued.identifiers import display_number, parse_number
from portal.presentation.exports.tables import Column, Table
from portal.system.local_time import utc_time

PAGE_SIZE: Final = 100
LONGEST_WHO: Final = 120
ACTS: Final[Mapping[str, str]] = {
    "saw": "viu",
    "asked": "consultou a fonte",
    "exported": "baixou um arquivo",
    "issued": "emitiu um dossiê",
    "opened_by_link": "abriu pelo link",
    "declared": "declarou",
    "revoked": "revogou",
    "purged": "excluiu um veículo",
    "access_changed": "mudou um acesso",
    "backup": "fez uma cópia de segurança",
    "restored": "restaurou uma cópia",
    "rotated": "trocou um token",
}
FACES: Final[Mapping[str, str]] = {
    "page": "página",
    "api": "API",
    "batch": "lote",
    "calendar": "calendário",
    "link": "link",
    "command": "comando",
}
_OF_DOSSIERS: Final = ("issued", "opened_by_link", "revoked")
COLUMNS: Final = ("at", "who", "act", "face", "plate", "purpose", "number")


class TrailRow(Protocol):
    """A row of the trail. ``at`` is in epoch seconds, ``vehicle`` is "" without one."""

    @property
    def number_in_trail(self) -> int: ...

    @property
    def at(self) -> float: ...

    @property
    def who(self) -> str: ...

    @property
    def act(self) -> str: ...

    @property
    def face(self) -> str: ...

    @property
    def vehicle(self) -> str: ...

    @property
    def purpose(self) -> str: ...

    @property
    def number(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailPage:
    """Rows of the trail, the latest first: at most PAGE_SIZE and the next one.

    ``days`` is how long a row is kept, 0 if no trail is kept. ``who`` and ``plate`` are what was
    searched for, and ``problem`` says why it was not.
    """

    template: ClassVar[str] = "pages/trail.html"
    acts: ClassVar[Mapping[str, str]] = ACTS
    faces: ClassVar[Mapping[str, str]] = FACES
    found: Sequence[TrailRow]
    days: int
    who: str = ""
    plate: str = ""
    problem: str = ""

    @property
    def rows(self) -> Sequence[TrailRow]:
        return self.found[:PAGE_SIZE]

    @property
    def is_filtered(self) -> bool:
        return bool(self.who or self.plate)

    def path(self, path: str = "/operacao/trilha", **more: object) -> str:
        """Return the path of another page, or of the file, for the same search."""
        query = urlencode({k: v for k, v in {"quem": self.who, "placa": self.plate}.items() if v})
        query = "&".join(filter(None, (query, urlencode(more))))
        return f"{path}?{query}" if query else path

    @property
    def older(self) -> str:
        """The path of the page with older rows, or "" if there is none."""
        if len(self.found) <= PAGE_SIZE:
            return ""
        return self.path(antes=self.rows[-1].number_in_trail)

    def number(self, row: TrailRow) -> str:
        """Return a dossier's number in its printed form, and any other as it is."""
        number = parse_number(row.number)
        return display_number(number) if number and row.act in _OF_DOSSIERS else row.number


def trail_table(rows: Iterable[TrailRow]) -> Table:
    columns = (Column("at", "moment"), *map(Column, COLUMNS[1:]))
    cells = (
        (utc_time(row.at), row.who, row.act, row.face, row.vehicle, row.purpose, row.number)
        for row in rows
    )
    return Table("trail", columns, cells)
