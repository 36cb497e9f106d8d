"""The standing of a fine: whether payment can be enforced now. Defines its words and its look."""

from enum import StrEnum
from typing import Literal, Self


class Standing(StrEnum):
    """A fine's standing, in the order in which pages list the standings.

    ``word`` names the standing, and ``short`` fits into a narrow column. ``of_one`` and ``of_many``
    follow a number of fines. ``clause`` completes "passou a constar" ("is now recorded"). ``key``
    chooses the fines of this standing in a page's URL. ``tone`` and ``icon`` are its colour and its
    shape, on the screen and on paper.
    """

    word: str
    of_one: str
    of_many: str
    clause: str
    key: str
    tone: Literal["ok", "warn", "danger", "unknown"]
    icon: Literal["check", "clock", "alert", "cross", "question"]

    def __new__(cls, value: str, *texts: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        names = ("word", "of_one", "of_many", "clause", "key", "tone", "icon")
        for name, text in zip(names, texts, strict=True):
            setattr(member, name, text)
        return member

    ENFORCEABLE = (
        "enforceable",
        "exigível",
        "exigível",
        "exigíveis",
        "como exigível",
        "exigivel",
        "danger",
        "cross",
    )
    PROBABLY_DUE = (
        "probably_due",
        "vencimento provável",
        "de vencimento provável",
        "de vencimento provável",
        "com vencimento provável",
        "vencimento",
        "warn",
        "alert",
    )
    DUE = (
        "due",
        "no prazo de pagamento ou recurso",
        "no prazo",
        "no prazo",
        "no prazo de pagamento ou recurso",
        "prazo",
        "warn",
        "clock",
    )
    NOTICE = (
        "notice",
        "em autuação",
        "em autuação",
        "em autuação",
        "em autuação",
        "autuacao",
        "warn",
        "clock",
    )
    SUSPENDED = (
        "suspended",
        "suspensa",
        "suspensa",
        "suspensas",
        "como suspensa",
        "suspensa",
        "unknown",
        "question",
    )
    UNKNOWN = (
        "unknown",
        "situação incerta",
        "de situação incerta",
        "de situação incerta",
        "com situação incerta",
        "incerta",
        "unknown",
        "question",
    )
    # The source says that nothing is owed, which its word alone does not prove.
    CALLED_OFF = (
        "called_off",
        "dada como cancelada",
        "dada como cancelada",
        "dadas como canceladas",
        "como cancelada",
        "cancelada",
        "unknown",
        "question",
    )
    PAID = ("paid", "paga", "paga", "pagas", "como paga", "paga", "ok", "check")
