"""Reads plates and Renavam from pasted text, a file or a list of JSON values.

A Renavam is a vehicle's registration number. Invalid entries raise no error. The result contains
these entries with their positions and, if possible, with the plate or Renavam that was probably
meant.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain
from operator import ne
from types import MappingProxyType
from unicodedata import normalize

import msgspec

from portal.batch.uploads import decode_upload
from portal.vehicle.plate import InvalidSubject, Plate, Renavam, parse_subject
from portal.vehicle.typed import (
    CPF_IN_TEXT,
    NAME_AND_YEAR,
    PHONE_IN_TEXT,
    PLATE_IN_TEXT,
    Doubt,
    Typed,
    is_like_model,
    parse_typed,
    read_part,
    read_typed,
    read_within,
    visible,
)
from portal.wording import DASHES, bare, is_shown

Subject = Plate | Renavam

LONGEST_SHOWN = 40  # characters; longer entries are stored truncated
MOST_WRONG = 200  # entries without a suggestion stored per list; further entries are only counted
MOST_SUGGESTED = 10_000  # entries with a suggestion stored per list
_PART = re.compile(
    rf"{CPF_IN_TEXT}|{PHONE_IN_TEXT}|(?P<plate>{PLATE_IN_TEXT})"
    rf"|(?<!\w)(?:[0-9]{{10}}[{DASHES}]?[0-9]|[0-9]{{4}}\.[0-9]{{6}}-[0-9])(?!\w)"
)
# A plate in a word of other letters and digits, such as two plates without a space.
_GLUED = re.compile(r"[A-Z]{3}[0-9][A-Z0-9][0-9]{2}")
# A word that is probably a mistyped plate.
_LIKE_PLATE = re.compile(
    r"(?=.{5,9}$)(?:[A-Z]{3}[A-Z0-9]*[0-9][A-Z0-9]*"
    r"|(?=.{6,})(?=(?:.*[A-Z]){2})(?:[A-Z]*[0-9]){3}[A-Z0-9]*)",
    re.ASCII,
)
# A number that is probably a mistyped Renavam, or a Renavam with letters such as O and I in place
# of 0 and 1.
_LIKE_RENAVAM = re.compile(r"[0-9]{8,13}|(?=(?:.*[0-9]){7})[0-9OQDILSBZGTA]{11}", re.ASCII)
_EXPONENT = re.compile(r"[0-9][.,]?[0-9]*E\+?[0-9]{1,2}", re.ASCII)
_LONGEST_WORD = 20  # characters; a longer word is not like a plate or a Renavam
# A date ("25/11/2026", "2026-11-25") or a time, whose digits may look like a mistyped Renavam.
_MOMENT = re.compile(
    r"[0-3]?[0-9][/.\-][01]?[0-9][/.\-](?:[0-9]{2}){1,2}|[0-9]{4}[/.\-][01]?[0-9][/.\-][0-3]?[0-9]"
    r"|[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?",
    re.ASCII,
)
# The date, time and sender before a message of a chat's export.
_CHAT = re.compile(
    r"^\[?[0-3]?[0-9]/[0-3]?[0-9]/[0-9]{2,4},? [0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?\]?"
    r"(?: [-–])? (?:[^:]{1,60}: |)",
    re.ASCII,
)
_TAGS = re.compile(r"<(?:!doctype|html|body|meta|table|t[rdh]|thead|tbody|ul|ol|li)\b")
# The name of a JSON member, with its value if that is a number.
_MEMBER = re.compile(r'"((?:[^"\\]|\\.)*)" ?: ?(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)?')
_WORD = re.compile(r"[^\s()\[\]{}\"']+")
# Words for "plate" and "Renavam", in the spelling of ``bare`` (upper case, no accents). _TITLE
# finds such a word in a column's title ("Nº da placa", number of the plate), but not inside another
# word ("emplacamento", registration).
_LABEL = re.compile(r"PLACAS?|PLATES?|RENAVA(?:M|N|NS)")
_PLATE_TITLE = re.compile(r"(?<![A-Z])(?:PLACA|PLATE)")
_TITLE = re.compile(r"(?<![A-Z])(?:PLACA|PLATE|RENAVA[MN])")
# Possible separators of a line's cells. A tab is preferred to a semicolon, and both to a comma.
_DELIMITERS = "\t;,"
_LONGEST_PREAMBLE = 100  # lines that may precede the header
_QUOTED = re.compile(r'(?:^|(?<=[\t;,]))"[^"]*"', re.MULTILINE)
_BREAK = "\ue000"  # a private character, in place of a line break in a quoted cell
_SLASHES = re.compile(r"(?<![A-Za-z]{3})/|/(?![0-9][A-Za-z0-9][0-9]{2})|\|")
# The slashes of a page's address part no vehicles.
_PAGE = re.compile(r"://|\bwww\.|\.(?:com|net|org|gov|br|app|io|dev)(?:\.br)?/", re.IGNORECASE)
# The first line of a CSV file may tell Excel the file's delimiter, for example "sep=;".
_STATED_DELIMITER = re.compile(r'\ufeff?"?sep=([;,\t])"?', re.IGNORECASE)
_encoder = msgspec.json.Encoder(decimal_format="number")


class WrongEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of the list that is not looked up: invalid, or a plate or Renavam with a doubt.

    ``index`` is the number of the entry's line, row or list element, from 0. ``suggestion`` is the
    plate or Renavam that was probably meant, or "" if unknown. ``in_file`` is true if the entry is
    from an uploaded file. ``is_text`` is false if the entry is a JSON value other than a string. In
    this case, ``value`` is the entry's JSON text. ``doubt`` is "" in entries of former versions.
    ``signs`` are those from which ``suggestion`` was read, or "" in entries of former versions.
    """

    index: int
    value: str
    suggestion: str = ""
    in_file: bool = False
    is_text: bool = True
    doubt: Doubt = ""
    signs: str = ""

    @property
    def is_as_typed(self) -> bool:
        """Whether the suggestion has the signs of the entry, which needs no correction."""
        return self.typed.signs.upper() == self.suggestion

    @property
    def typed(self) -> Typed:
        """What the entry means."""
        read = read_typed(self.value)
        if not self.doubt:
            return read
        subject = parse_subject(self.suggestion) if self.suggestion else None
        return Typed(subject, self.doubt, self.signs or read.signs)

    def names(self, subject: str) -> bool:
        """Return whether the entry contains ``subject`` in any spelling, or suggests it."""
        return subject == self.suggestion or contains_subject(self.value, subject)


