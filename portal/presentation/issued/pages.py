"""The page of an issued dossier for whoever issued it, for a link's visitor, and the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from portal.presentation import formats
from portal.presentation.issued.summary import IssuedSummary
from portal.presentation.status_style import StatusStyle
from portal.vehicle import Plate

State = Literal["valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class IssuedDossierPage:
    """A valid dossier.

    ``path`` is the path of the paper and the PDF. ``link`` is the whole address to share; "" on a
    link's own page, where ``read_only`` is set. ``pdf_path`` is "" where it was issued without a
    PDF. Moments are aware.
    """

    template: ClassVar[str] = "pages/issued_dossier.html"
    plate: Plate
    number: str
    summary: IssuedSummary
    expires_at: datetime
    paper_path: str
    pdf_path: str
    link: str
    revoke_path: str

    @property
    def read_only(self) -> bool:
        return not self.link

    @property
    def title(self) -> str:
        name = f" – {self.summary.name}" if self.summary.name else ""
        return f"Dossiê {self.number}: {self.plate.display}{name}"

    @property
    def share_text(self) -> str:
        """The message beside the link in another program."""
        return f"Dossiê do veículo {self.plate.display}, de {self.issued_day}: {self.link}"

    @property
    def issued_day(self) -> str:
        return formats.moment(self.summary.issued_at)


@dataclass(frozen=True, slots=True)
class EndedDossierPage:
    """A dossier that expired or was revoked, or a link that none has (``state`` "unknown")."""

    template: ClassVar[str] = "pages/ended_dossier.html"
    state: Literal["expired", "revoked", "unknown"]
    number: str
    issued_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedRow:
    """A line of the list; ``plate`` and ``look`` are None, texts "", after the dossier's end."""

    number: str
    path: str
    state: State
    plate: Plate | None
    name: str
    look: StatusStyle | None
    finding: str
    issued_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class IssuedListPage:
    """The dossiers that this visitor issued, the latest first."""

    template: ClassVar[str] = "pages/issued_list.html"
    rows: tuple[IssuedRow, ...]


def issued_list_page(rows: Sequence[IssuedRow]) -> IssuedListPage:
    return IssuedListPage(tuple(rows))
