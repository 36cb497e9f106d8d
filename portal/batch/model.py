"""A batch of lookups as its owner sees it."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from portal.batch.typed_list import Subject, WrongEntry
from portal.vehicle import Renavam

State = Literal["draft", "running", "paused", "done", "cancelled"]
ItemState = Literal["pending", "done", "failed"]
LookupName = Literal["decode", "renainf", "renajud"]
# Why a batch is paused: by its owner, by a daily limit, by an outage, or because its owner's access
# is no longer accepted. A batch without access waits for its owner to start it again.
Reason = Literal["", "owner", "day_limit", "token_limit", "unreachable", "busy", "portal", "access"]

LOOKUPS: Final[tuple[LookupName, ...]] = ("decode", "renainf", "renajud")
RENAVAM_LOOKUPS: Final[tuple[LookupName, ...]] = ("renainf", "renajud")


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of plates and Renavam.

    ``stored``: every answer was stored when the batch was made. ``done`` have every answer,
    ``failed`` lack at least one, ``pending`` were not asked yet.
    """

    total: int
    stored: int
    done: int
    failed: int
    pending: int


@dataclass(frozen=True, slots=True)
class Cost:
    """R$: the price of the calls made so far, and the most that the batch can cost."""

    spent: Decimal
    at_most: Decimal


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch. Times are in epoch seconds.

    ``resume_at`` is when a pause ends by itself, None if its owner has to end it. ``active`` is the
    number of plates that are being asked now. ``wrong`` holds the first wrong entries, and
    ``more_wrong`` is the number of the others; a list of batches has neither. ``repeated`` is the
    number of vehicles that were given more than once.
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

    ``cause`` is the gateway's kind of failure, or "rejected", where the state is "failed".
    ``result`` is what the runner's ``summarise`` returned when the item ended, None before.
    """

    subject: Subject
    state: ItemState
    cause: str = ""
    position: int = 0
    result: bytes | None = field(default=None, repr=False)


def lookups_of(subject: Subject, ask: tuple[LookupName, ...]) -> tuple[LookupName, ...]:
    """Return which of the requested lookups a subject has; a Renavam cannot be decoded."""
    allowed = RENAVAM_LOOKUPS if isinstance(subject, Renavam) else LOOKUPS
    return tuple(name for name in ask if name in allowed)
