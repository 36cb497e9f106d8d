"""Is this body an answer? Strict JSON, the contract's frame, and the vehicle that was asked for."""

from typing import Any

import msgspec

from portal.gateway import strict_json
from portal.gateway.lookup import Lookup
from portal.vehicle import read_field


class _Frame(msgspec.Struct):
    result: msgspec.Raw


_frame = msgspec.json.Decoder(_Frame)


class NoAnswer(ValueError):
    """A 200 whose body does not answer the question."""


def check(lookup: Lookup, body: bytes, hidden_marker: str) -> Any:
    """The ``result`` of an answer's body; raises NoAnswer.

    Only the frame is judged: whatever is new, missing or oddly typed inside ``result`` was paid
    for and passes.
    """
    try:
        document = strict_json.parse(body)
    except strict_json.NotStrictJSON as error:
        raise NoAnswer(str(error)) from None
    operation = lookup.operation
    if not isinstance(document, dict) or document.get("status") != operation.status_word:
        raise NoAnswer("status is not the operation's word")
    result = document.get("result")
    if not isinstance(result, operation.result_type):
        raise NoAnswer("result is missing or of another type")
    records = result if isinstance(result, list) else [result]
    for record in records:
        if not isinstance(record, dict):
            raise NoAnswer("a record is no object")
        if not _names_subject(record, lookup, hidden_marker):
            raise NoAnswer("the record of another vehicle")
    return result


def is_empty(body: bytes) -> bool:
    """Whether a checked answer's result is an empty list."""
    return bytes(_frame.decode(body).result).translate(None, b" \t\r\n") == b"[]"


def is_message(body: bytes) -> bool:
    """Whether an error's body is the contract's ``{"message": text}``."""
    try:
        document = strict_json.parse(body)
    except strict_json.NotStrictJSON:
        return False
    return isinstance(document, dict) and isinstance(document.get("message"), str)


def _names_subject(record: dict[str, Any], lookup: Lookup, hidden_marker: str) -> bool:
    """A plate or Renavam in a record is the one asked for, or none: blank, hidden, no number.

    A plate asked for by Renavam (or the other way round) cannot be compared and passes.
    """
    named = record.get("placa" if hasattr(lookup.subject, "twin") else "renavam")
    if not isinstance(named, str):
        return True
    field = read_field(named, hidden_marker)
    return not field or lookup.subject.names_same_vehicle(str(field))
