"""Checks that a portal's JSON has the members of its type in ``answers``.

A portal may add members. A member that may be null may also be missing, and is then null: an older
portal does not have it, and a price that is not stated is unknown.
"""

from __future__ import annotations

import functools
import math
import types
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from dossie_veicular_client.errors import Failed

_NULL: Final = type(None)


def shaped(value: object, kind: Any) -> Any:
    """Return a JSON value of a type. Raises Failed if it does not fit."""
    try:
        return _shaped(value, kind)
    except (TypeError, RecursionError):
        raise Failed("a resposta não tem a forma das de um portal Dossiê Veicular") from None


def _shaped(value: object, kind: Any) -> Any:
    """Raises TypeError."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        return _one_of(value, arguments)
    if origin is Literal:
        return _shaped(value, type(arguments[0]))  # a portal may have more values
    if origin is list and isinstance(value, list):
        return [_shaped(element, arguments[0]) for element in value]
    if origin is dict and isinstance(value, dict):
        return {key: _shaped(element, arguments[1]) for key, element in value.items()}
    if is_typeddict(kind) and isinstance(value, dict):
        return value | {
            name: _shaped(value.get(name), kind_of)
            for name, kind_of in _members(kind).items()
            if name in value or name in kind.__required_keys__
        }
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        if math.isfinite(value):
            return value
    elif isinstance(kind, type) and type(value) is kind:
        return value
    raise TypeError(kind)


def _one_of(value: object, kinds: tuple[Any, ...]) -> Any:
    if value is None and _NULL in kinds:
        return None
    *others, last = (other for other in kinds if other is not _NULL)
    for other in others:
        try:
            return _shaped(value, other)
        except TypeError:
            continue
    return _shaped(value, last)


@functools.cache
def _members(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
