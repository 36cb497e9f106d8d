"""The lines of the checklist, each settled by a record, by a person's declaration, or open.

A record wins over a declaration. What a person has declared to have found is a finding; a declared
"nothing" betters no verdict. A line that neither a record nor a person has settled is open, and
nothing may show it as regular.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from portal.law.at_the_car import Seen
from portal.law.checklist import LINES, ChecklistLine
from portal.law.findings import DeclaredSomething
from portal.vehicle.operation_name import LookupName

State = Literal["unchecked", "nothing", "something"]
# By what a line is settled. The last two are of an open line, which a written report may warn of.
Settlement = Literal["recorded", "contradicted", "declared", "warned", "open"]


class Record(Struct, frozen=True):
    """What the answer of a lookup says of a line.

    ``count`` is the number of records, and ``amount`` what they cost in R$, or None. ``notices`` of
    the open fines are notices alone, which may become fines. ``words`` are the source's own, or "".
    ``at`` is the local time of the answer, or None if it is not known.
    """

    lookup: LookupName
    state: Literal["nothing", "something"]
    count: int = 0
    amount: Decimal | None = None
    words: str = ""
    at: datetime | None = None
    notices: int = 0


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a person has declared of a line.

    ``who`` is the caller's name. ``on`` is the day of the check. ``what`` and ``source`` are texts
    of the person, or "". ``amount`` is in R$, or None.
    """

    line: str
    state: Literal["nothing", "something"]
    who: str
    on: date
    amount: Decimal | None = None
    what: str = ""
    source: str = ""


class SettledLine(Struct, frozen=True):
    """A line with what is known of it. ``alert`` is true if a written report warns of it."""

    line: ChecklistLine
    record: Record | None
    declaration: Declaration | None
    alert: bool = False

    @property
    def key(self) -> str:
        return self.line.key

    @property
    def state(self) -> State:
        settled = self.record or self.declaration
        return settled.state if settled else "unchecked"

    @property
    def by(self) -> Literal["record", "declared"] | None:
        if self.record:
            return "record"
        return "declared" if self.declaration else None

    @property
    def is_contradicted(self) -> bool:
        """Whether the record says otherwise than what was declared before it."""
        declared = self.declaration
        record = self.record
        return record is not None and declared is not None and declared.state != record.state

    @property
    def is_open(self) -> bool:
        return self.by is None

    @property
    def is_warned(self) -> bool:
        """Whether the written report warns of a line without a declaration."""
        return self.alert and self.declaration is None

    @property
    def amount(self) -> Decimal | None:
        settled = self.record or self.declaration
        return settled.amount if settled else None

    @property
    def settlement(self) -> Settlement:
        if self.record:
            return "contradicted" if self.is_contradicted else "recorded"
        if self.declaration:
            return "declared"
        return "warned" if self.is_warned else "open"


# What a caller declares of a vehicle: a line that was checked elsewhere, or what was seen at it.
Declared = Declaration | Seen


def seen_of(declarations: Sequence[Declared]) -> tuple[Seen, ...]:
    return tuple(declaration for declaration in declarations if isinstance(declaration, Seen))


def settle(
    records: Mapping[str, Record],
    declarations: Sequence[Declared],
    warned: Collection[str] = (),
) -> tuple[SettledLine, ...]:
    """Return all lines. ``records`` is by the line's key, and ``warned`` has keys of lines."""
    declared = {
        declaration.line: declaration
        for declaration in declarations
        if isinstance(declaration, Declaration)
    }
    return tuple(
        SettledLine(line, records.get(line.key), declared.get(line.key), line.key in warned)
        for line in LINES
    )


def contradicted_by(declaration: Declaration, records: Mapping[str, Record]) -> Record | None:
    """Return the record that says otherwise than a declaration, which is then refused, or None."""
    record = records.get(declaration.line)
    return record if record and record.state != declaration.state else None


def declared_findings(lines: Sequence[SettledLine]) -> Iterator[DeclaredSomething]:
    """Yield a finding for each line on which only a person has found something."""
    for one in lines:
        if (declared := one.declaration) and one.by == "declared" and declared.state == "something":
            yield DeclaredSomething(
                declared.line, declared.what, declared.amount, declared.who, declared.on
            )


def stock_obstacles(
    lines: Sequence[SettledLine], enforceable: int | None
) -> tuple[SettledLine, ...]:
    """Return the lines that stop, or may stop, a stock entry in Renave.

    ``enforceable`` is the number of fines that can be enforced, or None if the fines are unknown.
    Other fines restrict nothing (art. 284, § 3º, of the CTB). What a written report warns of counts
    until a person has declared the line.
    """
    return tuple(
        one
        for one in lines
        if one.line.blocks_stock
        and (one.state == "something" or (one.is_open and one.is_warned))
        and not (one.by == "record" and one.line.settled_by == "renainf" and not enforceable)
    )
