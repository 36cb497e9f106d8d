"""The upstream's clean (correct) answers on the five paths of docs/contract.md."""

import json
import re
from typing import Literal

from tests import factories
from tests.fakes.wire import Call

Operation = Literal["decode", "renainf", "renajud", "report"]

OPERATIONS: tuple[Operation, ...] = ("decode", "renainf", "renajud", "report")
LISTS: tuple[Operation, ...] = ("renainf", "renajud")  # result is an array of objects
OBJECTS: tuple[Operation, ...] = ("decode", "report")  # result is one object
NAMING_A_PLATE: tuple[Operation, ...] = ("decode", "renajud")  # the result names its vehicle

_REPORT = "/detran/v1/analytical-reports"
_LOOKUP = re.compile(
    r"/detran/v1/(?P<operation>decode|restrictions/renainf|restrictions/renajud)"
    r"/(?P<subject>[^/]+)(?:/(?P<uf>[^/]+))?"
)


def path_of(operation: Operation, subject: str = "ABC1D23", uf: str | None = None) -> str:
    """Return the path of an operation on a plate or Renavam."""
    if operation == "report":
        return _REPORT
    room = "decode" if operation == "decode" else f"restrictions/{operation}"
    return f"/detran/v1/{room}/{subject}" + (f"/{uf}" if uf else "")


def operation_of(call: Call) -> Operation | None:
    """Return the operation of a call; None for an unknown path or method."""
    if call.path == _REPORT:
        return "report" if call.method == "POST" else None
    match = _LOOKUP.fullmatch(call.path)
    if match is None or call.method != "GET":
        return None
    name = match["operation"].rpartition("/")[2]
    if match["uf"] and name != "renainf":
        return None
    return next(operation for operation in OPERATIONS if operation == name)


def subject_of(call: Call) -> str:
    """Return the requested plate or Renavam."""
    if match := _LOOKUP.fullmatch(call.path):
        return match["subject"]
    return str(json.loads(call.body)["plate"])


def good_body(call: Call) -> bytes | None:
    """Return the clean answer to a call; None for an unknown path or method."""
    operation = operation_of(call)
    if operation is None:
        return None
    subject = subject_of(call)
    match operation:
        case "decode":
            return factories.decode_body(subject)
        case "renainf":
            match = _LOOKUP.fullmatch(call.path)
            uf = match["uf"] if match and match["uf"] else "MG"
            return factories.renainf_body(factories.fine(ufOrgaoAutuador=uf.upper()))
        case "renajud":
            named = "renavam" if subject.isdigit() else "placa"
            return factories.renajud_body(factories.restriction(**{named: subject}))
        case "report":
            return factories.report_body()
