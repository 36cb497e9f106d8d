"""The code on a draft dossier: a signed summary of the dossier.

A draft is a dossier that was not issued. The portal stores neither drafts nor codes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import segno
from itsdangerous import BadSignature, URLSafeSerializer

from portal.dossier.answers import Panel, Panels
from portal.dossiers.identifiers import Identifiers, display_number
from portal.presentation.paper.dossier import DossierPage, Issuer
from portal.presentation.site.public_pages import DossierSummary, NoPrice
from portal.system.local_time import utc_time

_DIGEST_CHARACTERS: Final = 16
# What a code contains if there is no price.
_NO_PRICE: Final[Mapping[object, str | None]] = {
    "empty": "",
    "unavailable": None,
}


class DossierCodes:
    """Signs and verifies codes. Changing any character makes a code invalid.

    A code is valid only for the ``namespace`` (demo, or an upstream's name) for which the portal
    issued the code. Otherwise a code of the demo or of a test upstream would seem to prove facts
    about a real vehicle.
    """

    def __init__(self, secret: bytes, namespace: str) -> None:
        self._serializer = URLSafeSerializer(secret, salt=f"dossier|{namespace}")

    def issue(self, summary: DossierSummary) -> str:
        """Return the code of a summary, in characters that URLs allow and people can type."""
        kept = (summary.decode_kept_at, summary.fines_kept_at, summary.restrictions_kept_at)
        return str(
            self._serializer.dumps(
                [
                    summary.plate,
                    _seconds(summary.issued_at),
                    summary.fines,
                    summary.restrictions,
                    _NO_PRICE.get(summary.price, str(summary.price)),
                    summary.digest,
                    # The fetch times of stale answers. If no answer is stale, the list is empty,
                    # because a shorter code gives a QR code with fewer and larger dots.
                    [at and _seconds(at) for at in kept] if any(kept) else [],
                ]
            ),
        )

    def read(self, code: str) -> DossierSummary | None:
        """Return the summary in a code, or None if this portal did not issue the code."""
        signed = _signed(self._serializer, code)
        return _summary(*signed) if signed is not None else None

    def stamp(self, page: DossierPage, panels: Panels) -> DossierPage:
        """Add the code, the digest and a QR code to a draft dossier.

        The QR code contains the URL of ``/verificar`` (verify) with the code. If the page shows a
        notice instead of a dossier, this method returns the page unchanged.
        """
        if page.state != "ready":
            return page
        dossier, prices = page.dossier, page.dossier.prices
        best = prices.best if prices else None
        no_price: NoPrice = "empty" if prices else "unavailable"
        signed = DossierSummary(
            plate=page.plate.text,
            issued_at=page.made_at,
            fines=dossier.totals.open_count if dossier.totals else None,
            restrictions=dossier.orders_in_force,
            price=best.current if best and best.current is not None else no_price,
            digest=_digest(panels),
            decode_kept_at=_kept_at(panels.decode, dossier.decoded),
            fines_kept_at=_kept_at(panels.renainf, dossier.fines),
            restrictions_kept_at=_kept_at(panels.renajud, dossier.orders),
        )
        code = self.issue(signed)
        qr_code = _qr_code(f"{page.address}/verificar?codigo={code}")
        return replace(page, code=code, digest=signed.digest_in_groups, qr=qr_code)


def stamp_issued(page: DossierPage, identifiers: Identifiers, issuer: Issuer | None) -> DossierPage:
    """Add the issuer, the number and a QR code to a dossier.

    The QR code contains the URL of ``/verificar`` (verify) with the key of the dossier's link.
    """
    qr_code = _qr_code(f"{page.address}/verificar?codigo={identifiers.key}")
    return replace(page, issuer=issuer, number=display_number(identifiers.number), qr=qr_code)


def _qr_code(address: str) -> str:
    qr_code: Any = segno.make(address, error="m")
    return str(qr_code.svg_data_uri(scale=2, border=2, light="white"))


def _signed(serializer: URLSafeSerializer, code: str) -> Any:
    with suppress(BadSignature, UnicodeError, ValueError, TypeError):
        signed = serializer.loads(code)
        # The last base64 character has unused bits, so several codes decode to one value. Only the
        # code that the portal issued is valid.
        return signed if serializer.dumps(signed) == code else None
    return None


def _summary(
    plate: str,
    issued_at: int,
    fines: int | None,
    restrictions: int | None,
    price: str | None,
    digest: str,
    kept: Sequence[int | None],
) -> DossierSummary:
    decode_at, fines_at, restrictions_at = map(_moment, kept or (None, None, None))
    return DossierSummary(
        plate=plate,
        issued_at=utc_time(issued_at),
        fines=fines,
        restrictions=restrictions,
        price="unavailable" if price is None else Decimal(price) if price else "empty",
        digest=digest,
        decode_kept_at=decode_at,
        fines_kept_at=fines_at,
        restrictions_kept_at=restrictions_at,
    )


def _kept_at(panel: Panel, content: object) -> datetime | None:
    """Return the fetch time of a stale, readable answer, or None for other answers."""
    return panel.fetched_at if panel.state == "stale" and content is not None else None


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else utc_time(seconds)


def _digest(panels: Panels) -> str:
    """Return a SHA-256 of the three raw answers, cut to a length people can compare."""
    sha256_hash = hashlib.sha256()
    for panel in (panels.decode, panels.renainf, panels.renajud):
        body = panel.body or b""
        sha256_hash.update(len(body).to_bytes(8, "big") + body)
    return sha256_hash.hexdigest()[:_DIGEST_CHARACTERS]
