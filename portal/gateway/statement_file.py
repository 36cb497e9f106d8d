"""Reads a provider's statement from a CSV file, whose columns have the provider's own names."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
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
# Words of an operation, in this order, because a path of fines contains "restrictions" as well.
_OPERATIONS: Final = (
    ("renainf", ("renainf", "multa", "infrac", "fines")),
    ("renajud", ("renajud", "judicial", "restric")),
    ("report", ("report", "laudo", "relatorio", "analytical", "analitic")),
    ("decode", ("decode", "dados", "veic", "fipe", "placa", "decodific")),
)
_FORMATS: Final = (
    "%d/%m/%Y %H:%M:%S.%f",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d-%m-%Y %H:%M:%S",
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
    places = _places(rows[0], columns or {})
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = {name: row[place] if place < len(row) else "" for name, place in places.items()}
        found.append(_billed(line, cells, tag_of))
    if not found:
        raise WrongStatement("no_rows")
    return found


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


def _places(header: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Return the place of each column that the header has. Raises WrongStatement."""
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
    return places


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _delimiter(text: str) -> str:
    header = text.partition("\n")[0]
    return max(";,\t", key=header.count)


def _plain(text: str) -> str:
    """Return a text in lower case without accents."""
    apart = unicodedata.normalize("NFKD", text.strip().lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _operation(text: str) -> str | None:
    plain = _plain(text)
    return next((name for name, words in _OPERATIONS if any(word in plain for word in words)), None)


def _price(text: str) -> Decimal | None:
    bare = re.sub(r"[^0-9,.-]", "", text)
    if "," in bare:
        bare = bare.replace(".", "").replace(",", ".")
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None


def _time(text: str) -> datetime | None:
    bare = text.strip()
    if _EPOCH.fullmatch(bare):
        seconds = float(bare)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    for read in (datetime.fromisoformat, *(_reader(form) for form in _FORMATS)):
        try:
            found = read(bare)
        except ValueError:
            continue
        if found.year < _FIRST_YEAR:
            return None
        return found if found.tzinfo else found.replace(tzinfo=sao_paulo())
    return None


def _reader(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form)  # noqa: DTZ007 the zone is added later
