"""A printed dossier's code: a signed summary of what the paper says. Nothing is stored for it."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import segno
from itsdangerous import BadSignature, URLSafeSerializer

from portal.web.view_models import DossierPage, DossierSummary, Panels

_DIGEST_CHARACTERS = 16


class DossierCodes:
    """Issues and checks the codes; a changed character makes one worthless."""

    def __init__(self, secret: bytes) -> None:
        self._serializer = URLSafeSerializer(secret, salt="dossier")

    def issue(self, summary: DossierSummary) -> str:
        """The code of a summary, in characters that a URL and a typist can carry."""
        price = None if summary.price is None else str(summary.price)
        issued_at = int(summary.issued_at.timestamp())
        return str(
            self._serializer.dumps(
                [
                    summary.plate,
                    issued_at,
                    summary.fines,
                    summary.restrictions,
                    price,
                    summary.digest,
                ]
            ),
        )

    def read(self, code: str) -> DossierSummary | None:
        """What a code signs; None for one that this portal did not issue."""
        try:
            plate, issued_at, fines, restrictions, price, digest = self._serializer.loads(code)
        except (BadSignature, UnicodeError, ValueError, TypeError):
            return None
        summary = DossierSummary(
            plate=plate,
            issued_at=datetime.fromtimestamp(issued_at, UTC),
            fines=fines,
            restrictions=restrictions,
            price=None if price is None else Decimal(price),
            digest=digest,
        )
        # Base64's last character has bits to spare: only the spelling that we issue is ours.
        return summary if self.issue(summary) == code else None

    def stamp(self, page: DossierPage, panels: Panels) -> DossierPage:
        """The dossier with its code and the QR code that leads to ``/verificar``."""
        summary = page.contents.summary
        code = self.issue(
            DossierSummary(
                plate=page.plate.text,
                issued_at=page.issued_at,
                fines=None if summary.fines is None else summary.fines.open_count,
                restrictions=summary.restrictions,
                price=summary.price,
                digest=_digest(panels),
            )
        )
        picture: Any = segno.make(f"{page.address}/verificar?codigo={code}", error="m")
        return replace(page, code=code, qr=picture.svg_data_uri(scale=2, border=2, light="white"))


def _digest(panels: Panels) -> str:
    """SHA-256 over the three answers as they came, shortened to what a person can compare."""
    sha = hashlib.sha256()
    for panel in (panels.decode, panels.renainf, panels.renajud):
        body = panel.body or b""
        sha.update(len(body).to_bytes(8, "big") + body)
    return sha.hexdigest()[:_DIGEST_CHARACTERS]
