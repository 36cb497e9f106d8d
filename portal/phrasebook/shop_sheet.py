"""The shop's sheet: what Lei 13.111/2015 lets a buyer know, and what a stock entry asks for."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from portal.data_files import read_toml

Item = Literal["a", "b", "c", "d", "e"]


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clause for the contract. ``situation`` has the fields ``plate`` and ``day``.

    ``unfinished`` is said beside the clause while an item of the law is open.
    """

    head: str
    taxes: str
    situation: str
    end: str
    unfinished: str


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    fields: tuple[str, ...]


class Renave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stops a stock entry, and what the entry, the exit and a consignment ask for."""

    intro: str
    fines: str
    entry: tuple[str, ...]
    exit: tuple[str, ...]
    consignment: str


class SheetTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of ``shop_sheet.toml``, which says how sure each is.

    ``items`` are those of art. 1º, II, of the law.
    """

    duty: str
    taxes: str
    sanction: str
    beside: str
    items: Mapping[Item, str]
    clause: Clause
    receipt: Receipt
    renave: Renave


TEXTS: Final = read_toml(__package__, "shop_sheet.toml", SheetTexts)
