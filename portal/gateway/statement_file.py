"""Reads a provider's statement from a CSV file, whose columns have the provider's own names."""

import csv
import io
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from itertools import starmap
from typing import Final, Literal

from portal.gateway.ledger import Ledger
from portal.gateway.statement import Billed, Comparison, Sent, compare
from portal.system.local_time import local_date, sao_paulo
from portal.vehicle.plate import InvalidSubject
from portal.vehicle.typed import parse_typed

REQUIRED: Final = ("time", "operation", "price")
COLUMNS: Final = (*REQUIRED, "plate")
# Words of a header that name a column. The first header with a word is taken.
_HEADERS: Final[Mapping[str, tuple[str, ...]]] = {
    "time": ("datetime", "timestamp", "data/hora", "data hora", "created", "date", "data", "time"),
    "operation": (
        *("operation", "operac", "servic", "service", "produto", "product", "endpoint"),
        *("consulta", "path", "tipo"),
    ),
    "price": ("price", "preco", "valor", "amount", "custo", "cost", "cobrado"),
    "plate": ("plate", "placa", "veiculo", "vehicle"),
}
# A column beside one of days.
_HOURS: Final = ("hora", "time", "hour")
# A provider may write its name and the month above the header.
_MOST_ABOVE: Final = 20
# Words of an operation, in this order, because a path of fines contains "restrictions" as well.
_OPERATIONS: Final = (
    ("renainf", ("renainf", "multa", "infrac", "fines")),
    ("renajud", ("renajud", "judicial", "restric")),
    ("report", ("report", "laudo", "relatorio", "analytical", "analitic")),
    ("decode", ("decode", "dados", "veic", "fipe", "placa", "decodific")),
)
# A day with the year first or last, a time, and a zone such as "Z", "UTC", "-03:00" or "(GMT-3)".
_TIME: Final = re.compile(
    r"(?:(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})"
    r"|(?P<day_>[0-9]{1,2})[-/.](?P<month_>[0-9]{1,2})[-/.](?P<year_>[0-9]{4}|[0-9]{2}))"
    r"(?:T|,? +(?:as +)?|, *)(?P<hour>[0-9]{1,2})[:h](?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"(?: *\(?(?P<zone>z|utc|gmt|brt)? *"
    r"(?P<offset>(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})?)?\)?)?",
    re.ASCII | re.IGNORECASE,
)
_FIRST_YEAR: Final = 2000  # a year of few digits is a wrong column
_EPOCH: Final = re.compile(r"[0-9]{10}([0-9]{3})?(\.[0-9]+)?")


Problem = Literal["empty", "no_rows", "no_column", "unrecognised", "cell"]


class WrongStatement(ValueError):
    """The file cannot be read as a statement.

    "no_column": the header lacks the column ``text``. "unrecognised": no column of the header was
    recognised as the columns ``names``. "cell": ``text``, in a line, is none of the column
    ``names``.
    """

    def __init__(
        self, problem: Problem, *, names: Sequence[str] = (), text: str = "", line: int = 0
    ) -> None:
        super().__init__(problem)
        self.problem: Final = problem
        self.names: Final = names
        self.text: Final = text
        self.line: Final = line


def check_statement(
    ledger: Ledger,
    tag_of: Callable[[str], str],
    content: bytes,
    columns: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare a statement with the calls of its days, as ``compare`` does.

    ``tag_of`` returns the tag of a vehicle. Raises WrongStatement and SQLAlchemyError.
    """

    def tag_of_typed(text: str) -> str:
        try:
            return tag_of(parse_typed(text).text)
        except InvalidSubject:
            return ""

    billed = read_statement(content, tag_of_typed, columns)
    days = [local_date(row.at) for row in billed]
    sent = ledger.sent(min(days) - timedelta(days=1), max(days) + timedelta(days=1))
    return compare(billed, starmap(Sent, sent))


def read_statement(
    content: bytes, tag_of: Callable[[str], str], columns: Mapping[str, str] | None = None
) -> list[Billed]:
    """Return the rows of a statement.

    ``columns`` maps "time", "operation", "price" and "plate" to the names of headers, where the
    names are not to be recognised. ``tag_of`` returns the tag of a typed plate, or "" if it is
    none. A time without a zone is one of America/Sao_Paulo. Raises WrongStatement.
    """
    text = _decoded(content)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error:  # a cell without end
        raise WrongStatement("no_rows") from None
    if not rows:
        raise WrongStatement("empty")
    above, places = _header(rows, columns or {})
    billed = []
    for line, row in enumerate(rows[above + 1 :], start=above + 2):
        if not any(cell.strip() for cell in row):
            continue
        cells = {
            name: " ".join(row[place] for place in several if place < len(row))
            for name, several in places.items()
        }
        billed.append(_billed(line, cells, tag_of))
    if not billed:
        raise WrongStatement("no_rows")
    return billed


def _billed(line: int, cells: Mapping[str, str], tag_of: Callable[[str], str]) -> Billed:
    at, operation, price = (
        read(cells[name])
        for name, read in (("time", _time), ("operation", _operation), ("price", _price))
    )
    for name, value in (("time", at), ("operation", operation), ("price", price)):
        if value is None:
            raise WrongStatement("cell", names=[name], text=cells[name][:40], line=line)
    assert isinstance(at, datetime) and isinstance(operation, str) and isinstance(price, Decimal)
    return Billed(line, at, operation, price, tag_of(cells.get("plate", "")))


def _header(
    rows: Sequence[Sequence[str]], columns: Mapping[str, str]
) -> tuple[int, dict[str, list[int]]]:
    """Return the number of rows above the header, and the header's places.

    Raises the WrongStatement of the first row, if none of the first rows is a header.
    """
    refused = None
    for above, row in enumerate(rows[:_MOST_ABOVE]):
        try:
            return above, _places(row, columns)
        except WrongStatement as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _places(header: Sequence[str], columns: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the places of each column that the header has. Raises WrongStatement.

    The time has two, if the header has a column of days and one of hours.
    """
    plain = [_plain(cell) for cell in header]
    places = {}
    for name, typed in columns.items():
        if _plain(typed) not in plain:
            raise WrongStatement("no_column", names=[name], text=typed)
        places[name] = plain.index(_plain(typed))
    for name, words in _HEADERS.items():
        if name in places:
            continue
        known = (
            place
            for word in words
            for place, cell in enumerate(plain)
            if word in cell and place not in places.values()
        )
        if (place := next(known, None)) is not None:
            places[name] = place
    missing = [name for name in REQUIRED if name not in places]
    if missing:
        raise WrongStatement("unrecognised", names=missing)
    by_column = {name: [place] for name, place in places.items()}
    if not any(word in plain[places["time"]] for word in _HOURS):
        rest = (at for at in range(len(plain)) if at not in places.values())
        by_column["time"] += [at for at in rest if any(word in plain[at] for word in _HOURS)][:1]
    return by_column


def _decoded(content: bytes) -> str:
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _delimiter(text: str) -> str:
    """Return the delimiter that is in the first lines most often in one line."""
    first = text.splitlines()[:_MOST_ABOVE]
    return max(";\t|,", key=lambda sign: max((line.count(sign) for line in first), default=0))


def _plain(text: str) -> str:
    """Return a text in lower case without accents."""
    apart = unicodedata.normalize("NFKD", text.strip().lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _operation(text: str) -> str | None:
    plain = _plain(text)
    return next((name for name, words in _OPERATIONS if any(word in plain for word in words)), None)


def _price(text: str) -> Decimal | None:
    bare = re.sub(r"[^0-9,.-]", "", text)
    thousands, decimal = (".", ",") if bare.rfind(",") > bare.rfind(".") else (",", ".")
    bare = bare.replace(thousands, "").replace(decimal, ".")
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None


def _time(text: str) -> datetime | None:
    bare = text.strip()
    if _EPOCH.fullmatch(bare):
        seconds = float(bare)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    time = _TIME.fullmatch(_plain(bare))
    if time is None:
        return None
    year, month, day = (int(time[name] or time[f"{name}_"]) for name in ("year", "month", "day"))
    hour, minute, second = (int(time[name] or 0) for name in ("hour", "minute", "second"))
    micro = int((time["fraction"] or "").ljust(6, "0")[:6])
    year += 2000 * (year < 100)
    try:
        at = datetime(year, month, day, hour, minute, second, micro, tzinfo=_zone(time))
    except ValueError:
        return None
    return at if at.year >= _FIRST_YEAR else None


def _zone(time: re.Match[str]) -> tzinfo:
    """Return the zone of a time, by default America/Sao_Paulo. Raises ValueError."""
    if time["offset"]:
        offset = timedelta(hours=int(time["hours"]), minutes=int(time["minutes"] or 0))
        return timezone(-offset if time["sign"] == "-" else offset)
    return UTC if time["zone"] in ("z", "utc", "gmt") else sao_paulo()
