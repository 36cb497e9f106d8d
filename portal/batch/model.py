"""Data classes of a batch of lookups and its items, as its owner sees them."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from portal.batch.typed_list import Subject, WrongEntry
from portal.vehicle import Renavam

State = Literal["draft", "running", "paused", "done", "cancelled"]
ItemState = Literal["pending", "done", "failed"]
LookupName = Literal["decode", "renainf", "renajud"]
# Why a batch is paused: its owner paused it, a daily limit was reached, the upstream or the ledger
# fails, or the owner's token or credential is no longer accepted ("access"). Only the owner can
# resume a batch after "owner" and "access".
Reason = Literal["", "owner", "day_limit", "token_limit", "unreachable", "busy", "portal", "access"]

LOOKUPS: Final[tuple[LookupName, ...]] = ("decode", "renainf", "renajud")
RENAVAM_LOOKUPS: Final[tuple[LookupName, ...]] = ("renainf", "renajud")


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of plates and Renavam.

    ``stored`` counts plates and Renavam whose answers were all stored when the batch was made.
    ``done`` is the number with all answers, ``failed`` the number that lack one, and ``pending``
    the number not looked up yet.
    """

    total: int
    stored: int
    done: int
    failed: int
    pending: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The price in R$ of the calls made so far, and the most that the batch can cost."""

    spent: Decimal
    at_most: Decimal


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch. Times are in epoch seconds.

    ``resume_at`` is when a pause ends by itself, or None if the owner has to end it. ``active`` is
    the number of plates that are being looked up now. ``wrong`` holds the first wrong entries of
    the list, and ``more_wrong`` counts the others. In a list of batches, ``wrong`` and
    ``more_wrong`` are empty. ``repeated`` is the number of vehicles that were given more than once.
    """

    id: str
    state: State
    reason: Reason
    resume_at: float | None
    ask: tuple[LookupName, ...]
    counts: Counts
    cost: Cost
    wrong: tuple[WrongEntry, ...]
    created_at: float
    started_at: float | None
    ended_at: float | None
    expires_at: float
    active: int = 0
    more_wrong: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One plate or Renavam of a batch; ``position`` counts from 0 in the order given.

    If the state is "failed", ``cause`` is the gateway's kind of failure or "rejected". ``result``
    is what the runner's ``summarise`` returned when the item ended, and None before.
    """

    subject: Subject
    state: ItemState
    cause: str = ""
    position: int = 0
    result: bytes | None = field(default=None, repr=False)


def lookups_of(subject: Subject, ask: tuple[LookupName, ...]) -> tuple[LookupName, ...]:
    """Return those of the requested lookups that a plate or Renavam supports."""
    allowed = RENAVAM_LOOKUPS if isinstance(subject, Renavam) else LOOKUPS
    return tuple(name for name in ask if name in allowed)
