"""The checklist of a buyer: what the records add to it, and what no lookup covers, such as theft.

Pages and printed reports always list the subjects that no lookup covers, and where to check them.
"""

from typing import Final, Literal

import msgspec

from portal.data_files import read_toml
from portal.law.rules import CONSULTED

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


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An advice of ``checklist.toml``. ``text`` has one to four Portuguese sentences.

    ``line`` is the key of a line of the checklist, or "depois" (afterwards). ``title`` and ``ask``
    (whom to ask) are the line's, or "". ``source`` is a law, or "" if the advice cites none.
    """

    line: str
    situation: Situation
    text: str
    title: str = ""
    ask: str = ""
    source: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.text[:-1]} ({self.source})." if self.source else self.text


# The page shows this caution once, so that the advice need not repeat it.
HEDGE: Final = f"Orientações gerais, pela lei consultada em {CONSULTED}; confirme com o Detran."

ADVICE: Final = read_toml(__package__, "checklist.toml", dict[str, tuple[Advice, ...]])["advice"]


class Unverified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject of ``unverified.toml``.

    ``key`` is ASCII, for HTML anchors. ``ask`` says in a few words whom to ask. ``link_name`` and
    ``link`` are the name and the https URL (under gov.br) of an official service for the subject,
    or "" and None if there is none.
    """

    key: str
    title: str
    ask: str
    why: str
    where: str
    link_name: str = ""
    link: str | None = None


UNVERIFIED: Final = read_toml(__package__, "unverified.toml", dict[str, tuple[Unverified, ...]])[
    "subjects"
]
