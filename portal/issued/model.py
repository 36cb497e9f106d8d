"""What an issued dossier is, and why one cannot be stored."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from portal.pdf.signing import Signature

State = Literal["valid", "expired", "revoked"]


class NumberTaken(Exception):
    """A dossier has the number already."""


class Purged(Exception):
    """The vehicle's data was purged (deleted) after it had been read for the dossier."""


class KeptAnswer(msgspec.Struct, frozen=True):
    """An answer of which a dossier was made. ``packed`` is its body, compressed by zlib."""

    fetched_at: float  # epoch seconds
    packed: bytes

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.packed)


class IssuedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A dossier's metadata, for pages and commands that do not show the document.

    ``caller`` is the name of the Identity (the authenticated caller) that issued the dossier.
    ``summary`` is the JSON text of an IssuedSummary (portal.presentation.issued). If the link shows
    what has changed since, ``follows`` is the issuer (``Identity.owner``), otherwise "".
    ``answers`` has the answers of which the dossier was made, by lookup. A dossier of a version
    before schema revision 0021 has none. ``owner`` is who issued it (``Caller.owner``), whom the
    portal tells of its end, or "" for a dossier of an earlier version. ``basis`` is a hash of all
    that the dossier was made of, or "" in a dossier of an earlier version.
    """

    plate: str
    caller: str
    summary: str
    follows: str = ""
    owner: str = ""
    answers: Mapping[str, KeptAnswer] = msgspec.field(default_factory=dict)
    basis: str = ""


@dataclass(frozen=True, slots=True)
class IssuedDossier:
    """An issued dossier. Times are epoch seconds.

    ``key`` (the share key) and ``snapshot`` are None if the dossier is expired or revoked.
    ``sha256`` is that of the PDF, in hex, or None if it is not recorded. ``superseded_by`` is the
    number of the dossier that has taken this one's place, or None.
    """

    number: str
    issued_at: float
    expires_at: float
    revoked_at: float | None
    state: State
    has_pdf: bool
    key: str | None
    snapshot: IssuedSnapshot | None
    sha256: str | None = None
    signature: Signature | None = None
    superseded_by: str | None = None

    @property
    def ended_at(self) -> float:
        """The time of revocation, or the time of expiry if the dossier is not revoked."""
        return self.revoked_at or self.expires_at