@dataclass(frozen=True, slots=True)
class TypedList:
    """The vehicles and the invalid entries of a list, both in the order of the list.

    ``subjects`` contains each plate or Renavam once. ``repeated`` contains the plates and Renavam
    that occur more than once. ``more_wrong`` is the number of invalid entries that are not in
    ``wrong``. ``typed`` has the text in which a plate or Renavam was found, if it has other words.
    ``unticked`` has the plates and Renavam that the user has left out.
    """

    subjects: tuple[Subject, ...]
    wrong: tuple[WrongEntry, ...] = ()
    repeated: tuple[Subject, ...] = ()
    more_wrong: int = 0
    typed: dict[str, str] = field(default_factory=dict)
    unticked: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        """The number of entries that are not looked up."""
        return len(self.wrong) + self.more_wrong


@dataclass(frozen=True, slots=True)
class _Found:
    """A part of a row, and what it means. ``text`` has the words around it, if there are any."""

    value: str
    typed: Typed
    text: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the part is a Renavam or another number, not a plate."""
        return not isinstance(self.typed.subject, Plate) and _is_number(_signs(self.value))

    @property
    def is_plate(self) -> bool:
        return self.typed.is_certain and isinstance(self.typed.subject, Plate)


@dataclass(frozen=True, slots=True)
class _Cell:
    """The vehicles and doubtful parts of a cell, and its other words without labels."""

    found: tuple[_Found, ...]
    words: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.found and not self.words


_Entry = tuple[int, _Found | str]

# A document prints a plate and a Renavam with their names on lines of their own, or below them.
_DOCUMENT = re.compile(
    r"^[^\w\n]*(?:[^\W\d]+[^\w\n]+){0,3}?"
    rf"(?:placa\b[^\n]{{0,40}}?(?:\n[^\w\n]*)?(?P<plate>{PLATE_IN_TEXT})"
    r"|renavam\b[^\n0-9]{0,40}(?:\n[^\w\n]*)?(?P<renavam>[0-9][0-9 .-]{7,14}[0-9]))(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)


def read_strings(values: Sequence[object], most_wrong: int | None = None) -> TypedList:
    """Read a JSON list with one plate or Renavam in each element.

    The result contains at most ``most_wrong`` invalid entries, by default all.
    """
    listed = _collected(
        ((index, False, _one(value)) for index, value in enumerate(values)),
        len(values) if most_wrong is None else most_wrong,
    )
    wrong = (
        msgspec.structs.replace(entry, is_text=isinstance(values[entry.index], str))
        for entry in listed.wrong
    )
    return replace(listed, wrong=tuple(wrong), typed={})


def read_list(text: str, file: bytes = b"") -> TypedList:
    """Read pasted text and the content of a text file. Raises BinaryFile.

    A line with a tab, a semicolon or a comma is a row of cells. If a header names columns of plates
    or Renavam, these columns are read, and plates in other columns are doubtful. Otherwise all
    cells are read. Words around plates are ignored, but a word that looks like a mistyped plate or
    Renavam is an invalid entry. In a row with a vehicle, dates and times are ignored too, although
    their digits may look like a mistyped Renavam.

    A text with tabs or semicolons, or with a header, is a table. In a table, a Renavam beside a
    plate belongs to the plate's vehicle and is omitted. In other text, the Renavam is a vehicle of
    its own, unless the text is that of documents, with the plate and the Renavam of each on lines
    of their own. The two formats of one plate in a row are one vehicle.
    """
    uploaded = decode_upload(file)
    typed = ((index, False, part) for index, part in _entries(text))
    from_file = ((index, True, part) for index, part in _entries(uploaded))
    plates = _documents(text) | _documents(uploaded)
    return _collected(chain(typed, from_file), plates=plates)


def reticked(listed: TypedList, ticked: Collection[str]) -> TypedList:
    """Return the list with those of its plates, Renavam and suggestions that the user has ticked.

    ``listed.repeated`` is dropped. The other plates and Renavam are in ``unticked``.
    """
    typed = listed.typed | {entry.suggestion: entry.value for entry in listed.wrong}
    known = [*(subject.text for subject in listed.subjects), *listed.unticked]
    offered = dict.fromkeys([*known, *(entry.suggestion for entry in listed.wrong)])
    chosen = [text for text in offered if text and text in ticked]
    return TypedList(
        tuple(parse_subject(text) for text in chosen),
        tuple(entry for entry in listed.wrong if entry.suggestion not in chosen),
        more_wrong=listed.more_wrong,
        typed={text: typed[text] for text in offered if text in typed},
        unticked=tuple(text for text in known if text not in ticked),
    )


def contains_subject(text: str, subject: str) -> bool:
    """Return whether a text contains a plate or Renavam in any spelling."""
    return subject in _signs(normalize("NFKC", text))


def _documents(text: str) -> dict[Subject, Plate]:
    """Return the plates of the Renavam in a text of documents.

    Returns {} unless each document has one plate and one Renavam, all in the same order.
    """
    parts = [
        read_part(
            f"Renavam {part['renavam']}" if part["renavam"] else part["plate"], has_words=True
        )
        for part in _DOCUMENT.finditer(text)
    ]
    subjects = [typed.subject for typed in parts]
    is_plate = [isinstance(subject, Plate) for subject in subjects]
    is_alternating = len(parts) % 2 == 0 and all(map(ne, is_plate, is_plate[1:]))
    if not is_alternating or None in subjects or any(part.doubt == "month" for part in parts):
        return {}
    plates = [subject for subject in subjects if isinstance(subject, Plate)]
    numbers = [subject for subject in subjects if isinstance(subject, Renavam)]
    return dict(zip(numbers, plates, strict=True))


def _collected(
    entries: Iterable[tuple[int, bool, _Found | str]],
    most_wrong: int = MOST_WRONG,
    plates: Mapping[Subject, Plate] = MappingProxyType({}),
) -> TypedList:
    """Sort what was found. ``plates`` has those of Renavam that name the same vehicle."""
    # A document names its plate, so that it may be a word, too: "PLACA SEG 1030".
    numbers = {plate: renavam for renavam, plate in plates.items()}
    subjects: dict[Subject, str] = {}
    repeated: dict[Subject, None] = {}
    wrong: list[WrongEntry] = []
    room = {False: most_wrong, True: max(most_wrong, MOST_SUGGESTED)}
    more_wrong = 0
    for index, in_file, entry in entries:
        part = entry if isinstance(entry, _Found) else _Found(entry, read_typed(entry))
        subject, doubt = part.typed.subject, part.typed.doubt
        if subject in plates:
            continue
        if doubt == "word" and subject in numbers:
            doubt = ""
        if isinstance(entry, _Found) and subject is not None and not doubt:
            if subject in subjects:
                repeated[subject] = None
                continue
            if not isinstance(subject, Plate) or subject.twin not in subjects:
                number = numbers.get(subject) if isinstance(subject, Plate) else None
                subjects[subject] = f"= Renavam {number}" if number else part.text
                continue
            doubt = "twin"
        if not room[subject is not None]:
            more_wrong += 1
            continue
        room[subject is not None] -= 1
        meant = subject.text if subject else ""
        signs = part.typed.signs if subject else ""
        wrong.append(
            WrongEntry(index, _shown(part.value), meant, in_file, doubt=doubt, signs=signs)
        )
    typed = {one.text: text for one, text in subjects.items() if _signs(text) not in ("", one.text)}
    return TypedList(tuple(subjects), tuple(wrong), tuple(repeated), more_wrong, typed)


def _one(value: object) -> _Found | str:
    if not isinstance(value, str):
        return _encoder.encode(value).decode()
    try:
        subject = parse_typed(visible(value).strip())
    except InvalidSubject:
        return value
    is_invented = isinstance(subject, Renavam) and subject.is_invented
    return value if is_invented else _Found(value, Typed(subject))


def _entries(text: str) -> Iterator[_Entry]:
    text = _without_markup(text)
    is_message = [bool(_CHAT.match(line)) for line in text.splitlines()]
    lines = [(index, _CHAT.sub("", line, count=1)) for index, line in _lines(text)]
    delimiter = ""
    if lines and (stated := _STATED_DELIMITER.fullmatch(lines[0][1])):
        delimiter = stated[1]
        del lines[0]
    header = _header(lines, delimiter)
    if header is not None:
        delimiter = delimiter or _delimiter(lines[header][1])
    titles = [] if header is None else _row(lines[header][1], delimiter)
    columns = _named_columns(titles)
    is_table = bool(columns) or "\t" in text or ";" in text
    for number, (index, line) in enumerate(lines):
        cells = _row(line, delimiter)
        if header is not None and (number < header or cells == titles):
            # A line above the header, such as the table's title. A file of several pages may repeat
            # its header.
            above = cells if number < header else []
            parts: Iterable[_Found | str] = chain.from_iterable(_cell(text).found for text in above)
        else:
            parts = _in_row(cells, columns, len(titles), is_table=is_table)
        for part in parts:
            # A message without a vehicle is no entry of the list.
            if isinstance(part, _Found) or not is_message[index]:
                yield index, part


def _in_row(
    texts: Sequence[str], columns: Sequence[int], width: int, *, is_table: bool
) -> Iterator[_Found | str]:
    filled = [index for index, text in enumerate(texts) if text.strip()]
    if filled and filled[-1] >= width:
        # A row with more cells than the header is not a row of the table, so that the supposed
        # header is probably a sentence above a list.
        columns = ()
    cells = [
        _cell(text, is_alone=filled == [index], is_named=index in columns)
        for index, text in enumerate(texts)
    ]
    has_plate = any(part.is_plate for cell in cells for part in cell.found)
    if not columns or (has_plate and all(map(_is_vehicle, cells))):
        yield from _in_cells(cells, is_table=is_table)
        return
    named = [cells[column] for column in columns if column < len(cells)]
    yield from _in_cells(named, is_table=True, is_named=True)
    known = {part.typed.subject for cell in named for part in cell.found}
    for index, cell in enumerate(cells):
        for part in cell.found if index not in columns else ():
            if part.is_plate and part.typed.subject not in known and " " not in part.value:
                yield replace(part, typed=replace(part.typed, doubt="column"))


def _in_cells(
    cells: Sequence[_Cell], *, is_table: bool, is_named: bool = False
) -> list[_Found | str]:
    """Return the vehicles and the invalid entries of a row.

    A line of text is a row of one cell. ``is_table`` is true if the row belongs to a table.
    ``is_named`` is true if a header names the cells' columns.
    """
    filled = [cell for cell in cells if not cell.is_empty]
    parts = [part for cell in filled for part in cell.found]
    certain = [part for part in parts if part.typed.is_certain]
    plates = _one_format([part for part in certain if part.is_plate])
    doubtful = [part for part in parts if not part.typed.is_certain]
    if any(part.typed.subject for part in parts):
        # Dates, VIN, and in a table models with their years, only describe the vehicle.
        doubtful = [
            part
            for part in doubtful
            if part.typed.doubt != "vin"
            and not _MOMENT.fullmatch(part.value.strip(".,"))
            and not (is_table and is_like_model(part.value))
        ]
    # In a row with several plates, "ABC 12" is a mistyped plate. In a row with one plate, such text
    # may be a model ("Gol 16").
    if len(plates) > 1:
        texts = [" ".join(cell.words) for cell in filled if not cell.found]
        doubtful += [_Found(text, Typed()) for text in texts if _is_like_subject(_signs(text))]
    mistyped = [part for part in doubtful if not part.is_number]
    numbers = [part for part in (*certain, *doubtful) if part.is_number]
    has_others = any(cell.words for cell in filled)
    # Omit the numbers of a row (Renavam and mistyped Renavam) in two cases. If a table's row has
    # one number for each plate, each number is the Renavam of a vehicle whose plate is in the row.
    # If a row has a single plate and other words, a number may be a telephone number or a CPF.
    vehicle_count = len(plates) + len(mistyped)
    is_pair = is_table and len(numbers) == vehicle_count
    if vehicle_count and (is_pair or (has_others and vehicle_count == 1)):
        doubtful = mistyped
        if len(plates) == 1 == len(numbers) and is_pair and numbers[0].typed.is_certain:
            plates = [replace(plates[0], text=f"= Renavam {numbers[0].typed.subject}")]
        certain = plates or certain
    else:
        kept = {part.typed.subject: part for part in plates}
        certain = [
            kept.get(part.typed.subject, part)
            for part in certain
            if not part.is_plate or part.typed.subject in kept
        ]
    is_every_word_named = is_named or not is_table or len(filled) == 1 or not has_others
    if certain:
        # In a row with a single plate and other words, a word that looks like a mistyped plate or
        # Renavam may describe the plate's vehicle. The word is an invalid entry only if a header
        # names the columns, outside tables, or if the word contains a whole plate.
        is_reported = is_every_word_named or len(plates) != 1
        return [*certain, *(part for part in doubtful if is_reported or _has_plate(part))]
    if doubtful:
        return list(doubtful)
    return [" ".join(filled[0].words)] if filled else []


def _one_format(plates: Sequence[_Found]) -> list[_Found]:
    """Return a row's plates. Of the two formats of one plate, only the Mercosul format remains."""
    by_subject = {part.typed.subject: part for part in plates}
    kept = []
    for part in plates:
        plate = part.typed.subject
        assert isinstance(plate, Plate)
        other = by_subject.get(plate.twin)
        if other is None:
            kept.append(part)
        elif plate.is_mercosul:
            kept.append(replace(part, text=f"= {_shown(other.value)}"))
    return kept


