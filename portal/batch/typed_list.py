"""Reads plates and Renavam from pasted text, a file or a list of JSON values.

A Renavam is a vehicle's registration number. Invalid entries raise no error. The result contains
these entries with their positions and, if possible, with the plate or Renavam that was probably
meant.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Final, Literal
from unicodedata import normalize

import msgspec

from portal.vehicle import (
    PLATE_LENGTH,
    InvalidSubject,
    Plate,
    Renavam,
    parse_subject,
    probable_subject,
    visible,
)
from portal.wording import DASHES, bare

Subject = Plate | Renavam
BinaryFormat = Literal["XLSX", "ODS", "ZIP", "XLS", "PDF"]

LONGEST_SHOWN = 40  # characters; longer invalid entries are stored truncated
MOST_WRONG = 200  # invalid entries stored per list; further entries are only counted
# A plate or Renavam within other text. Separators may follow a plate's letters. A dash may precede
# the last digit of a Renavam, because CSV exports of the portal contain this dash.
_SUBJECT = re.compile(
    rf"(?<![A-Za-z0-9])(?:([A-Za-z]{{3}})[{DASHES} .·]{{0,3}}([0-9][A-Za-z0-9][0-9]{{2}})"
    rf"|([0-9]{{10}}[{DASHES}]?[0-9]))"
    r"(?![A-Za-z0-9])",
    re.ASCII,
)
# A word that is probably a mistyped plate.
_LIKE_PLATE = re.compile(
    r"(?=.{5,9}$)(?:[A-Z]{3}[A-Z0-9]*[0-9][A-Z0-9]*"
    r"|(?=.{6,})(?=(?:.*[A-Z]){2})(?:[A-Z]*[0-9]){3}[A-Z0-9]*)",
    re.ASCII,
)
# A number that is probably a mistyped Renavam, or a Renavam with letters such as O and I in place
# of 0 and 1.
_LIKE_RENAVAM = re.compile(r"[0-9]{8,12}|(?=(?:.*[0-9]){8})[0-9OILSB]{11}", re.ASCII)
# A date ("25/11/2026", "2026-11-25") or a time, whose digits may look like a mistyped Renavam.
_MOMENT = re.compile(
    r"[0-3]?[0-9][/.\-][01]?[0-9][/.\-](?:[0-9]{2}){1,2}|[0-9]{4}[/.\-][01]?[0-9][/.\-][0-3]?[0-9]"
    r"|[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?",
    re.ASCII,
)
_WORD = re.compile(r"[^\s()\[\]{}\"']+")
# A short word, such as a car model or a month, and a year ("Gol 2019", "nov 2025"). Such text looks
# like a plate.
_NAME_AND_YEAR = re.compile(
    r"(?:gol|uno|fox|fit|biz|pop|fan|kia|bmw|jac|ram|ano|mod|fab"
    r"|jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)"
    rf"[{DASHES} .·]*[ ][{DASHES} .·]*(?:19|20)[0-9]{{2}}",
    re.ASCII | re.IGNORECASE,
)
# Words for "plate" and "Renavam", in the spelling of ``bare`` (upper case, no accents). _TITLE
# finds such a word in a column's title ("Nº da placa", number of the plate), but not inside another
# word ("emplacamento", registration).
_LABEL = re.compile(r"PLACAS?|PLATES?|RENAVA(?:M|N|NS)")
_PLATE_TITLE = re.compile(r"(?<![A-Z])(?:PLACA|PLATE)")
_TITLE = re.compile(r"(?<![A-Z])(?:PLACA|PLATE|RENAVA[MN])")
# Possible separators of a line's cells. A tab is preferred to a semicolon, and both to a comma.
_DELIMITERS = "\t;,"
_SLASHES = re.compile(r"[/|]")  # separators in a line without any of _DELIMITERS
# The first line of a CSV file may tell Excel the file's delimiter, for example "sep=;".
_STATED_DELIMITER = re.compile(r'\ufeff?"?sep=([;,\t])"?', re.IGNORECASE)
_encoder = msgspec.json.Encoder(decimal_format="number")
_SIGNATURES: Final[dict[bytes, BinaryFormat]] = {
    b"PK\x03\x04": "ZIP",
    b"\xd0\xcf\x11\xe0": "XLS",
    b"%PDF": "PDF",
}
# Spreadsheets are ZIP archives. An XLSX archive contains a file whose name begins with
# "xl/workbook.". An OpenDocument archive begins with an uncompressed file of the name "mimetype",
# whose content is the media type.
_SPREADSHEETS: Final[dict[bytes, BinaryFormat]] = {
    b"xl/workbook.": "XLSX",
    b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet": "ODS",
}


@dataclass(frozen=True, slots=True)
class WrongEntry:
    """An entry of the list that is neither a plate nor a Renavam.

    ``index`` is the number of the entry's line, row or list element, from 0. ``suggestion`` is the
    plate or Renavam that was probably meant, or "" if unknown. ``in_file`` is true if the entry is
    from an uploaded file. ``is_text`` is false if the entry is a JSON value other than a string. In
    this case, ``value`` is the entry's JSON text.
    """

    index: int
    value: str
    suggestion: str = ""
    in_file: bool = False
    is_text: bool = True

    def names(self, subject: str) -> bool:
        """Return whether the entry contains ``subject`` in any spelling, or suggests it."""
        return subject == self.suggestion or subject in _signs(normalize("NFKC", self.value))


@dataclass(frozen=True, slots=True)
class TypedList:
    """The vehicles and the invalid entries of a list, both in the order of the list.

    ``subjects`` contains each plate or Renavam once. ``repeated`` contains the plates and Renavam
    that occur more than once. ``more_wrong`` is the number of invalid entries that are not in
    ``wrong``.
    """

    subjects: tuple[Subject, ...]
    wrong: tuple[WrongEntry, ...]
    repeated: tuple[Subject, ...]
    more_wrong: int = 0


class BinaryFile(ValueError):
    """The file is not a text. ``format`` is its format, such as "XLSX" or "PDF"."""

    def __init__(self, file_format: BinaryFormat) -> None:
        super().__init__(file_format)
        self.format = file_format


@dataclass(frozen=True, slots=True)
class _Cell:
    """The vehicles and the other words of a cell, without labels such as "Placa" (plate)."""

    subjects: tuple[Subject, ...]
    words: tuple[str, ...]

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The words that look like a mistyped plate or Renavam."""
        return tuple(word for word in self.words if _is_like_subject(_signs(word)))


