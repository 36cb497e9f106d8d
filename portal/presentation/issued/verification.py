"""The page that verifies a dossier by its number or QR code.

A seller may print the number in a public advertisement. The page for a number therefore shows only
three characters of the plate. Three characters are enough to notice that the dossier is not about
the advertised car, but too few to look up the car.

A QR code contains the secret key of the dossier's link. The QR code is printed only in the dossier.
Anyone who scans it can already read the dossier, so the page for a QR code shows the whole plate,
the summary and the link.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from portal.issued.archive import State
from portal.presentation.issued.summary import IssuedSummary

_SHOWN = 3

Outcome = Literal["none", "unknown"] | State


@dataclass(frozen=True, slots=True)
class VerifiedDossier:
    """The facts that the visitor may see about an issued dossier.

    ``summary`` and ``path`` are set only if the visitor has the key of the QR code. A visitor with
    only the number sees a partly hidden ``plate``. After the dossier expires or is revoked,
    ``plate`` is "". ``ended_at`` is the time of revocation, or the time of expiry if the dossier is
    not revoked.
    """

    number: str
    state: State
    plate: str
    issuer: str
    issued_at: datetime
    ended_at: datetime
    path: str = ""
    summary: IssuedSummary | None = None


@dataclass(frozen=True, slots=True)
class VerificationPage:
    """The verification form, and the outcome for the typed ``code``."""

    template: ClassVar[str] = "pages/verify.html"
    code: str = ""
    dossier: VerifiedDossier | None = None

    @property
    def outcome(self) -> Outcome:
        if self.dossier:
            return self.dossier.state
        return "unknown" if self.code else "none"


def partly_hidden(plate: str) -> str:
    """Show only the first three characters of a plate: ``ABC••••``."""
    return plate[:_SHOWN] + "•" * (len(plate) - _SHOWN)
