"""The page of one issued dossier, and the list of a visitor's issued dossiers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Literal

from portal import formats
from portal.dossier.status_style import Tone
from portal.issued.identifiers import display_number
from portal.issued.model import IssuedDossier
from portal.presentation.issued.moment_form import MomentChoice
from portal.presentation.issued.summary import Changed, IssuedSummary, summary_of
from portal.system.local_time import utc_time

PAGE_SIZE: Final = 40
Card = Literal["no", "warn", "ok", "unk"]
_CARDS: Final[Mapping[Tone, Card]] = {
    "danger": "no",
    "warn": "warn",
    "ok": "ok",
    "unknown": "unk",
    "plain": "unk",
}


@dataclass(frozen=True, slots=True)
class IssuedDossierPage:
    """The page of an issued dossier that has not expired and is not revoked.

    ``path`` is the path under which the visitor sees the dossier. ``link`` is the full URL for
    sharing. For visitors who did not issue the dossier, ``link`` is "". ``since`` has the time of
    the newest answer since the issue, and the figures that have changed, or is None if the issuer
    does not let the link show them. ``moment_choices`` are the lookups that its owner can make
    again at the moment of payment. ``is_repeated`` is true if its owner asked for another
    dossier, which would say the same. ``newer_path`` leads to what the visitor may see of the
    dossier that has taken this one's place, if there is one.
    """

    template: ClassVar[str] = "pages/issued_dossier.html"
    dossier: IssuedDossier
    summary: IssuedSummary
    path: str
    link: str = ""
    since: tuple[datetime | None, Sequence[Changed]] | None = None
    moment_choices: Sequence[MomentChoice] = ()
    is_repeated: bool = False
    newer_path: str = ""

    @property
    def card(self) -> Card:
        """The picture of the shared link, by the verdict."""
        return _CARDS[self.summary.look.tone]

    @property
    def signed_at(self) -> datetime | None:
        signature = self.dossier.signature
        return utc_time(signature.signed_at) if signature else None

    @property
    def stamped_at(self) -> datetime | None:
        signature = self.dossier.signature
        stamped_at = signature.stamped_at if signature else None
        return None if stamped_at is None else utc_time(stamped_at)

    @property
    def message(self) -> str:
        """The text to send with the link, with the paper's words."""
        summary = self.summary
        car = ", ".join(filter(None, (summary.subject.display, summary.name)))
        quoted_at = formats.moment(summary.issued_at)
        return f"{car}: “{summary.quoted}”, em {quoted_at}. Dossiê: {self.link}"

    @property
    def title(self) -> str:
        name = f" – {self.summary.name}" if self.summary.name else ""
        number = display_number(self.dossier.number)
        return f"Dossiê {number}: {self.summary.subject.display}{name}"


@dataclass(frozen=True, slots=True)
class EndedDossierPage:
    """The page for an expired or revoked dossier, or for an unknown link (None).

    ``newer_path`` is as in IssuedDossierPage.
    """

    template: ClassVar[str] = "pages/ended_dossier.html"
    dossier: IssuedDossier | None
    newer_path: str = ""


@dataclass(frozen=True, slots=True)
class IssuedListPage:
    """A page of dossiers. ``dossiers`` has at most PAGE_SIZE dossiers and the next one."""

    template: ClassVar[str] = "pages/issued_list.html"
    dossiers: Sequence[IssuedDossier]

    @property
    def rows(self) -> Sequence[tuple[IssuedDossier, IssuedSummary | None]]:
        return [(issued, summary_of(issued)) for issued in self.dossiers[:PAGE_SIZE]]

    @property
    def next_after(self) -> IssuedDossier | None:
        """The dossier after which the next page begins, or None on the last page."""
        return self.dossiers[PAGE_SIZE - 1] if len(self.dossiers) > PAGE_SIZE else None
