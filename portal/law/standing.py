"""The standing of a fine: whether payment can be enforced now. Defines its words and its look."""

from enum import StrEnum
from typing import Final, Literal, Self

from portal.data_files import read_csv

_TEXTS: Final = {
    line.pop("standing"): line for line in read_csv(__package__, "standings.csv", dict[str, str])
}


class Standing(StrEnum):
    """A fine's standing, in the order in which pages list the standings.

    Its other members are the columns of ``standings.csv``. ``word`` names the standing. ``of_one``
    and ``of_many`` follow a number of fines. ``clause`` completes "passou a constar" ("is now
    recorded"). ``key`` chooses the fines of this standing in a page's URL. ``tone`` and ``icon``
    are its colour and its shape, on the screen and on paper. The others say what an open fine means
    for licensing and transfer: ``finding`` and ``consequence`` of one fine, ``findings`` and
    ``consequences`` of several, ``why`` in a sentence (``{law}`` stands for the article), and
    ``brief`` in a few words. ``agreement`` is the clause of ``agreement.toml`` for a buyer and a
    seller, and ``proof`` what the seller shows.
    """

    word: str
    of_one: str
    of_many: str
    clause: str
    key: str
    tone: Literal["ok", "warn", "danger", "unknown"]
    icon: Literal["check", "clock", "alert", "cross", "question"]
    finding: str
    findings: str
    consequence: str
    consequences: str
    why: str
    brief: str
    agreement: str
    proof: str

    def __new__(cls, value: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        for name, text in _TEXTS[value].items():
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
