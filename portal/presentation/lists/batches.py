"""The batch pages: form, highest cost, progress and results.

A batch is a list of plates or Renavams (registration numbers) that the portal looks up together.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Final

from portal.amounts import total
from portal.batch.model import Batch, Item, Preview
from portal.batch.typed_list import Subject, WrongEntry
from portal.gateway.limits import Allowance, Calendar
from portal.presentation.lists.recent_lookup import RecentLookup
from portal.presentation.lists.vehicle_list import VehicleList
from portal.presentation.wrong_entries import wrong_message
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import parse_subject
from portal.wording import counted, grouped

REFRESH_S: Final = 10
MOST_WRONG: Final = 20
MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class BatchFormPage:
    """The form for a new batch. ``text`` is the typed list.

    ``problem`` is an error message about the list, or "" if there is no error. ``corrects`` is the
    id of an earlier batch whose list the form corrects, or "" for a new list. If the earlier batch
    was never started, the new batch replaces it. ``prices`` has the price in R$ of each lookup that
    the visitor may make. The form preselects the lookups ``ask``. It also offers the vehicles in
    ``recent``, and preselects a vehicle if its plate or Renavam is in ``chosen``.
    """

    template: ClassVar[str] = "pages/batches.html"
    text: str
    problem: str
    corrects: str
    recent: Sequence[RecentLookup]
    chosen: Collection[str]
    prices: Mapping[LookupName, Decimal | None]
    ask: Collection[str]
    limit: int
    batches: Sequence[Batch]


@dataclass(frozen=True)
class BatchPage:
    """The page of one batch.

    ``vehicles`` are the rows of the batch. A draft has its items in ``drafted`` and no rows.
    ``left`` is the preview of the lookups that the start button would make, or None if the page has
    no start button. ``failing`` are the items that have failed, or fail so far, and ``retries`` has
    the preview of looking up each failed one again. ``allowance`` says what the limits of the day
    and of the month still allow.
    """

    template: ClassVar[str] = "pages/batch.html"
    refresh_s: ClassVar[int] = REFRESH_S
    most_wrong: ClassVar[int] = MOST_WRONG
    most_named: ClassVar[int] = MOST_NAMED
    batch: Batch
    vehicles: VehicleList
    drafted: Sequence[Item]
    prices: Mapping[LookupName, Decimal | None]
    allowance: Allowance
    now: datetime
    left: Preview | None
    failing: Sequence[Item]
    retries: Mapping[Subject, Preview]

    @property
    def step(self) -> int:
        """1 (check the list), 2 (make the lookups) or 3 (see the results)."""
        return {"draft": 1, "running": 2, "paused": 2}.get(self.batch.state, 3)

    @property
    def may_start(self) -> bool:
        """Whether the page has a button that starts, continues or repeats the batch."""
        return self.left is not None and self.left.askable > 0

    def may_retry(self, subject: Subject) -> bool:
        """Return whether the vehicle's row has a button that looks it up again.

        In a paused batch, the button would also resume the lookups of the other vehicles.
        """
        retry = self.retries.get(subject)
        return retry is not None and retry.askable > 0 and self.batch.state in ("running", "done")

    @property
    def retry_all(self) -> Preview | None:
        """The lookups of all failed vehicles together, or None if fewer than two can be retried."""
        chosen = [self.retries[one] for one in self._retried]
        return Preview.together(chosen) if len(chosen) > 1 else None

    @property
    def retried_plates(self) -> Sequence[str]:
        """The plates and Renavams that ``retry_all`` looks up again."""
        return [one.text for one in self._retried]

    @property
    def _retried(self) -> Sequence[Subject]:
        return [one for one in self.retries if self.may_retry(one)]

    @property
    def maybe_charged(self) -> Decimal | None:
        """The R$ that the vehicles without an answer may have cost, or None if that is unknown."""
        return total(item.spent for item in self.failing)

    @property
    def confirmed(self) -> Decimal | None:
        """The R$ total that the batch may spend if the start button is pressed.

        None without a start button, and if a price is unknown.
        """
        return total((self.batch.cost.spent, self.left.at_most)) if self.left else None

    @property
    def most_left(self) -> Decimal | None:
        """The R$ that the lookups still to be made cost at most, or None if that is unknown."""
        return self.left.at_most if self.left else self.batch.cost.left

    @property
    def vehicles_left(self) -> int:
        return self.left.askable if self.left else self.batch.counts.pending

    @property
    def plates_allowed(self) -> Sequence[tuple[Calendar, int]]:
        """For how many vehicles of a batch that waits for its start each limit is enough.

        The limit that is enough for the fewest comes first. Nothing without limits, or without a
        call to make.
        """
        if self.left is None or not self.left.calls:
            return ()
        askable, price = self.left.askable, self.left.at_most
        calls, money = self.allowance.left, self.allowance.money
        ends: list[tuple[Calendar, int]] = []
        if money is not None and price:
            ends.append(("month", min(askable, int(max(Decimal(0), money) * askable // price))))
        if calls is not None:
            ends.append(("day", min(askable, max(0, calls) * askable // self.left.calls)))
        return sorted(ends, key=lambda end: end[1])

    def is_spent(self, period: Calendar) -> bool:
        """Return whether nothing is left of a limit that ``plates_allowed`` names."""
        left = self.allowance.left if period == "day" else self.allowance.money
        return (left or 0) <= 0

    @property
    def to_look_up(self) -> int:
        counts = self.batch.counts
        return counts.total - counts.stored - (self.left.impossible if self.left else 0)

    @property
    def unasked(self) -> tuple[LookupName, ...]:
        return tuple(name for name in LOOKUPS if name not in self.batch.ask)

    @property
    def doubtful(self) -> Iterator[tuple[Subject, WrongEntry | None]]:
        """The vehicles that are not ticked. A vehicle without entry was unticked by the visitor."""
        yield from ((parse_subject(text), None) for text in self.batch.unticked)
        yield from ((parse_subject(entry.suggestion), entry) for entry in self.batch.doubtful)

    @cached_property
    def within_text(self) -> Sequence[Item]:
        return [item for item in self.drafted if self.batch.is_within_text(item.subject)]

    @cached_property
    def plain(self) -> Sequence[Item]:
        return [item for item in self.drafted if not self.batch.is_within_text(item.subject)]

    @property
    def wrong(self) -> Sequence[WrongEntry]:
        """The entries that cannot be ticked."""
        return [entry for entry in self.batch.wrong if self.step > 1 or not entry.suggestion]

    @property
    def more_wrong(self) -> int:
        return max(0, len(self.wrong) - MOST_WRONG) + self.batch.more_wrong

    @property
    def elapsed_s(self) -> int | None:
        """How long a running batch has run, or None in other states."""
        if self.batch.state != "running" or self.batch.started_at is None:
            return None
        return max(1, round(self.now.timestamp() - self.batch.started_at))

    @property
    def remaining_s(self) -> int | None:
        """How long a running batch will probably still run, or None if unknown."""
        counts = self.batch.counts
        if self.elapsed_s is None or not counts.ended or not counts.pending:
            return None
        return max(1, round(self.elapsed_s / counts.ended * counts.pending))

    @property
    def expired(self) -> int:
        """The number of vehicles whose lookups have ended and whose answers have expired.

        The start button does not look up these vehicles again, but a new batch with the same list
        does.
        """
        return sum(row.state == "done" and bool(row.expired) for row in self.vehicles.rows)

    @property
    def has_results(self) -> bool:
        return any(row.state != "pending" for row in self.vehicles.rows)


def typed_again(batch: Batch, items: Sequence[Item]) -> tuple[str, str]:
    """Return the text and the error message of a form that corrects a batch.

    The text begins with the invalid entries. The message explains the first three invalid entries,
    or is "" if all entries are valid. For a cancelled batch, the text has only the plates that were
    not looked up, and the message is "".
    """
    if batch.state == "cancelled":
        return "\n".join(item.subject.text for item in items if item.state == "pending"), ""
    wrong = [entry.value for entry in batch.wrong]
    reasons = " ".join(map(mistake, batch.wrong[:3]))
    text = "\n".join([*wrong, *(item.subject.text for item in items), *batch.unticked])
    if not wrong:
        return text, ""
    if batch.more_wrong:
        more = counted(batch.more_wrong, "outra linha não está", "outras linhas não estão")
        reasons += (
            f" Mais {more} aqui: só {grouped(len(wrong))} das não reconhecidas ficam guardadas."
        )
    return text, f"Confira {'a linha' if len(wrong) == 1 else 'as linhas'} do começo. {reasons}"


def mistake(entry: WrongEntry) -> str:
    """Quote an invalid entry, and say what is wrong with it."""
    message = wrong_message(entry)
    return message if f"“{entry.value}”" in message else f"“{entry.value}”: {message}"
