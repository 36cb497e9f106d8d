"""The verification page: what a stranger may learn from a dossier's number or QR code.

A number may be read aloud or printed in an advertisement. The page for a number therefore shows
only three characters of the plate. Three characters are enough to see that a paper is about another
car, but too few to look the plate up. The QR code contains the key of the dossier's link, which
only the paper and the link have. The page for a QR code therefore shows the plate, the summary and
a link to the dossier itself.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from portal.presentation.issued.summary import IssuedSummary
from portal.presentation.site.public_pages import DossierSummary
from portal.presentation.site.typed_text import sanitise_echo

_LONGEST_CODE = 1000
_SHOWN = 3

Outcome = Literal["none", "unknown", "former", "signed", "valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class VerifiedDossier:
    """The facts of an issued dossier that the visitor may see.

    ``summary`` and ``path`` are set only if the visitor has the key of the QR code. ``plate`` is
    partly hidden if the visitor has only the number, and "" after the dossier's end.
    """

    number: str
    plate: str
    issuer: str
    issued_at: datetime
    ended_at: datetime
    path: str = ""
    summary: IssuedSummary | None = None


@dataclass(frozen=True, slots=True)
class VerificationPage:
    """The form, and the outcome for ``code``.

    The outcome "signed" means that a former version of the portal signed the values in ``signed``.
    "former" means that the signing version did not record whether the data was real.
    """

    template: ClassVar[str] = "pages/verify.html"
    code: str
    outcome: Outcome
    signed: DossierSummary | None = None
    dossier: VerifiedDossier | None = None


def verification_page(
    code: str = "",
    *,
    signed: DossierSummary | None = None,
    is_former: bool = False,
    dossier: VerifiedDossier | None = None,
    state: Literal["valid", "expired", "revoked"] = "valid",
) -> VerificationPage:
    code = sanitise_echo(code, _LONGEST_CODE)
    if dossier is not None:
        return VerificationPage(code, state, dossier=dossier)
    if signed is not None:
        return VerificationPage(code, "signed", signed=signed)
    if is_former:
        return VerificationPage(code, "former")
    return VerificationPage(code, "unknown" if code else "none")


def partly_hidden(plate: str) -> str:
    """Show only the first three characters of a plate: ``ABC••••``."""
    return plate[:_SHOWN] + "•" * (len(plate) - _SHOWN)
