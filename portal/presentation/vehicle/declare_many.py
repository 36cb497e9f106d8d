"""The form that declares one line of several vehicles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from portal.law.checklist import LINES, ChecklistLine
from portal.vehicle.plate import Plate


@dataclass(frozen=True, slots=True)
class Refused:
    """A vehicle whose records say otherwise, with the sentence that names the record."""

    plate: Plate
    why: str


@dataclass(frozen=True, slots=True)
class DeclareManyPage:
    """The form, or its result if ``is_done``. ``problem`` says what is wrong in it, or is ""."""

    template: ClassVar[str] = "pages/declare_many.html"
    lines: ClassVar[Sequence[ChecklistLine]] = LINES
    plates: Sequence[Plate]
    problem: str = ""
    refused: Sequence[Refused] = ()
    is_done: bool = False

    @property
    def done(self) -> int:
        return len(self.plates) - len(self.refused)
