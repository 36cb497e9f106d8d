"""The standing of a fine: whether payment can be enforced now, and its look."""

from enum import StrEnum
from typing import Final, Literal, Self

from portal.data_files import read_csv

_LOOKS: Final = {
    line.pop("standing"): line for line in read_csv(__package__, "standings.csv", dict[str, str])
}


class Standing(StrEnum):
    """A fine's standing, in the order in which pages list the standings.

    Its other members are the columns of ``standings.csv``. ``key`` chooses the fines of this
    standing in a page's URL. ``tone`` and ``icon`` are its colour and its shape, on the screen and
    on paper. ``portal.phrasebook.standings`` has its words.
    """

    key: str
    tone: Literal["ok", "warn", "danger", "unknown"]
    icon: Literal["check", "clock", "alert", "cross", "question"]

    def __new__(cls, value: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        for name, text in _LOOKS[value].items():
            setattr(member, name, text)
        return member

    ENFORCEABLE = "enforceable"
    PROBABLY_DUE = "probably_due"
    DUE = "due"
    NOTICE = "notice"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"
    # The source says that nothing is owed, which its word alone does not prove.
    CALLED_OFF = "called_off"
    PAID = "paid"
