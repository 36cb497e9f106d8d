"""The lines of a buyer's checklist: what a lookup settles, and what none covers, such as theft.

One table, ``LINES``, feeds what stands "before paying", the shop's sheet and its notes on Renave.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from portal.data_files import read_toml
from portal.law.adverse import Subject
from portal.vehicle.operation_name import LookupName

# The finding that makes an advice apply.
Situation = Literal[
    "always",
    "court_order",
    "block_of_others",
    "free_of_court_orders",
    "enforceable_fine",
    "probably_due_fine",
    "open_fine",
    "notice_without_fine",
    "fine_of_unclear_payment",
    "fines_unavailable",
    "restrictions_unavailable",
    "vehicle_unavailable",
    "other_vehicle",
    "record_before_vehicle",
    "tampered",
]


class ChecklistLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of ``checklist_lines.toml``, which says what each member means.

    ``key`` is ASCII, for HTML anchors. ``settled_by`` is the lookup whose answer settles the line,
    or None. ``ends_ceiling`` is true if a person who declares something ends the ceiling although
    ``subject`` alone does not.
    """

    key: str
    subject: Subject
    settled_by: LookupName | None = None
    law: Literal["", "a", "b", "c", "d", "e"] = ""
    blocks_stock: bool = False
    is_debt: bool = False
    ends_ceiling: bool = False
    by_state: bool = False


LINES: Final = read_toml(__package__, "checklist_lines.toml", dict[str, tuple[ChecklistLine, ...]])[
    "lines"
]
LINE_OF: Final[Mapping[str, ChecklistLine]] = {line.key: line for line in LINES}
# The lines that no lookup covers. Pages and printed reports always list them.
UNVERIFIED: Final = tuple(line for line in LINES if line.settled_by is None)