def _is_vehicle(cell: _Cell) -> bool:
    """Return whether a cell contains nothing but plates and Renavam."""
    is_certain = all(part.typed.is_certain and not is_like_model(part.value) for part in cell.found)
    return not cell.words and is_certain


def _has_plate(part: _Found) -> bool:
    return part.typed.doubt in ("glued", "month", "word", "negated", "address")


def _cell(text: str, *, is_alone: bool = False, is_named: bool = False) -> _Cell:
    """Read a cell.

    A text that is alone in its row, or in a column of plates, may have any spelling of a plate.
    """
    text = visible(text)
    if is_alone or is_named:
        typed = read_typed(text) if is_named else read_part(text, has_words=False)
        if typed != Typed():
            return _Cell((_Found(text.strip(), typed),), ())
    vehicles: list[_Found] = []
    rest: list[str] = []
    end = 0
    matches = [match for match in _PART.finditer(text) if not NAME_AND_YEAR.fullmatch(match[0])]
    for match in matches:
        rest.append(text[end : match.start()])
        end = match.end()
    rest.append(text[end:])
    words = [word for word in _WORD.findall(" ".join(rest)) if _signs(word)]
    others = [word for word in words if not _LABEL.fullmatch(bare(_signs(word)))]
    has_words = bool(others) or len(matches) > 1
    for match, before, after in zip(matches, rest, rest[1:], strict=False):
        around = _shown(f"{_end_of(before)}{match[0]}{after}") if others else ""
        vehicles.append(_Found(match[0], read_within(match, has_words=has_words), around))
    plain = []
    for word in others:
        parts = _doubtful(word)
        vehicles += parts
        plain += [] if parts else [word]
    return _Cell(tuple(vehicles), tuple(plain))


