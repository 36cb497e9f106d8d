"""Reads the upstream's JSON, in which a field may have any type.

No function in this module raises an error. A value that cannot be read as the wanted type becomes
None or empty. The text of such a value can still be read as a Field and shown on a page.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final, TypeVar, get_origin, get_type_hints

import msgspec

from portal.system.local_time import local_time
from portal.vehicle.field import EMPTY, HIDDEN, Field, fold, read_field, scalar_text
from portal.vehicle.statements import is_blank

T = TypeVar("T")

# Dates as Brazilian programs and databases print them: "23/10/2025, 11:13:38", "23-10-2025",
# "2025-10-23T14:13:38Z", "2025/10/23" and "20251023".
_DAY = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})(?:[ T,]+(.+))?", re.ASCII)
_ISO_DAY = re.compile(r"([0-9]{4})([-/]?)([0-9]{2})\2([0-9]{2})(?:[ T,]+(.+))?", re.ASCII)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:[.,][0-9]+)?", re.ASCII)
_YEAR_AND_FUEL = re.compile(r"([0-9]{4,5})(?: ?[-/] ?| )(?:[1-7]|[^\W\d_][^\d]*)", re.ASCII)
_TWO_DIGITS = re.compile(r"0[1-9]|[1-9][0-9]", re.ASCII)
_ZONE = re.compile(r" ?(?:Z|UTC|([+-])([0-9]{2}):?([0-9]{2}))$", re.ASCII)
# Databases write these years, or no digit but zero, for a date that they do not have.
_NULL_YEARS = frozenset({0, 1, 1899, 1900, 1969, 1970, 9999})
_CONTENT = re.compile(r"[^\W0_]")
_FEW_DIGITS = re.compile(r"[0-9]{1,12}", re.ASCII)
_PLAIN_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(?:[.,][0-9]+)*", re.ASCII)
_COMMA_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+", re.ASCII)
_THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(?:\.[0-9]{3})+", re.ASCII)

_HIDDEN_WORDS = "oculto pela fonte"
# ``Record.flat_text`` reads at most _MOST_DEPTH nested levels and _MOST_TEXTS texts. No real record
# exceeds these limits. Without them, a field of megabytes would fill a page.
_MOST_DEPTH, _MOST_TEXTS = 4, 40

# A text of lines is cut at this number of characters.
_MOST_LINES = 8_000
# A number with more than _MOST_DIGITS digits is not read. Real prices and counts are shorter.
# Decimal has 28 digits, so sums of numbers with at most 18 digits are exact.
_MOST_DIGITS = 18
_LARGEST = 10**_MOST_DIGITS - 1
# An answer with more values, or with a longer list of records, is OVERSIZED. A vehicle has tens of
# records, and reading a body of 2 MiB that consists of "{}" would take a minute.
MOST_VALUES: Final = 200_000
MOST_RECORDS: Final = 5_000
OVERSIZED: Final = object()
TRUE_WORDS = frozenset({"TRUE", "SIM", "S", "1"})
FALSE_WORDS = frozenset({"FALSE", "NAO", "N", "0"})
FIRST_YEAR, LAST_YEAR = 1886, 2199
_LEAST_OF_THREE_DIGITS = 100


def has_too_many_values(body: bytes) -> bool:
    """Return whether a JSON text has more than MOST_VALUES values, without parsing it.

    Each value but the first follows one of the counted characters. A comma or a bracket in a text
    counts too, but no real answer of 2 MiB has 200,000 of them.
    """
    return body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES


def result_of(body: bytes) -> object:
    """Return the member ``result`` of an answer's body, or None if it cannot be read."""
    return answer_of(body)[0]


def answer_of(body: bytes) -> tuple[object, Mapping[str, Any]]:
    """Return the member ``result`` of an answer's body, and all its members.

    The result is None if the body cannot be read, and there are no members then.

    Returns OVERSIZED for an answer with too many values or records. It is neither a list nor a
    dict, so every view treats it as an answer that cannot be read, and none shows a part of the
    records as if it were all.
    """
    if has_too_many_values(body):
        return OVERSIZED, {}
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # The standard library accepts lone surrogates and huge numbers, which msgspec rejects.
        try:
            answer = json.loads(body, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError):
            return None, {}
    if not isinstance(answer, dict):
        return None, {}
    result = answer.get("result")
    lists = [result, *(result.values() if isinstance(result, dict) else ())]
    if any(isinstance(element, list) and len(element) > MOST_RECORDS for element in lists):
        return OVERSIZED, {}
    return result, answer


