"""Finds an answer's differences from docs/contract.md, such as missing fields.

The modules that read answers accept any content, so a change of the upstream's format causes no
error. ``portal.gateway`` therefore reports the differences to logs and metrics. The reports have
the paths of fields, but no values, because values may be personal data.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

import msgspec

from portal.vehicle.decode import Decoded
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction
from portal.vehicle.report import TOPIC_LABELS
from portal.vehicle.wire import MOST_RECORDS, shape_of

# A shape is the expected type of a JSON value. The shape of a text, number or boolean is one of the
# words below. The shape of an object is a dict from field names to shapes. The shape of an array is
# a list with one shape, which all elements must have.
_TYPES: dict[object, Any] = {"text": str, "number": int | float, "flag": bool}

# The shape of `result` for each operation (docs/contract.md, "Response fields").
CONTRACT: dict[str, object] = {
    "decode": shape_of(Decoded),
    "renainf": [shape_of(Fine)],
    "renajud": [shape_of(Restriction)],
    "report": {
        "resumo": "text",
        "topicos": dict.fromkeys(TOPIC_LABELS, "text"),
        "laudoFinal": "text",
    },
}

# An unexpected field name could be personal data, such as a plate. A name that does not match this
# pattern is therefore reported as "?". A plate never matches, because the pattern allows no digits.
# At most _MOST_PATHS paths are returned, so a faulty answer does not create many metric labels.
_NAME = re.compile(r"[a-z][A-Za-z_]{0,39}", re.ASCII)
_MOST_PATHS = 64
_FRAME = frozenset({"status", "result"})


def unexpected(operation_name: str, result: object) -> frozenset[str]:
    """Return the paths of fields that are unknown, missing, of a wrong type or too long.

    ``result`` is the parsed member ``result`` of the answer. In a path such as
    "informacoesFipe[].valorAtual", "[]" means any element of a list. The path of a list with more
    than MOST_RECORDS elements is returned too, and its further elements are not compared. The path
    "result" means the whole value. The set is empty for an operation that is not in CONTRACT.
    """
    shape = CONTRACT.get(operation_name)
    paths: set[str] = set()
    if shape is not None and not _matches_contract(operation_name, result):
        for path in _differences(shape, result, ""):
            paths.add(path)
            if len(paths) == _MOST_PATHS:
                break
    return frozenset(paths)


def unexpected_members(document: Mapping[str, object]) -> frozenset[str]:
    """Return the paths of an answer's members other than ``status`` and ``result``.

    For example, the path of the member ``message`` is "$.message".
    """
    names = sorted(document.keys() - _FRAME)[:_MOST_PATHS]
    return frozenset(f"$.{_label(name)}" for name in names)


def _matches_contract(operation_name: str, result: object) -> bool:
    """Return whether a result matches the contract.

    This check is fast, because msgspec is compiled code. Only the rare results that do not match
    need the slow ``_differences``.
    """
    try:
        msgspec.convert(result, _contract_type(operation_name))
    except (msgspec.ValidationError, ValueError):
        return False
    return True


@functools.cache
def _contract_type(operation_name: str) -> Any:
    return _type(CONTRACT[operation_name])


def _type(shape: object) -> Any:
    """Convert a shape (an expected JSON type) to a Python type for msgspec.

    The type of an object requires all fields of the shape, and allows no others.
    """
    match shape:
        case dict():
            fields = [(name, _type(inner)) for name, inner in shape.items()]
            return msgspec.defstruct("Agreed", fields, forbid_unknown_fields=True)
        case list():
            item: Any = _type(shape[0])
            return Annotated[list[item], msgspec.Meta(max_length=MOST_RECORDS)]
        case _:
            return _TYPES[shape]


def _differences(shape: object, value: object, path: str) -> Iterator[str]:
    here = path or "result"
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            yield here
            return
        for name, inner in shape.items():
            below = f"{path}.{name}" if path else name
            if name in value:
                yield from _differences(inner, value[name], below)
            else:
                yield below
        for name in value:
            if name not in shape:
                label = _label(name)
                yield f"{path}.{label}" if path else label
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield here
            return
        if len(value) > MOST_RECORDS:
            yield here
        for item in islice(value, MOST_RECORDS):
            yield from _differences(shape[0], item, f"{path}[]")
    elif not isinstance(value, _TYPES[shape]) or (shape == "number" and isinstance(value, bool)):
        yield here


def _label(name: object) -> str:
    return name if isinstance(name, str) and _NAME.fullmatch(name) else "?"
