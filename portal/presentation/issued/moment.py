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
    moment = summary.moment if summary else None
    return {
        "number": display_number(issued.number),
        "supersedes": (moment.former or None) if moment else None,
        "asked": list(moment.asked) if moment else None,
        "spent": moment.spent if moment else None,
        "changes": [{"what": change} for change in moment.changes] if moment else None,
        "nothing_changed": moment.nothing_changed if moment else None,
        "signature": signature_document(judged(issued, unaltered=True).signature),
    }
