"""Data classes for a batch of lookups and its items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from portal.amounts import total
from portal.batch.typed_list import Subject, WrongEntry
from portal.gateway.operations import lookups_of
from portal.vehicle.operation_name import LookupName

State = Literal["draft", "running", "paused", "done", "cancelled"]
ItemState = Literal["pending", "done", "failed"]
# Why a batch is paused, or "" if it is not paused. "owner": the owner paused it. "access": the
# portal refuses the owner's token, or the upstream refuses the owner's upstream credential.
# "portal": the portal cannot write to the ledger or read the store. The other reasons are values of
# ``portal.gateway.FailureKind``. Only the owner can end a pause for "owner", "price", "access",
# "operator_refused" or "no_credit".
Reason = Literal[
    "",
    "owner",
    "price",
    "day_limit",
    "token_limit",
    "budget",
    "unreachable",
    "busy",
    "portal",
    "access",
    "operator_refused",
    "no_credit",
]

MOST_DRAFTS: Final = 20  # per owner; a further draft is refused
# "discard" deletes a draft (a batch that was never started).
Action = Literal["start", "pause", "cancel", "discard"]
ALLOWED: Final[dict[Action, frozenset[State]]] = {
    "start": frozenset({"draft", "paused", "done", "running"}),
    "pause": frozenset({"running", "paused"}),
    "cancel": frozenset({"draft", "running", "paused", "cancelled"}),
    "discard": frozenset({"draft"}),
}


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items of a batch are done, failed or pending.

    An item is done if all its lookups succeeded, and failed if at least one lookup failed.
    ``stored`` counts the items whose answers were already stored when the batch was created.
    """

    total: int
    stored: int
    done: int
    failed: int
    pending: int

    @property
    def ended(self) -> int:
        return self.total - self.pending


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of a batch's calls in R$.

    ``spent`` is the price of the calls so far, including calls in progress. ``at_most`` is what a
    running batch may spend in all, what a draft will be allowed to spend when it starts, and
    ``spent`` for an ended batch. Each is None if the price of a call is unknown. A batch whose
    owner has started it at an unknown price has no limit.
    """

    spent: Decimal | None
    at_most: Decimal | None

    @property
    def left(self) -> Decimal | None:
        if self.spent is None or self.at_most is None:
            return None
        return self.at_most - self.spent


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch. Times are in epoch seconds.

    ``resume_at`` is the time when a pause ends by itself. ``resume_at`` is None if only the owner
    can end the pause, or if the batch is not paused. ``active`` is the number of items that are
    being looked up now. ``repeated`` is the number of plates and Renavam that occur more than once
    in the owner's list. ``wrong`` contains the first invalid entries of this list, and
    ``more_wrong`` is the number of invalid entries that are not in ``wrong``. For ``typed`` and
    ``unticked`` see ``TypedList``. In a result of ``Batches.listed``, ``wrong``, ``typed`` and
    ``unticked`` are empty and ``more_wrong`` is 0.
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
    typed: Mapping[str, str] = field(default_factory=dict)
    unticked: tuple[str, ...] = ()
    name: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "cancelled")

    @property
    def is_discarded(self) -> bool:
        """Whether the owner cancelled the batch before it was started."""
        return self.state == "cancelled" and self.started_at is None

    @property
    def has_calls_under_way(self) -> bool:
        """Whether the batch was cancelled and has lookups that are not answered yet."""
        return self.state == "cancelled" and self.active > 0

    @property
    def goes_on(self) -> bool:
        """Whether the batch changes without an action of its owner."""
        return self.state == "running" or bool(self.resume_at) or self.has_calls_under_way

    @property
    def doubtful(self) -> tuple[WrongEntry, ...]:
        """The entries for which a plate or Renavam is suggested."""
        return tuple(entry for entry in self.wrong if entry.suggestion)

    @property
    def left_out(self) -> int:
        """The number of entries that are not looked up."""
        return len(self.wrong) + self.more_wrong

    def is_within_text(self, subject: Subject) -> bool:
        """Return whether the vehicle stood among other words.

        "= …" is another name of the vehicle.
        """
        text = self.typed.get(subject.text, "")
        return bool(text) and not text.startswith("=")

    def omits(self, subject: Subject, lookup: LookupName) -> bool:
        """Return whether the batch could make a lookup, but does not."""
        return lookup not in self.ask and lookup in lookups_of(subject)


@dataclass(frozen=True, slots=True)
class Item:
    """One plate or Renavam of a batch.

    ``position`` is the item's index in the batch, from 0. ``cause`` is the reason why an item
    failed: a FailureKind of the gateway, "out_of_scope" (the token lacks the lookup's scope) or
    "rejected" (the upstream answered with a status other than 200). A pending item with a cause is
    looked up once more. ``result`` is the row of the item's answers that ``BatchRunner`` has
    stored, or None if there is no row. ``spent`` is the price in R$ of the item's calls that
    were or may have been charged, or None if the spending of the batch is unknown.
    ``failing_since`` is the time of the first failure since the item's last answer, in epoch
    seconds, or None.
    """

    subject: Subject
    state: ItemState
    cause: str = ""
    position: int = 0
    result: bytes | None = field(default=None, repr=False)
    spent: Decimal | None = Decimal(0)
    failing_since: float | None = None


@dataclass(frozen=True, slots=True)
class QuotedItem:
    """A vehicle and the highest possible cost of its lookups.

    ``calls`` is the maximum number of upstream calls, and ``at_most`` is their price in R$, or None
    if that is unknown.
    ``is_stored`` is true if the answers to all lookups that the caller may make are already stored.
    It is false if the caller may make no lookup. ``is_possible`` is true if at least one of the
    chosen lookups is possible. For example, the lookup "decode" is impossible for a Renavam.
    """

    subject: Subject
    is_stored: bool
    at_most: Decimal | None = Decimal(0)
    calls: int = 0
    is_possible: bool = True


@dataclass(frozen=True, slots=True)
class Preview:
    """The highest possible cost of looking up a list of vehicles.

    ``calls`` is the maximum number of upstream calls, and ``at_most`` is their price in R$, or None
    if that is unknown.
    ``askable`` is the number of vehicles for which at least one of the chosen lookups is possible.
    ``impossible`` is the number of all other vehicles.
    """

    askable: int
    impossible: int
    calls: int
    at_most: Decimal | None

    @classmethod
    def of(cls, items: Sequence[QuotedItem]) -> "Preview":
        askable = sum(item.is_possible for item in items)
        return cls(
            askable,
            len(items) - askable,
            sum(item.calls for item in items),
            total(item.at_most for item in items),
        )

    @classmethod
    def together(cls, previews: Sequence["Preview"]) -> "Preview":
        return cls(
            sum(preview.askable for preview in previews),
            sum(preview.impossible for preview in previews),
            sum(preview.calls for preview in previews),
            total(preview.at_most for preview in previews),
        )


class UnknownBatch(LookupError):
    """The owner has no batch with this id."""


class TooManyDrafts(Exception):
    """The owner has so many drafts that another one is refused."""


class NotAllowed(Exception):
    """The batch's state does not allow the action."""

    def __init__(self, action: Action, state: State) -> None:
        super().__init__(f"{action} in {state}")
        self.action = action
        self.state = state


class CostUnknown(Exception):
    """A batch is to have a limit in R$, but the price of one of its calls is unknown."""


class RetryTooExpensive(Exception):
    """``most`` R$ do not hold the price in R$ of the first vehicle that is to be tried again."""

    def __init__(self, price: Decimal, most: Decimal) -> None:
        super().__init__(f"{price} > {most}")
        self.price = price
        self.most = most


class NothingFailed(Exception):
    """None of the vehicles that are to be tried again has failed."""


class NotInBatch(LookupError):
    """The vehicle is in no item of the batch."""
