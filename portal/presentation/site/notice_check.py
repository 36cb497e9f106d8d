"""The check of a notice that somebody received: the form, and what contradicts what.

The page needs no vehicle and asks nobody. It judges the typed values as if the source had sent them
in a record.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import ClassVar, Final

from portal.data_files import read_csv
from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline
from portal.law.notice_check import Point, check_notice
from portal.phrasebook.notice_check import sentence
from portal.presentation.typed_money import read_money
from portal.vehicle.fines import read_fines
from portal.vehicle.typed import visible
from portal.vehicle.wire import read_moment
from portal.wording import sanitise_echo

LONGEST_TEXT: Final = 40
_OLDEST: Final = date(1998, 1, 22)  # earlier days are before the CTB, and in no notice
_NOT_A_CODE: Final = "Escreva só os algarismos, como {}."
_NOT_A_DAY: Final = "Escreva a data como 31/12/2026."
_TOO_OLD: Final = "A data é de antes do Código de Trânsito, de 1998."


@dataclass(frozen=True, slots=True)
class NoticeField:
    """An input of the form. ``member`` is the member of a record that holds its value, or ""."""

    name: str
    label: str
    hint: str
    kind: str
    member: str


FIELDS: Final = tuple(read_csv(__package__, "notice_fields.csv", NoticeField))


@dataclass(frozen=True)
class NoticeCheckPage:
    """The page. ``typed`` has the texts of the form, ``mistyped`` what is wrong with them.

    ``is_blank`` is true if the form was sent without any text.
    """

    template: ClassVar[str] = "pages/notice_check.html"
    fields: ClassVar[tuple[NoticeField, ...]] = FIELDS
    typed: Mapping[str, str]
    mistyped: Mapping[str, str]
    fine: AssessedFine | None
    due_on: date | None
    is_blank: bool = False

    @cached_property
    def points(self) -> tuple[Point, ...]:
        return check_notice(self.fine, self.due_on) if self.fine else ()

    @property
    def is_compared(self) -> bool:
        """Whether a table or a rule of law says something of what was typed."""
        return any(point.code != "due_past" for point in self.points)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        if self.fine is None:
            return ()
        of_kind = [point for point in self.points if point.kind == kind]
        return tuple(sentence(point, self.fine, self.due_on) for point in of_kind)

    @property
    def remedies(self) -> tuple[Deadline, ...]:
        """The deadlines that still run for the person who received the notice."""
        if self.fine is None:
            return ()
        return tuple(deadline for deadline in self.fine.remedies if deadline.verdict == "in_time")


def notice_check_page(asked: Mapping[str, str], today: date) -> NoticeCheckPage:
    """Build the page of the query's parameters. Without a valid value there is no result."""
    typed: dict[str, str] = {}
    mistyped: dict[str, str] = {}
    read: dict[str, str] = {}
    for field in FIELDS:
        text = sanitise_echo(visible(asked.get(field.name, "")), LONGEST_TEXT)
        typed[field.name] = text
        if not text:
            continue
        try:
            read[field.name] = _READERS[field.kind](text)
            if field.kind == "day":
                typed[field.name] = read[field.name]  # as an input of the type "date" wants it
        except ValueError as error:
            mistyped[field.name] = str(error)
    if mistyped or not read:
        is_blank = not mistyped and any(field.name in asked for field in FIELDS)
        return NoticeCheckPage(typed, mistyped, None, None, is_blank)
    record = {field.member: read[field.name] for field in FIELDS if field.name in read}
    due = read_moment(record.pop("", ""))
    (fine,) = read_fines([record], "")
    return NoticeCheckPage(typed, mistyped, AssessedFine(fine, today), due.date() if due else None)


def _digits(text: str, least: int, most: int, example: str) -> str:
    digits = "".join(c for c in text if c not in " .-/")
    if not (digits.isascii() and digits.isdigit() and least <= len(digits) <= most):
        raise ValueError(_NOT_A_CODE.format(example))
    return digits


def _money(text: str) -> str:
    amount, problem = read_money(text)
    if not amount:
        raise ValueError(problem or "Escreva um valor maior que zero.")
    return f"{amount:f}"


def _day(text: str) -> str:
    moment = read_moment(text)
    if moment is None:
        raise ValueError(_NOT_A_DAY)
    if moment.date() < _OLDEST:
        raise ValueError(_TOO_OLD)
    return moment.date().isoformat()


_READERS: Final[Mapping[str, Callable[[str], str]]] = {
    "code": lambda text: _digits(text, 3, 6, "271070"),
    "infraction": lambda text: _digits(text, 4, 5, "74550"),
    "money": _money,
    "day": _day,
    "text": lambda text: text.upper(),
}