def _end_of(text: str) -> str:
    """Return the last words of a text."""
    return text if len(text) <= _LONGEST_WORD else f"… {text[-_LONGEST_WORD:].partition(' ')[2]}"


def _doubtful(word: str) -> list[_Found]:
    """Return what a word that is no plate and no Renavam may mean."""
    typed = read_typed(word)
    signs = typed.signs.upper()
    if typed.doubt != "vin" and len(signs) <= 2 * LONGEST_SHOWN:
        glued = [Plate(plate) for plate in _GLUED.findall(signs) if plate != signs]
        if glued and signs.isascii():
            return [_Found(word, Typed(plate, "glued", signs)) for plate in glued]
    return [_Found(word, typed)] if typed.doubt == "vin" or _is_like_subject(signs) else []


def _header(lines: Sequence[tuple[int, str]], delimiter: str) -> int | None:
    """Return the position of the line that names a column of plates or Renavam, or None."""
    for position, (_, line) in enumerate(lines[:_LONGEST_PREAMBLE]):
        row = _row(line, delimiter)
        parts = [part for text in row for part in _cell(text).found]
        if any(part.typed.is_certain for part in parts):
            return None
        is_line_with_number = len(row) == 1 and re.search("[0-9]", row[0])  # such as "placa: ABC1"
        if is_line_with_number or not all(_TITLE.match(bare(part.value)) for part in parts):
            continue
        if any(_TITLE.search(bare(text)) for text in row):
            return position
    return None