def read_decimal(raw: object) -> Decimal | None:
    """Read a JSON number or a text such as "130", "89325.00" or "R$ 1.234,56"."""
    if isinstance(raw, str) and _PLAIN_NUMBER.fullmatch(raw):
        return Decimal(raw)
    text = scalar_text(raw).replace("R$", "").replace(" ", "")
    if not _NUMBER.fullmatch(text) or sum(c.isdigit() for c in text) > _MOST_DIGITS:
        return None
    if "," in text and text.rfind(",") > text.rfind("."):
        text = text.replace(".", "")
        if text.count(",") > 1:
            return None
        text = text.replace(",", ".")
    elif "," in text or (isinstance(raw, str) and _THOUSANDS.fullmatch(text)):
        text = text.replace(",", "") if "," in text else text.replace(".", "")
    return Decimal(text) if text.count(".") <= 1 else None


def read_amount(raw: object) -> Decimal | None:
    """Read an amount of money. A negative amount is read as None.

    In "45,123" the comma separates thousands, because no amount has three decimals.
    """
    if (
        isinstance(raw, str)
        and "," in raw
        and _COMMA_THOUSANDS.fullmatch(raw.replace("R$", "").strip())
    ):
        raw = raw.replace(",", "")
    value = read_decimal(raw)
    return None if value is None or value < 0 else value


def read_integer(raw: object) -> int | None:
    """Read a whole number. A negative number or a fraction is read as None."""
    if isinstance(raw, str) and _FEW_DIGITS.fullmatch(raw):
        return int(raw)
    if type(raw) is int:  # and no bool
        return raw if 0 <= raw <= _LARGEST else None
    number = read_amount(raw)
    return int(number) if number is not None and number == int(number) else None


def read_year(raw: object) -> int | None:
    """Read a year from FIRST_YEAR to LAST_YEAR, or of two digits, such as "15" and "98".

    A fuel may follow, in words or as the price table's number: "2015 Gasolina", "2015-1".
    """
    year = read_integer(raw)
    if year is None or year < _LEAST_OF_THREE_DIGITS:
        text = scalar_text(raw)
        if match := _YEAR_AND_FUEL.fullmatch(text):
            year = int(match[1])
        elif _TWO_DIGITS.fullmatch(text):
            year = int(full_year(text))
    return year if year is not None and FIRST_YEAR <= year <= LAST_YEAR else None


def read_flag(raw: object) -> bool | None:
    """Read a JSON boolean or a text such as "SIM", "N" or "1"."""
    if isinstance(raw, bool):
        return raw
    word = fold(scalar_text(raw))
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


def read_clock(raw: object) -> time | None:
    """Read a time HH:MM or HH:MM:SS, with or without surrounding blanks."""
    match = _CLOCK.fullmatch(scalar_text(raw))
    if match is None:
        return None
    try:
        return time(int(match[1]), int(match[2]), int(match[3] or 0))
    except ValueError:
        return None


def read_moment(raw: object) -> datetime | None:
    """Read DD/MM/YYYY HH:MM:SS or an ISO date as a datetime without a time zone.

    The time is the upstream's local time, or midnight if the text has no readable time. A time with
    an offset from UTC is converted to São Paulo's time.
    """
    text = scalar_text(raw)
    read = _split_day(text)
    if read is None or read[0] in _NULL_YEARS or not FIRST_YEAR <= read[0] <= LAST_YEAR:
        return None
    year, month, day, rest = read
    try:
        moment = datetime(year, month, day)  # noqa: DTZ001 the source's own time
    except ValueError:
        return None
    if not rest:
        return moment
    zone = _ZONE.search(rest)
    clock = read_clock(rest[: zone.start()] if zone else rest)
    if clock is None:
        return moment
    moment = datetime.combine(moment, clock)
    if zone is None:
        return moment
    ahead = timedelta(hours=int(zone[2] or 0), minutes=int(zone[3] or 0))
    offset = -ahead if zone[1] == "-" else ahead
    try:
        return local_time(moment.replace(tzinfo=timezone(offset))).replace(tzinfo=None)
    except ValueError:  # no time zone is a day or more away from UTC
        return moment


def full_year(digits: str) -> str:
    """Return a year of two digits with its century: 2000 to 2049, or 1950 to 1999."""
    return f"{'20' if digits < '50' else '19'}{digits}"


def _split_day(text: str) -> tuple[int, int, int, str] | None:
    """Return year, month, day and the text after the date, or None."""
    if match := _DAY.fullmatch(text):
        day, _, month, year, rest = match.groups()
        if len(year) == 2:
            if len(day) + len(month) < 4:  # "1/1/25" may be of any order
                return None
            year = full_year(year)
        return int(year), int(month), int(day), rest or ""
    if match := _ISO_DAY.fullmatch(text):
        year, _, month, day, rest = match.groups()
        return int(year), int(month), int(day), rest or ""
    return None


def is_null_date(text: str) -> bool:
    """Return whether a text stands for a missing date, such as "00/00/0000" or "1900-01-01"."""
    read = _split_day(text)
    if read is not None:
        return read[0] in _NULL_YEARS
    return not _CONTENT.search(text) or is_blank(text)


