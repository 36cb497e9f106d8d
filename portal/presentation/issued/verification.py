"""The verification page: what a stranger may learn about a dossier's number or QR code.

A number may be read aloud or stand in an advertisement, so the page of a number shows three
characters of the plate: enough to see that the paper is about another car, too few to look it up.
The QR code holds the link's key, which only the paper and the link have, so its page shows the
plate, the summary and the way to the dossier itself.
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
    """An issued dossier as far as the visitor may know it.

    ``summary`` and ``path`` are set only for the key of a QR code. ``plate`` is "" after the end,
    and partly hidden for a number.
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

    "signed": a former version signed the values in ``signed``. "former": a version signed it that
    did not record whether the data was real.
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
    """``ABC••••``."""
    return plate[:_SHOWN] + "•" * (len(plate) - _SHOWN)
