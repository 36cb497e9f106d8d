"""JSON as RFC 7493 means it: what two readers could understand differently is refused."""

import json
import re
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

import msgspec

DEEPEST = 64
# Characters of a number as written; of an exact one also the largest power of ten, either way.
LONGEST_NUMBER = 400

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LARGE = 10**18  # msgspec writes an int below it
_LARGEST_PLAIN = 10**20  # a whole number below it has no exponent; 64 bits fit
_encoder = msgspec.json.Encoder(order="sorted", decimal_format="number")

# Possessive, and an unfinished string reaches to the end: linear whatever the bytes are.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class NotStrictJSON(ValueError):
    """The bytes are no JSON text that everybody reads alike."""


def parse(text: bytes) -> Any:
    """Read UTF-8 JSON without duplicate keys, NaN, lone surrogates, giant numbers or deep nesting.

    Raises NotStrictJSON.
    """
    return _parse(text, _float)


def parse_exact(text: bytes) -> Any:
    """The same with a Decimal for each number that is not written as an integer.

    For what is sent on: a double would make one number of two (…890.25 and …890.75).
    """
    return _parse(text, _decimal)


def _parse(text: bytes, fraction: Callable[[str], float | Decimal]) -> Any:
    _refuse_depth(text)
    try:
        value = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=fraction,
        )
    except (ValueError, RecursionError) as error:
        raise NotStrictJSON("not strict JSON") from error
    if b"\\u" in text:
        _refuse_surrogates(value)
    return value


def canonical(value: Any) -> bytes:
    """One spelling for equal values: sorted names, no white space, each number by its value.

    Unlike RFC 8785, which reads numbers as doubles, this keeps every digit: 1, 1.0 and 1E0 are
    "1", and 1e-400 is not 0.
    """
    return _encoder.encode(_canonical_numbers(value))


def _canonical_numbers(value: Any) -> Any:
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {name: _canonical_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_canonical_numbers(item) for item in value]
    if isinstance(value, (int, float, Decimal)):
        return _canonical_number(value)
    return value


def _canonical_number(number: float | Decimal) -> int | Decimal | msgspec.Raw:
    """A whole number in plain digits, or a Decimal that holds no trailing zero; msgspec writes
    ``str()`` of it."""
    if isinstance(number, int) and -_LARGE < number < _LARGE:
        return number
    # By its shortest text a float stays what JSON said: Decimal(0.1) has 55 digits.
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite():
        raise ValueError("JSON has no such number")
    exact = exact.normalize(_EXACT)
    if abs(exact) >= _LARGEST_PLAIN or exact != exact.to_integral_value():
        return exact
    return int(exact) if abs(exact) < _LARGE else msgspec.Raw(f"{exact:f}".encode())


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


def _float(digits: str) -> float:
    number = float(digits) if len(digits) <= LONGEST_NUMBER else float("inf")
    if number in (float("inf"), float("-inf")):
        raise NotStrictJSON("number too large")
    return number


def _decimal(digits: str) -> Decimal:
    try:
        number = Decimal(digits) if len(digits) <= LONGEST_NUMBER else None
    except InvalidOperation:  # an exponent beyond what Decimal counts
        number = None
    # An exponent is short to write: within this bound a reader that spells it out stays small.
    if number is None or (number and abs(number.adjusted()) > LONGEST_NUMBER):
        raise NotStrictJSON("number too large or too small")
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