def value_text(raw: object, marker: str) -> Field:
    """Read the text of a member. A text that stands for a missing value is EMPTY."""
    field = read_field(raw, marker)
    return EMPTY if field.state == "known" and is_blank(field.value) else field


def date_text(raw: object, marker: str) -> Field:
    """Read the text of a date. A text that stands for a missing date is EMPTY."""
    field = read_field(raw, marker)
    return EMPTY if field.state == "known" and is_null_date(field.value) else field


def flat_text(raw: object, marker: str) -> Field:
    """Read a text, or join its lines, or the texts in a list or an object, with "; ".

    A hidden text becomes "oculto pela fonte" ("hidden by the source"). If all texts are hidden, the
    result is HIDDEN.
    """
    if isinstance(raw, str) and len(lines := raw[:_MOST_LINES].splitlines()) > 1:
        raw = lines + ["…"] * (len(raw) > _MOST_LINES)
    if not isinstance(raw, list | dict):
        return value_text(raw, marker)
    texts = list(islice(_texts(raw, marker), _MOST_TEXTS + 1))
    if texts and set(texts) == {_HIDDEN_WORDS}:
        return HIDDEN
    return read_field("; ".join(texts[:_MOST_TEXTS] + ["…"] * (len(texts) > _MOST_TEXTS)), "")


def members_of(raw: object) -> Mapping[str, object]:
    """Return the members of a JSON object. Any other value has none."""
    return raw if isinstance(raw, dict) else {}


def objects_of(raw: object) -> tuple[Mapping[str, object], ...]:
    """Return the members of each element of a JSON array.

    An object is read as an array of one element, and an empty object as an empty array. An element
    that is not an object has no members, because a list of unreadable fines must not look empty.
    """
    if isinstance(raw, dict):
        raw = [raw] if raw else []
    return tuple(map(members_of, raw)) if isinstance(raw, list) else ()


_Read = Callable[[object], object]
_ReadText = Callable[[object, str], object]


class Sent(msgspec.Struct, frozen=True):
    """How a field of a record is sent: as ``member``.

    ``read`` reads its value. Without ``read``, ``text`` reads its value with the marker, the text
    that the upstream sends in place of a hidden value. In "pagamento.valorPago", a dot leads to a
    member of an inner object. ``shape`` is the JSON type of the member in the contract
    (``portal.vehicle.drift``).
    """

    member: str
    read: _Read | None = None
    text: _ReadText = value_text
    shape: object = "text"


def _sent_of(kind: type) -> Iterator[tuple[str, str, Sent]]:
    """Yield the outer object's name, or "", the member's name and the ``Sent`` of each field."""
    for hint in get_type_hints(kind, include_extras=True).values():
        if get_origin(hint) is not Annotated:
            continue
        sent: Sent = hint.__metadata__[0]
        outer, _, name = sent.member.rpartition(".")
        yield outer, name, sent


@cache
def _readers(kind: type) -> tuple[tuple[str, str, _Read | None, _ReadText, object], ...]:
    """Return how each field is read. The last value is what a member without content reads as."""
    return tuple(
        (outer, name, sent.read, sent.text, sent.read("") if sent.read else sent.text("", ""))
        for outer, name, sent in _sent_of(kind)
    )


def read_as(kind: type[T], members: Mapping[str, object], marker: str) -> T:
    """Read a record. A field without a ``Sent`` is the last, and has a default."""
    values = []
    for outer, name, read, text, absent in _readers(kind):  # type: ignore[arg-type]
        raw = (members_of(members.get(outer)) if outer else members).get(name)
        if raw is None or raw == "":  # as sources send most members
            values.append(absent)
        else:
            values.append(read(raw) if read else text(raw, marker))
    return kind(*values)


def shape_of(kind: type) -> dict[str, Any]:
    """Return the members that a dataclass reads, each with its shape."""
    shape: dict[str, Any] = {}
    for outer, name, sent in _sent_of(kind):
        (shape.setdefault(outer, {}) if outer else shape)[name] = sent.shape
    return shape


def _texts(raw: object, marker: str, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a JSON value. A member of an object gives "name: text"."""
    if isinstance(raw, list | dict) and depth > _MOST_DEPTH:
        yield "…"
    elif isinstance(raw, list):
        for value in raw:
            yield from _texts(value, marker, depth + 1)
    elif isinstance(raw, dict):
        for name, value in raw.items():
            inner = "; ".join(islice(_texts(value, marker, depth + 1), _MOST_TEXTS))
            yield ": ".join(filter(None, (_word(name, marker), inner)))
    elif text := _word(raw, marker):
        yield text


def _word(raw: object, marker: str) -> str:
    if isinstance(raw, bool):
        return "sim" if raw else "não"
    field = read_field(raw, marker)
    return _HIDDEN_WORDS if field.is_hidden else str(field)
