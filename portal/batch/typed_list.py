"""Reads plates and Renavam from pasted text, from a CSV file, or from a list of strings.

A Renavam is a vehicle's registration number. An invalid entry raises no error. The result contains
the entry's position and, if possible, a suggestion.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from unicodedata import normalize

from portal.vehicle import InvalidPlate, Plate, Renavam, parse_subject

Subject = Plate | Renavam

LONGEST_SHOWN = 40  # characters of an invalid entry that are stored
MOST_WRONG = 200  # invalid entries that are stored; further ones are only counted
# A plate or Renavam within other text. Separators may follow a plate's letters.
_SUBJECT = re.compile(
    r"(?<![A-Za-z0-9])(?:([A-Za-z]{3})[ .\-–—·]{0,3}([0-9][A-Za-z0-9][0-9]{2})|([0-9]{11}))"
    r"(?![A-Za-z0-9])",
    re.ASCII,
)
# A word that is probably a mistyped plate.
_LIKE_PLATE = re.compile(
    r"(?=.{5,9}$)(?:[A-Z]{3}[A-Z0-9]*[0-9][A-Z0-9]*"
    r"|(?=.{6,})(?=(?:.*[A-Z]){2})(?:[A-Z]*[0-9]){3}[A-Z0-9]*)",
    re.ASCII,
)
_LIKE_RENAVAM = re.compile(r"[0-9]{8,12}", re.ASCII)
_WORD = re.compile(r"[^\s()\[\]{}\"']+")
_SEPARATORS = re.compile(r"[,;|/\t]")
_LABELS = frozenset({"placa", "placas", "plate", "plates", "renavam", "renavans"})
_PLATE_LENGTH = 7
_RENAVAM_LENGTH = 11
_SHORT_RENAVAMS = (9, 10)  # lengths; old documents omit leading zeros
_AS_LETTER = str.maketrans("01", "OI")
_AS_DIGIT = str.maketrans("OIL", "011")
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0xAD])


@dataclass(frozen=True, slots=True)
class WrongEntry:
    """An entry of the list that is neither a plate nor a Renavam.

    ``index`` is the number of its line, row or list element, from 0. ``suggestion`` is the plate or
    Renavam that was probably meant, or "".
    """

    index: int
    value: str
    suggestion: str = ""

    def names(self, subject: str) -> bool:
        """Return whether the entry contains or suggests a plate or Renavam, in any spelling."""
        return subject == self.suggestion or subject in _signs(normalize("NFKC", self.value))


@dataclass(frozen=True, slots=True)
class TypedList:
    """The vehicles and the invalid entries of a list, each in the order of the list.

    ``subjects`` contains each plate or Renavam once. ``repeated`` contains those that occur more
    than once in the list. ``more_wrong`` is the number of invalid entries that are not in
    ``wrong``.
    """

    subjects: tuple[Subject, ...]
    wrong: tuple[WrongEntry, ...]
    repeated: tuple[Subject, ...]
    more_wrong: int = 0


def read_strings(values: Sequence[object]) -> TypedList:
    """Read a list with one plate or Renavam in each element. Returns all invalid entries."""
    found = ((index, _one(value)) for index, value in enumerate(values))
    return _collected(found, most_wrong=len(values))


def read_text(text: str) -> TypedList:
    """Read pasted text. Words around plates, such as the label "Placa" (plate), are ignored.

    A word that looks like a mistyped plate or Renavam is an invalid entry. The text is read as
    CSV if its first line is a header such as "Placa;Modelo" (plate, model).
    """
    lines = text.splitlines()
    header = _row(lines[0], _delimiter(lines[0])) if lines else []
    if len(header) > 1 and _named_columns(header):
        return read_csv(text)
    return _collected(
        (index, found)
        for index, line in enumerate(lines)
        for piece in _SEPARATORS.split(line)
        for found in _in_piece(piece)
    )


def read_csv(text: str) -> TypedList:
    """Read a CSV text separated by commas, semicolons or tabs, with or without a header.

    If a header names columns of plates or Renavam, only these columns are read. Otherwise, every
    column that contains a plate or Renavam is read. Each row adds at most one vehicle.
    """
    delimiter = _delimiter(text)
    rows = _rows(text, delimiter)
    if rows is not None and not _may_hide_rows(text, rows):
        return _in_table(rows)
    # An unclosed quote joins all lines up to the next quote into one cell, which hides the vehicles
    # in these lines. The text is therefore also read with each line as a separate row.
    by_line = _in_table([_row(line, delimiter) for line in StringIO(text, newline="")])
    if rows is None or text.count('"') % 2:
        return by_line
    # Every quote is closed, so the line breaks in cells may be intended, as in a column of notes.
    # Use the reading that finds more vehicles.
    whole = _in_table(rows)
    return by_line if len(by_line.subjects) > len(whole.subjects) else whole


def decode_upload(content: bytes) -> str:
    """Decode a file from UTF-8, UTF-16 with a byte order mark, or else Windows-1252."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def suggest(value: str) -> str:
    """Return the plate or Renavam that was probably meant, or "".

    People mistake 0 for O and 1 for I or L in a plate, and omit the leading zeros of a Renavam.
    """
    signs = _signs(value)
    if signs.isdecimal():
        if len(signs) in _SHORT_RENAVAMS and signs.strip("0"):
            return signs.zfill(_RENAVAM_LENGTH)
        return ""
    if len(signs) != _PLATE_LENGTH:
        return ""
    plate = "".join(
        (
            signs[:3].translate(_AS_LETTER),
            signs[3].translate(_AS_DIGIT),
            signs[4],
            signs[5:].translate(_AS_DIGIT),
        )
    )
    try:
        return Plate.parse(plate).text if plate != signs else ""
    except InvalidPlate:
        return ""


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
            wrong.append(WrongEntry(index, value, suggest(each)))
        elif each in subjects:
            repeated[each] = None
        else:
            subjects[each] = None
    return TypedList(tuple(subjects), tuple(wrong), tuple(repeated), more_wrong)


