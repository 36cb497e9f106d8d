"""JSON as RFC 7493 means it: what two readers could understand differently is refused."""

import json
import re
from typing import Any

DEEPEST = 64
LONGEST_NUMBER = 400

# Possessive, and an unfinished string reaches to the end: linear whatever the bytes are.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class NotStrictJSON(ValueError):
    """The bytes are no JSON text that everybody reads alike."""


def parse(text: bytes) -> Any:
    """Read UTF-8 JSON without duplicate keys, NaN, lone surrogates, giant numbers or deep nesting.

    Raises NotStrictJSON.
    """
    _refuse_depth(text)
    try:
        value = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_decimal,
        )
    except (ValueError, RecursionError) as error:
        raise NotStrictJSON("not strict JSON") from error
    if b"\\u" in text:
        _refuse_surrogates(value)
    return value


def canonical(value: Any) -> bytes:
    """One spelling for equal values: sorted keys, no white space (in the spirit of RFC 8785)."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()


def _refuse_depth(text: bytes) -> None:
    """Counts brackets outside strings before the parser recurses into them."""
    if text.count(b"[") + text.count(b"{") <= DEEPEST:
        return
    # Without a backslash every second quote ends a string.
    outside = _STRING.sub(b"", text) if b"\\" in text else b"".join(text.split(b'"')[::2])
    depth = 0
    for bracket in outside.translate(None, _NO_BRACKETS):
        if bracket in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise NotStrictJSON("nested too deeply")
        else:
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotStrictJSON("duplicate name")
    return members


def _refuse_constant(name: str) -> None:
    raise NotStrictJSON(name)


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise NotStrictJSON("number too long")
    return int(digits)


def _decimal(digits: str) -> float:
    number = float(digits) if len(digits) <= LONGEST_NUMBER else float("inf")
    if number in (float("inf"), float("-inf")):
        raise NotStrictJSON("number too large")
    return number


def _refuse_surrogates(value: Any) -> None:
    match value:
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise NotStrictJSON("lone surrogate") from None
        case dict():
            for name, member in value.items():
                _refuse_surrogates(name)
                _refuse_surrogates(member)
        case list():
            for item in value:
                _refuse_surrogates(item)
