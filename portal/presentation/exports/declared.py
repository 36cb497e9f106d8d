"""The JSON object of a vehicle's declared lines, in a document of its own and in the vehicle's."""

from typing import Any

from portal.dossier.dossier import Dossier
from portal.law.at_the_car import by_row
from portal.law.declared import SettledLine
from portal.phrasebook.checklist import title
from portal.phrasebook.declared import SOURCES, record_words

Object = dict[str, Any]


def declared_object(dossier: Dossier) -> Object:
    """Return all lines of the checklist, each as a record or a declaration settles it.

    ``open`` is the number of lines that neither settles. ``readable`` is false if the caller's
    declarations could not be read. ``seen`` is what the caller has seen at the vehicle.
    """
    return {
        "lines": [_line(one) for one in dossier.lines],
        "open": dossier.open_lines,
        "readable": dossier.declarations is not None,
        "seen": [
            {
                "row": one.row,
                "state": one.state,
                "what": one.what or None,
                "on": one.on,
                "who": one.who,
            }
            for one in by_row(dossier.seen).values()
        ],
    }


def _line(one: SettledLine) -> Object:
    record, declared = one.record, one.declaration
    known: Object = {"what": None, "source": None, "on": None, "who": None}
    if record:
        known = {
            "what": record_words(record),
            "source": SOURCES[record.lookup],
            "on": record.at.date() if record.at else None,
            "who": None,
        }
    elif declared:
        known = {
            "what": declared.what or None,
            "source": declared.source or None,
            "on": declared.on,
            "who": declared.who,
        }
    return {
        "line": one.key,
        "title": title(one.line),
        "state": one.state,
        "by": one.by,
        "contradicted": one.is_contradicted,
        "amount": one.amount,
        **known,
        "recorded_at": record.at if record else None,
        "warned_by_report": one.is_warned,
    }
