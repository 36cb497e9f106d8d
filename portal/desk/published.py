"""What anyone may read of an issued dossier who has its link or its number."""

from datetime import UTC, datetime

from portal.access.tokens import RefusedToken, TokensUnavailable, UnknownToken
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.declared_lines import DeclaredLines
from portal.desk.witness import note_opening
from portal.dossier.dossier import Dossier
from portal.issued.identifiers import is_share_key
from portal.issued.model import IssuedDossier
from portal.issued.verification import Verifier
from portal.vehicle.plate import Plate


class PublishedDossiers:
    """The issued dossiers of all callers, by link or number. No method calls the upstream."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def verifier(self) -> Verifier:
        return self._core.verifier

    def by_key(self, text: str) -> IssuedDossier | None:
        """Return the dossier of a link's key."""
        return self._core.archive.by_key(text) if is_share_key(text) else None

    def open(self, text: str) -> IssuedDossier | None:
        """Return the dossier of a link's key for who opens the link, and note the opening."""
        issued = self.by_key(text)
        if issued is not None:
            note_opening(self._core.trail, issued)
        return issued

    def html(self, issued: IssuedDossier) -> str | None:
        return self._core.archive.html(issued)

    def pdf(self, issued: IssuedDossier) -> bytes | None:
        return self._core.archive.pdf(issued)

    def now(self, issued: IssuedDossier, plate: Plate) -> Dossier | None:
        """Return the present dossier of the vehicle, for a link that shows what has changed.

        It has masked names and stored answers alone. Returns None if the issuer does not let the
        link show changes, or if the issuer has no valid token any more.
        """
        if issued.snapshot is None or not issued.snapshot.follows:
            return None
        try:
            identity = self._core.gatekeeper.authenticate_owner(issued.snapshot.follows)
        except (UnknownToken, RefusedToken, TokensUnavailable):
            return None
        (answers,) = self._core.lookups.stored([plate], identity)
        declared = DeclaredLines(self._core.declarations, Caller.of_token(identity)).of(plate)
        reading = self._core.reading.masked
        return reading.dossier(plate, answers, datetime.now(UTC), declarations=declared)
