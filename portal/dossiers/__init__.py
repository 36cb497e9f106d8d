"""Issued dossiers: vehicle reports that are stored unchanged and shared by a link."""

from portal.dossiers.archive import (
    ENDED_KEPT_S,
    Dossier,
    DossierArchive,
    DossiersUnavailable,
    IssuedSnapshot,
    Purged,
)
from portal.dossiers.identifiers import (
    Identifiers,
    display_number,
    is_share_key,
    new_identifiers,
    parse_number,
)

__all__ = [
    "ENDED_KEPT_S",
    "Dossier",
    "DossierArchive",
    "DossiersUnavailable",
    "Identifiers",
    "IssuedSnapshot",
    "Purged",
    "display_number",
    "is_share_key",
    "new_identifiers",
    "parse_number",
]
