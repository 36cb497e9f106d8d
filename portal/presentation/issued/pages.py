"""The page of one issued dossier, and the list of a visitor's issued dossiers."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from portal import formats
from portal.dossier.status_style import StatusStyle
from portal.presentation.issued.summary import IssuedSummary
from portal.vehicle import Plate

State = Literal["valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class IssuedDossierPage:
    """The page of an issued dossier that has not expired and is not revoked.

    ``link`` is the full URL for sharing. For visitors who did not issue the dossier, ``link`` is
    "". ``paper_path`` is the path of the printable dossier. ``pdf_path`` is "" if the dossier was
    issued without a PDF.
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
        """The message that the share button sends with the link."""
        return f"Dossiê do veículo {self.plate.display}, de {self.issued_day}: {self.link}"

    @property
    def issued_day(self) -> str:
        return formats.moment(self.summary.issued_at)


@dataclass(frozen=True, slots=True)
class EndedDossierPage:
    """The page for an expired or revoked dossier, or for an unknown link.

    For an unknown link, ``number`` is "" and the times are None.
    """

    template: ClassVar[str] = "pages/ended_dossier.html"
    state: Literal["expired", "revoked", "unknown"]
    number: str
    issued_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedRow:
    """A row in the list of a visitor's issued dossiers.

    The portal deletes the content of an expired or revoked dossier. ``plate`` and ``look`` are then
    None, and ``name`` and ``finding`` are "". For a revoked dossier, ``expires_at`` is the time of
    revocation.
    """

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
    template: ClassVar[str] = "pages/issued_list.html"
    rows: tuple[IssuedRow, ...]