def read_strings(values: Sequence[object], most_wrong: int | None = None) -> TypedList:
    """Read a JSON list with one plate or Renavam in each element.

    The result contains at most ``most_wrong`` invalid entries, by default all.
    """
    found = ((index, _one(value)) for index, value in enumerate(values))
    listed = _collected(found, len(values) if most_wrong is None else most_wrong)
    wrong = (replace(e, is_text=isinstance(values[e.index], str)) for e in listed.wrong)
    return replace(listed, wrong=tuple(wrong))


def read_list(text: str) -> TypedList:
    """Read pasted text or the text of a CSV file.

    A line with a tab, a semicolon or a comma is a row of cells. If a header names columns of plates
    or Renavam, only these columns are read. Otherwise all cells are read. Words around plates are
    ignored, but a word that looks like a mistyped plate or Renavam is an invalid entry. In a row
    with a vehicle, dates and times are ignored too, although their digits may look like a mistyped
    Renavam.

    A text with tabs or semicolons, or with a header, is a table. In a table, a Renavam beside a
    plate belongs to the plate's vehicle and is omitted. In other text, the Renavam is a vehicle of
    its own.
    """
    lines = text.splitlines()
    delimiter = ""
    if lines and (stated := _STATED_DELIMITER.fullmatch(lines[0])):
        delimiter, lines[0] = stated[1], ""
    rows = [_row(line, delimiter) for line in lines]
    header = _header(rows)
    if header is not None and not delimiter:
        delimiter = _delimiter(lines[header])
        rows = [_row(line, delimiter) for line in lines]
    has_columns = "\t" in text or ";" in text
    by_line = _collected(_in_rows(rows, has_columns))
    # The csv module reads line breaks between two quotes as part of a cell. This is right for a
    # cell that contains several lines of notes. But if a quote is not closed, the module joins all
    # lines up to the next quote into one cell, and the vehicles in these lines are not found. A
    # text with an odd number of quotes is therefore read only line by line. In a text with an even
    # number of quotes, two of them may still be unclosed. Such a text is read both line by line and
    # with the csv module, and the result with more vehicles is returned.
    if '"' not in text or text.count('"') % 2:
        return by_line
    table = _rows("\n".join(lines), delimiter or max(";\t,", key="\n".join(lines[:20]).count))
    if table is None or not any("\n" in cell for row in table for cell in row):
        return by_line
    notes = [["" if "\n" in cell.strip() else cell for cell in row] for row in table]
    whole = _collected(_in_rows(notes, has_columns))
    return by_line if len(by_line.subjects) > len(whole.subjects) else whole


