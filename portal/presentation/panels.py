"""A page's panels: what one lookup brought, or why it brought nothing."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from portal.gateway import FailureKind

# Why a lookup brought nothing: the gateway's reason or one of the pages' own, "" for any other.
Cause = FailureKind | Literal["", "rejected", "out_of_scope", "not_for_renavam", "broken"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A different answer to the same lookup, from before; ``fetched_at`` is aware and in UTC."""

    body: bytes
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Panel:
    """One lookup as a page shows it.

    ``fetched_at`` is aware and in UTC; ``price`` is what asking again costs in R$, 0 where the
    operator named none; ``reason`` is a Portuguese sentence, filled for an unavailable panel, and
    ``cause`` tells its kind;
    ``is_stored``: asking again costs nothing while it is fresh, for the store has it;
    ``replaced`` the answer that this one took the place of, while it is kept.
    """

    state: Literal["fresh", "stale", "unavailable", "unasked"]
    body: bytes | None = None
    fetched_at: datetime | None = None
    origin: str | None = None
    from_memory: bool = False
    price: Decimal = Decimal(0)
    reason: str = ""
    cause: Cause = ""
    replaced: Replaced | None = None
    is_stored: bool = True

    @property
    def has_answer(self) -> bool:
        return self.body is not None
