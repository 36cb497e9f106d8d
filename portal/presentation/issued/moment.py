"""The answer of the JSON API to a moment of payment."""

from typing import Any

from portal.issued.identifiers import display_number
from portal.issued.model import IssuedDossier
from portal.issued.verification import judged
from portal.presentation.issued.summary import summary_of
from portal.presentation.issued.verification import signature_document


def moment_document(issued: IssuedDossier) -> dict[str, Any]:
    """Return what a moment has found, of the dossier that was issued of it.

    Members are null if the dossier has ended meanwhile.
    """
    summary = summary_of(issued)
    found = summary.moment if summary else None
    return {
        "number": display_number(issued.number),
        "supersedes": (found.former or None) if found else None,
        "asked": list(found.asked) if found else None,
        "spent": found.spent if found else None,
        "changes": [{"what": each} for each in found.changes] if found else None,
        "nothing_changed": found.nothing_changed if found else None,
        "signature": signature_document(judged(issued, unaltered=True).signature),
    }