def read_file(content: bytes) -> TypedList:
    """Read the plates and Renavam of a text file. Raises BinaryFile."""
    for signature, file_format in _SIGNATURES.items():
        if content.startswith(signature):
            named = (each for text, each in _SPREADSHEETS.items() if text in content)
            raise BinaryFile(next(named, file_format))
    listed = read_list(decode_upload(content))
    return replace(listed, wrong=tuple(replace(each, in_file=True) for each in listed.wrong))


def joined(first: TypedList, second: TypedList) -> TypedList:
    """Return one list with the vehicles and the invalid entries of two lists."""
    in_both = [subject for subject in second.subjects if subject in set(first.subjects)]
    return TypedList(
        tuple(dict.fromkeys((*first.subjects, *second.subjects))),
        (*first.wrong, *second.wrong),
        tuple(dict.fromkeys((*first.repeated, *second.repeated, *in_both))),
        first.more_wrong + second.more_wrong,
    )


def decode_upload(content: bytes) -> str:
    """Decode UTF-16 (with a byte order mark), UTF-8 or else Windows-1252."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _collected(
    found: Iterable[tuple[int, Subject | str]], most_wrong: int = MOST_WRONG
) -> TypedList:
    subjects: dict[Subject, None] = {}
    repeated: dict[Subject, None] = {}
    wrong: list[WrongEntry] = []
    more_wrong = 0
    for index, each in found:
        if isinstance(each, str):
            if len(wrong) >= most_wrong:
                more_wrong += 1
                continue
            value = "".join(c for c in each if c.isprintable()).strip()[:LONGEST_SHOWN]
            meant = probable_subject(each)
            wrong.append(WrongEntry(index, value, meant.text if meant else ""))
        elif each in subjects:
            repeated[each] = None
        else:
            subjects[each] = None
    return TypedList(tuple(subjects), tuple(wrong), tuple(repeated), more_wrong)


def _one(value: object) -> Subject | str:
    if not isinstance(value, str):
        return _encoder.encode(value).decode()
    # Spreadsheets mark text with a leading apostrophe, which users may copy with the plate.
    match = _SUBJECT.fullmatch(visible(value).strip().removeprefix("'"))
    return (_subject(match) if match else None) or value


def _in_rows(
    rows: Sequence[Sequence[str]], has_columns: bool
) -> Iterator[tuple[int, Subject | str]]:
    header = _header(rows)
    columns = [] if header is None else _named_columns(rows[header])
    for index, row in enumerate(rows):
        cells = [_cell(text) for text in row]
        if header is None:
            found = _in_cells(cells, has_columns=has_columns)
        elif index < header:  # a line above the header, such as the table's title
            found = [each for cell in cells for each in cell.doubtful]
        elif row == rows[header]:  # a file of several pages may repeat its header
            found = []
        else:
            found = _in_cells(_chosen(cells, columns), has_columns=True, is_named=True)
        for each in found:
            yield index, each


def _header(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the row that names a column of plates or Renavam, or None."""
    for index, row in enumerate(rows):
        cells = [_cell(text) for text in row]
        if any(cell.subjects for cell in cells):
            return None
        doubtful = [word for cell in cells for word in cell.doubtful]
        is_line_with_number = len(row) == 1 and re.search("[0-9]", row[0])  # such as "placa: ABC1"
        if is_line_with_number or not all(_TITLE.match(bare(word)) for word in doubtful):
            continue
        if any(_TITLE.search(bare(text)) for text in row):
            return index
    return None


def _named_columns(header: Sequence[str]) -> list[int]:
    """Return the indexes of the plate columns, then of the Renavam columns."""
    titles = [bare(text) for text in header]
    found = [index for index, title in enumerate(titles) if _TITLE.search(title)]
    return sorted(found, key=lambda index: not _PLATE_TITLE.search(titles[index]))


def _chosen(cells: Sequence[_Cell], columns: Sequence[int]) -> Sequence[_Cell]:
    """Return the cells of a row that must be read.

    These are the cells in ``columns``, which are the columns that the header names. But all cells
    are read if every cell with text contains a vehicle and one of the vehicles is a plate. In this
    case, the supposed header is probably a sentence above a list.
    """
    filled = [cell for cell in cells if cell.subjects or cell.words]
    has_plate = any(isinstance(each, Plate) for cell in filled for each in cell.subjects)
    if has_plate and all(cell.subjects for cell in filled):
        return cells
    return [cells[column] for column in columns if column < len(cells)]


