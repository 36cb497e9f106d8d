"""The page that verifies a dossier by its number, its QR code or its file.

A seller may print the number in a public advertisement. The page for a number therefore shows only
three characters of the plate. Three characters are enough to notice that the dossier is not about
the advertised car, but too few to look up the car.

A QR code contains the secret key of the dossier's link. The QR code is printed only in the dossier.
Anyone who scans it can already read the dossier, so the page for a QR code shows the whole plate,
the summary and the link. So does the page for the file itself.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from portal.issued.identifiers import display_number
from portal.issued.model import State
from portal.issued.verification import SignatureFacts, Verification
from portal.pdf.inspection import LARGEST_FILE
from portal.presentation.issued.summary import IssuedSummary
from portal.system.local_time import local_time, utc_time

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class VerifiedDossier:
    """The facts that the visitor may see about an issued dossier.

    ``summary`` and ``path`` are set only if the visitor has the key of the QR code. A visitor with
    only the number sees a partly hidden ``plate``. After the dossier expires or is revoked,
    ``plate`` is "". ``ended_at`` is the time of revocation, or the time of expiry if the dossier is
    not revoked. ``newer_path`` leads to what the visitor may see of the dossier ``superseded_by``.
    """

    number: str
    state: State
    plate: str
    issuer: str
    issued_at: datetime
    ended_at: datetime
    path: str = ""
    summary: IssuedSummary | None = None
    superseded_by: str = ""
    newer_path: str = ""


@dataclass(frozen=True, slots=True)
class VerificationPage:
    """The verification form, and what was found for the typed ``code`` or the sent file.

    ``verification`` is None if nothing was verified yet. ``wants_file`` is true if the form was
    sent without a file.
    """

    template: ClassVar[str] = "pages/verify.html"
    largest_mb: ClassVar[int] = LARGEST_FILE // 2**20
    code: str = ""
    verification: Verification | None = None
    dossier: VerifiedDossier | None = None
    of_file: bool = False
    wants_file: bool = False

    @property
    def result(self) -> str:
        return self.verification.result if self.verification else ""

    @property
    def signature(self) -> SignatureFacts | None:
        return self.verification.signature if self.verification else None

    @property
    def signed_at(self) -> datetime | None:
        return _time(self.signature.signed_at if self.signature else None)

    @property
    def stamped_at(self) -> datetime | None:
        return _time(self.signature.stamped_at if self.signature else None)


def partly_hidden(plate: str) -> str:
    """Show only the first three characters of a plate: ``ABC••••``."""
    return plate[:_SHOWN] + "•" * (len(plate) - _SHOWN)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else utc_time(seconds)


def verification_document(verification: Verification) -> dict[str, Any]:
    """Return the answer of the JSON API."""
    dossier = verification.dossier
    has_ended = dossier is not None and dossier.state != "valid"
    return {
        "result": verification.result,
        "number": display_number(verification.number) if verification.number else None,
        "issued_at": _local(dossier.issued_at if dossier else None),
        "ended_at": _local(dossier.ended_at if dossier and has_ended else None),
        "superseded_by": display_number(dossier.superseded_by)
        if dossier and dossier.superseded_by
        else None,
        "unaltered": verification.unaltered,
        "signature": signature_document(verification.signature),
        "differences": [
            {"page": difference.page, "what": difference.what}
            for difference in verification.differences
        ],
    }


def signature_document(signature: SignatureFacts | None) -> dict[str, Any] | None:
    if signature is None:
        return None
    return {
        "state": signature.state,
        "signer": signature.signer or None,
        "signed_at": _local(signature.signed_at),
        "timestamp": _local(signature.stamped_at),
    }


def _local(seconds: float | None) -> datetime | None:
    return None if seconds is None else local_time(utc_time(seconds))