def _named_columns(titles: Sequence[str]) -> list[int]:
    """Return the indexes of the plate columns, then of the Renavam columns."""
    bared = [bare(text) for text in titles]
    titled = [index for index, title in enumerate(bared) if _TITLE.search(title)]
    return sorted(titled, key=lambda index: not _PLATE_TITLE.search(bared[index]))


def _without_markup(text: str) -> str:
    """Turn an HTML table and a list of JSON objects into lines with tabs."""
    start = text[:1000].lstrip("\ufeff \t\r\n").lower()
    if _TAGS.search(start):
        text = re.sub(r"(?i)</t[dh]\s*>", "\t", " ".join(map(str.strip, text.split("\n"))))
        text = re.sub(r"(?i)</(?:tr|li|p|div|thead)\s*>|<br\s*/?>", "\n", text)
        return unescape(re.sub(r"<[^<>]*>", " ", text))
    if start.startswith("{") or re.match(r"\[\s*\{", start):
        # Collapse all white space first: a pattern that begins with a repetition of it would search
        # a long run again from each of its characters.
        text = _MEMBER.sub(_column, re.sub(r"\s+", " ", text))
        text = re.sub(r' ?, ?(?=")', "\t", text)
        return re.sub(r"\}", "\n", text)
    return text


def _column(member: re.Match[str]) -> str:
    """Keep a member's name if it names a plate or Renavam, and a number if it may be a Renavam."""
    name, number = member[1], member[2] or ""
    is_title = _TITLE.search(bare(name)) is not None
    is_kept = number.isdecimal() and (is_title or _LIKE_RENAVAM.fullmatch(number))
    return f'"{name if is_title else ""}": {number if is_kept else ""}'


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its index. The lines of a cell between quotes are joined.

    A quote may never be closed, and the next quote then belongs to another cell. Lines with a
    vehicle between two quotes are therefore not joined.
    """
    index = 0
    for line in _QUOTED.sub(_joined, text).splitlines():
        yield index, line.replace(_BREAK, " ")
        index += 1 + line.count(_BREAK)


def _joined(cell: re.Match[str]) -> str:
    return cell[0] if _PART.search(cell[0]) else _BREAK.join(cell[0].splitlines())


def _row(line: str, delimiter: str) -> list[str]:
    """Split a line at ``delimiter`` and return the cells.

    A line without ``delimiter`` is split at the first of _DELIMITERS that occurs in the line, or
    else at each ``/`` and ``|``. A delimiter between quotes does not split the line. If the number
    of quotes is odd, quotes are ignored.
    """
    if not delimiter or delimiter not in line:
        delimiter = _delimiter(line)
    if delimiter in ("", ",") and read_typed(line) != Typed():  # the comma of a number
        return [line]
    if not delimiter:
        return [line] if _PAGE.search(line) else _SLASHES.split(line)
    if '"' in line and line.count('"') % 2 == 0:
        try:
            return next(csv.reader([line], delimiter=delimiter))
        except csv.Error:  # for example, a very long cell
            pass
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _delimiter(line: str) -> str:
    return next((sign for sign in _DELIMITERS if sign in line), "")


def _is_like_subject(signs: str) -> bool:
    return len(signs) <= _LONGEST_WORD and bool(_LIKE_PLATE.fullmatch(signs) or _is_number(signs))


def _is_number(signs: str) -> bool:
    return len(signs) <= _LONGEST_WORD and bool(
        _LIKE_RENAVAM.fullmatch(signs) or _EXPONENT.fullmatch(signs)
    )


def _shown(text: str) -> str:
    return "".join(filter(is_shown, text)).strip()[:LONGEST_SHOWN]


def _signs(text: str) -> str:
    return "".join(c for c in text if c.isalnum()).upper()