def _in_cells(
    cells: Sequence[_Cell], *, has_columns: bool, is_named: bool = False
) -> list[Subject | str]:
    """Return the vehicles and the invalid entries of a row.

    A line of text is a row of one cell. ``has_columns`` is true if the row belongs to a table.
    ``is_named`` is true if a header names the cells' columns.
    """
    filled = [cell for cell in cells if cell.subjects or cell.words]
    subjects = [each for cell in filled for each in cell.subjects]
    plates = [each for each in subjects if isinstance(each, Plate)]
    doubtful = [each for cell in filled for each in cell.doubtful]
    if subjects:
        doubtful = [each for each in doubtful if not _MOMENT.fullmatch(each.strip(".,"))]
    # In a row with several plates, "ABC 12" is a mistyped plate. In a row with one plate, such text
    # may be a model ("Gol 16").
    if len(plates) > 1:
        doubtful += [
            " ".join(cell.words)
            for cell in filled
            if not cell.subjects
            and not cell.doubtful
            and _is_like_subject(_signs("".join(cell.words)))
        ]
    mistyped = [each for each in doubtful if not _LIKE_RENAVAM.fullmatch(_signs(each))]
    has_others = sum(len(cell.words) for cell in filled) > len(doubtful)
    # Omit the numbers of a row (Renavam and mistyped Renavam) in two cases. If a table's row has
    # one number for each plate, each number is the Renavam of a vehicle whose plate is in the row.
    # If a row has a single plate and other words, a number may be a telephone number or a CPF (a
    # person's tax number).
    vehicle_count = len(plates) + len(mistyped)
    numbers_count = len(subjects) - len(plates) + len(doubtful) - len(mistyped)
    is_pair = has_columns and numbers_count == vehicle_count
    if vehicle_count and (is_pair or (has_others and vehicle_count == 1)):
        doubtful = mistyped
        subjects = list(plates) or subjects
    is_every_word_named = is_named or len(filled) == 1 or not has_others
    if subjects:
        # In a row with a single plate and other words, a word that looks like a mistyped plate or
        # Renavam may describe the plate's vehicle. The word is an invalid entry only if a header
        # names the columns or if the row is a line of text.
        return [*subjects, *(doubtful if is_every_word_named or len(plates) != 1 else ())]
    if doubtful and is_every_word_named:
        return list(doubtful)
    if not filled:
        return []
    best = max(filled, key=_likeness)
    return list(best.doubtful) or [" ".join(best.words)]


def _likeness(cell: _Cell) -> tuple[bool, bool, bool, int]:
    """Return a sort key for cells without a vehicle.

    The more similar a cell is to a plate, the greater is its key.
    """
    text = " ".join(cell.words)
    signs = _signs(text)
    is_word_or_number = signs.isalpha() or signs.isdecimal()  # such as "Chassis" or "1050000"
    return (
        isinstance(probable_subject(text), Plate) and not is_word_or_number,
        bool(cell.doubtful),
        not is_word_or_number,
        -abs(len(signs) - PLATE_LENGTH),
    )


def _cell(text: str) -> _Cell:
    subjects: list[Subject] = []

    def take(match: "re.Match[str]") -> str:
        subject = None if _NAME_AND_YEAR.fullmatch(match[0]) else _subject(match)
        if subject is None:
            return match[0]
        subjects.append(subject)
        return " "

    rest = _SUBJECT.sub(take, visible(text))
    words = [word for word in _WORD.findall(rest) if _signs(word)]
    others = (word for word in words if not _LABEL.fullmatch(bare(_signs(word))))
    return _Cell(tuple(subjects), tuple(others))


def _rows(text: str, delimiter: str) -> list[list[str]] | None:
    """Return the rows of a CSV text, or None if the csv module rejects the text.

    For example, the module rejects very long cells.
    """
    try:
        return list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return None


def _row(line: str, delimiter: str) -> list[str]:
    """Split a line at ``delimiter`` and return the cells.

    A line without ``delimiter`` is split at the first of _DELIMITERS that occurs in the line, or
    else at each ``/`` and ``|``. A delimiter between quotes does not split the line. If the number
    of quotes is odd, quotes are ignored.
    """
    if not delimiter or delimiter not in line:
        delimiter = _delimiter(line)
    if not delimiter:
        return _SLASHES.split(line)
    if '"' not in line:
        return line.split(delimiter)
    if line.count('"') % 2 == 0 and (rows := _rows(line, delimiter)) is not None:
        return rows[0]
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _delimiter(line: str) -> str:
    return next((sign for sign in _DELIMITERS if sign in line), "")


def _is_like_subject(signs: str) -> bool:
    return bool(_LIKE_PLATE.fullmatch(signs) or _LIKE_RENAVAM.fullmatch(signs))


def _subject(match: "re.Match[str]") -> Subject | None:
    try:
        subject = parse_subject(match[3] or match[1] + match[2])
    except InvalidSubject:
        return None
    return None if isinstance(subject, Renavam) and subject.is_invented else subject


def _signs(text: str) -> str:
    return "".join(c for c in text if c.isalnum()).upper()