def _one(value: object) -> Subject | str:
    if not isinstance(value, str):
        return str(value)
    match = _SUBJECT.fullmatch(value.translate(_INVISIBLE).strip())
    return (_subject(match) if match else None) or value


def _in_piece(piece: str) -> Iterator[Subject | str]:
    """Yield the plates and Renavam of a piece of text, and its invalid entries as strings."""
    piece = piece.translate(_INVISIBLE)
    found = [subject for match in _SUBJECT.finditer(piece) if (subject := _subject(match))]
    yield from found
    without = _SUBJECT.sub(lambda match: " " if _subject(match) else match[0], piece)
    rest = [word for word in _WORD.findall(without) if _signs(word)]
    doubtful = [word for word in rest if _is_like_subject(_signs(word))]
    if found:
        yield from doubtful
        return
    words = [word for word in rest if _signs(word).lower() not in _LABELS]
    if doubtful and len(doubtful) < len(words):
        yield from doubtful
    elif words:
        yield " ".join(words)


def _in_table(rows: Sequence[Sequence[str]]) -> TypedList:
    columns = _named_columns(rows[0]) if rows else []
    first = 1 if columns else 0
    return _collected(_in_rows(rows, first, columns or _guessed_columns(rows)))


def _in_rows(
    rows: Sequence[Sequence[str]], first: int, columns: Sequence[int]
) -> Iterator[tuple[int, Subject | str]]:
    for index, row in enumerate(rows[first:], start=first):
        cells = [row[column] for column in columns if column < len(row) and _signs(row[column])]
        values = [_one(cell) for cell in cells]
        valid = [value for value in values if not isinstance(value, str)]
        if valid or values:
            yield index, (valid or values)[0]


def _named_columns(header: Sequence[str]) -> list[int]:
    """Return the indexes of columns whose title is in _LABELS, plates before Renavam."""
    titles = [_signs(cell).lower() for cell in header]
    found = [index for index, title in enumerate(titles) if title in _LABELS]
    return sorted(found, key=lambda index: titles[index].startswith("renavam"))


def _guessed_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    counts: dict[int, int] = {}
    for row in rows:
        for column, cell in enumerate(row):
            if not isinstance(_one(cell), str):
                counts[column] = counts.get(column, 0) + 1
    return sorted(counts, key=lambda column: (-counts[column], column)) or [0]


def _rows(text: str, delimiter: str) -> list[list[str]] | None:
    """Return the rows of a CSV text, or None if the csv module rejects it.

    For example, the module rejects very long cells.
    """
    try:
        return list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return None


def _may_hide_rows(text: str, rows: Sequence[Sequence[str]]) -> bool:
    if text.count('"') % 2:
        return True
    return any("\n" in cell or "\r" in cell for row in rows for cell in row)


def _row(line: str, delimiter: str) -> list[str]:
    """Return a line's cells. A line with an unclosed quote is split at every delimiter."""
    if line.count('"') % 2 == 0 and (rows := _rows(line, delimiter)) is not None:
        return rows[0] if rows else []
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _delimiter(text: str) -> str:
    head = "\n".join(text.splitlines()[:20])
    return max(";\t,", key=head.count)


def _is_like_subject(signs: str) -> bool:
    return bool(_LIKE_PLATE.fullmatch(signs) or _LIKE_RENAVAM.fullmatch(signs))


def _subject(match: "re.Match[str]") -> Subject | None:
    try:
        subject = parse_subject(match[3] or match[1] + match[2])
    except InvalidPlate:
        return None
    return None if isinstance(subject, Renavam) and subject.is_invented else subject


def _signs(text: str) -> str:
    return "".join(c for c in text if c.isalnum()).upper()
