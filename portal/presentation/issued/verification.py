"""The verification page: what a stranger may learn from a dossier's number or QR code.

The page for a dossier's number shows only three characters of the plate, because anybody may read
the number in an advertisement. Three characters show whether a printed dossier is about another
car, but are too few to look the plate up. The page for a QR code shows the plate, the summary and a
link to the dossier, because only the paper and the dossier's link contain the same secret key as
the QR code.
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
    partly hidden if the visitor has only the number, and "" after the dossier expires or is
    revoked.
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
    """The verification form, and the outcome for the typed ``code``.

    The outcome "signed" means that a former version of the portal signed the values in ``signed``.
    The outcome "former" means that the code is from a version of the portal that did not record
    whether the data was real.
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
