"""Parses strict JSON (RFC 7493) and rejects ambiguous texts."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

import msgspec

MAX_DEPTH = 64
# The largest length of a number in characters. In ``parse_exact``, also the largest exponent.
LONGEST_NUMBER = 400

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LARGE = 10**18  # Integers below this limit are passed to msgspec unchanged.
# Integers below this limit, which include all 64-bit integers, are written without an exponent.
_LARGEST_PLAIN = 10**20
_encoder = msgspec.json.Encoder(order="sorted", decimal_format="number")

# The pattern matches a JSON string. Matching takes linear time for any input, because the
# quantifiers are possessive and an unterminated string matches up to the end of the text.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_BLANKS = re.compile(r"[ \t\n\r]*+")
_NO_BRACKETS_OR_QUOTES = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_ROUND = bytes.maketrans(b"[]{}", b"()()")


class NotStrictJSON(ValueError):
    """The bytes are not JSON, or different parsers could read them differently."""


def parse(text: bytes, decoder: json.JSONDecoder | None = None) -> Any:
    """Parse strict JSON in UTF-8. Raises NotStrictJSON.

    Rejects duplicate keys, NaN, lone surrogates, huge numbers and deep nesting.
    """
    _refuse_depth(text)
    try:
        value = (decoder or _FLOATS).decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise NotStrictJSON("not strict JSON") from error
    if b"\\u" in text:
        _refuse_surrogates(value)
    return value


def parse_exact(text: bytes) -> Any:
    """Parse like ``parse``, but return each number that is not an integer as a Decimal.

    Use ``parse_exact`` for values that are sent to the upstream, because two different numbers with
    many digits may become the same float.
    """
    return parse(text, _DECIMALS)


def canonical(value: Any) -> bytes:
    """Encode a value so that equal values give equal bytes.

    Member names are sorted, and the output has no white space. Equal numbers are written in the
    same way: 1, 1.0 and 1E0 become "1". Unlike in RFC 8785, numbers are not converted to doubles,
    so 1e-400 does not become 0.
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
    """Convert a number so that msgspec writes equal numbers in the same way.

    Integers below _LARGEST_PLAIN are written without an exponent. Any other number becomes a
    Decimal without trailing zeros. msgspec writes a Decimal as ``str`` does.
    """
    if isinstance(number, int) and -_LARGE < number < _LARGE:
        return number
    # Convert a float through its repr, because Decimal(0.1) would have 55 digits.
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite():
        raise ValueError("JSON has no such number")
    exact = exact.normalize(_EXACT)
    if abs(exact) >= _LARGEST_PLAIN or exact != exact.to_integral_value():
        return exact
    return int(exact) if abs(exact) < _LARGE else msgspec.Raw(f"{exact:f}".encode())


def _refuse_depth(text: bytes) -> None:
    """Raise NotStrictJSON if the nesting is too deep for the recursive parser."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return
    brackets = text.translate(_ROUND, _NO_BRACKETS_OR_QUOTES).replace(b'""', b"")
    # The last step removed only adjacent quotes, so the quotes of a string with a bracket remain in
    # ``brackets``. If the text contains a backslash, escaped quotes may hide such a string. In both
    # cases, remove all strings first.
    if b"\\" in text or b'"' in brackets:
        brackets = _STRING.sub(b"", text).translate(_ROUND, _NO_BRACKETS_OR_QUOTES)
    # Each pass removes the innermost pairs. All passes together take a tenth of the time of a
    # Python loop over the brackets.
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"()", b"")
    if brackets:
        raise NotStrictJSON("nested too deeply, or brackets without a partner")


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
    except InvalidOperation:  # the exponent is beyond the range of Decimal
        number = None
    # Limit the exponent, because 1e999999 would have a million digits in a program that writes the
    # number without an exponent.
    if number is None or (number and abs(number.adjusted()) > LONGEST_NUMBER):
        raise NotStrictJSON("number too large or too small")
    return number


def _decoder(fraction: Callable[[str], float | Decimal]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=_refuse_constant,
        parse_int=_integer,
        parse_float=fraction,
    )


_FLOATS = _decoder(_float)
_DECIMALS = _decoder(_decimal)


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise NotStrictJSON("lone surrogate") from None


class Walk:
    """A cursor in a text of strict JSON, which it validates as ``parse`` does.

    A caller keeps the values that it wants, where ``parse`` keeps all: the values of 2 MB of "{}"
    take 90 MiB. The caller consumes each member and each item with one of the methods. All methods
    raise NotStrictJSON.
    """

    def __init__(self, text: bytes) -> None:
        _refuse_depth(text)
        self._may_have_surrogates = b"\\u" in text
        try:
            self._text = text.decode("utf-8")
        except ValueError as error:
            raise NotStrictJSON("not strict JSON") from error
        self._at = _blanks_end(self._text, 0)

    def next_is(self, character: str) -> bool:
        return self._text.startswith(character, self._at)

    def members(self) -> Iterator[str]:
        """Yield the name of each member of an object, with the cursor on the member's value."""
        names = set()
        for _ in self._elements("{", "}"):
            name = self.value() if self.next_is('"') else None
            if name is None or name in names or not self.next_is(":"):
                raise NotStrictJSON("not strict JSON")
            names.add(name)
            self._move_to(self._at + 1)
            yield name

    def items(self) -> Iterator[None]:
        """Yield once for each item of an array, with the cursor on the item."""
        return self._elements("[", "]")

    def value(self) -> Any:
        """Return the value at the cursor."""
        try:
            value, end = _FLOATS.raw_decode(self._text, self._at)
        except (ValueError, RecursionError) as error:
            raise NotStrictJSON("not strict JSON") from error
        if self._may_have_surrogates:
            _refuse_surrogates(value)
        self._move_to(end)
        return value

    def short_value(self, most: int) -> Any:
        """Return the value at the cursor, or the first ``most`` characters of its longer JSON."""
        start = self._at
        self.skip()
        end = self._at
        if end - start > most:
            return self._text[start : start + most]
        self._at = start
        return self.value()

    def skip(self) -> None:
        if self.next_is("{"):
            for _ in self.members():
                self.skip()
        elif self.next_is("["):
            for _ in self.items():
                self.skip()
        else:
            self.value()

    def end(self) -> None:
        if self._at < len(self._text):
            raise NotStrictJSON("not strict JSON")

    def _elements(self, opening: str, closing: str) -> Iterator[None]:
        if not self.next_is(opening):
            raise NotStrictJSON("not strict JSON")
        self._move_to(self._at + 1)
        if not self.next_is(closing):
            yield
            while self.next_is(","):
                self._move_to(self._at + 1)
                yield
            if not self.next_is(closing):
                raise NotStrictJSON("not strict JSON")
        self._move_to(self._at + 1)

    def _move_to(self, at: int) -> None:
        self._at = _blanks_end(self._text, at)


def _blanks_end(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # matches any text
