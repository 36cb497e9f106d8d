"""The lists of vehicles of one caller: read, quoted, drafted and started as batches."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal, NamedTuple

from portal.access.tokens import Identity
from portal.batch.batches import MOST_LISTED, new_id
from portal.batch.model import Batch, Item, Preview, QuotedItem, TooManyDrafts
from portal.batch.typed_list import (
    Subject,
    TypedList,
    WrongEntry,
    read_list,
    read_strings,
    reticked,
)
from portal.batch.uploads import BinaryFile, BinaryFormat
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import each_once

ListProblem = Literal["binary", "nothing_asked", "empty", "too_long", "too_many_drafts"]


class ListRefused(Exception):
    """A list cannot become a batch.

    ``count`` is the number of its vehicles, ``limit`` the most that a batch may have. ``wrong`` are
    its entries that are no vehicle. ``format`` is that of a file which is no text.
    """

    def __init__(
        self,
        problem: ListProblem,
        *,
        count: int = 0,
        limit: int = 0,
        wrong: Sequence[WrongEntry] = (),
        file_format: BinaryFormat = "binary",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.count = count
        self.limit = limit
        self.wrong = wrong
        self.format = file_format


class ListPage(NamedTuple):
    """Batches, and where the next page begins: the time and the id of the last one, or None."""

    shown: Sequence[Batch]
    next: tuple[float, str] | None


class Lists:
    """One caller's lists.

    ``read`` and ``read_texts`` make a list of what was typed, ``quote`` prices its lookups,
    ``draft`` stores it as a batch that is not started, ``start`` starts it. None calls the
    upstream. The methods that name a batch raise UnknownBatch if the caller has none of this id.
    """

    def __init__(self, core: Core, caller: Caller) -> None:
        self._core = core
        self._caller = caller

    @property
    def limit(self) -> int:
        """The most vehicles of a batch."""
        return self._core.batch_limit

    @property
    def _identity(self) -> Identity:
        return self._caller.identity

    @property
    def _owner(self) -> str:
        return self._caller.owner

    # From a typed list to a batch

    def read(self, text: str, file: bytes = b"", ticked: Sequence[str] = ()) -> TypedList:
        """Return the list of a text and of a file.

        The vehicles in ``ticked`` follow, without repetitions. Raises ListRefused ("binary").
        """
        try:
            listed = read_list(text, file)
        except BinaryFile as error:
            raise ListRefused("binary", file_format=error.format) from None
        more = read_strings(ticked).subjects
        return replace(listed, subjects=each_once((*listed.subjects, *more)))

    def read_texts(self, texts: Sequence[object]) -> TypedList:
        """Return the list of the elements of a JSON array."""
        return read_strings(texts, most_wrong=self.limit)

    def check(
        self, listed: TypedList, ask: Collection[LookupName], *, may_tick: bool = False
    ) -> None:
        """Raise ListRefused if the list cannot become a batch that makes the lookups ``ask``.

        ``may_tick`` allows a list of doubtful or unticked entries alone, which the caller can tick.
        """
        count = len(listed.subjects)
        can_be_ticked = bool(listed.unticked) or any(entry.suggestion for entry in listed.wrong)
        if not ask:
            raise ListRefused("nothing_asked")
        if not count and not (may_tick and can_be_ticked):
            raise ListRefused("empty", wrong=listed.wrong)
        if count > self.limit:
            raise ListRefused("too_long", count=count, limit=self.limit)

    def quote(self, subjects: Sequence[Subject], ask: Sequence[LookupName]) -> Sequence[QuotedItem]:
        """Return each vehicle with the highest possible price of its lookups."""
        return self._core.pricing.quote(subjects, ask, self._identity)

    def draft(
        self,
        listed: TypedList,
        ask: tuple[LookupName, ...],
        *,
        key: str | None = None,
        content: bytes = b"",
        replaced: str = "",
        may_tick: bool = False,
    ) -> str:
        """Store a list as a draft with its price, and return the batch's id.

        A repeated request with the idempotency key ``key`` and the same ``content`` gets the batch
        of the first. The new draft takes the place of the draft ``replaced``. Raises ListRefused,
        or KeyReused if the key was sent with other content.
        """
        self.check(listed, ask, may_tick=may_tick)
        batch = ""
        if key is not None:
            claim = self._core.idempotency.claim
            batch = claim("batch", self._owner, key, content, new_id())
        try:
            return self._core.pricing.create(
                self._owner, self._identity, ask, listed, batch, replaced
            )
        except TooManyDrafts:
            raise ListRefused("too_many_drafts") from None

    def tick(self, batch: str, ticked: Collection[str]) -> str:
        """Replace a draft by one with the ticked vehicles, and return its id.

        Returns "" if the ticks have not changed, or the batch is no draft. Raises ListRefused.
        """
        draft = self.get(batch)
        subjects = tuple(item.subject for item in self.items(batch))
        if draft.state != "draft" or set(ticked) == {subject.text for subject in subjects}:
            return ""
        drafted = TypedList(
            subjects, draft.wrong, (), draft.more_wrong, dict(draft.typed), draft.unticked
        )
        listed = reticked(drafted, ticked)
        return self.draft(listed, draft.ask, replaced=batch, may_tick=True)

    def start(self, batch: str, most: Decimal | None = None) -> None:
        """Start or resume a batch, which spends at most ``most`` R$ in all.

        By default, this is what its pending lookups cost now. Raises NotAllowed or CostUnknown.
        """
        self._core.pricing.start(batch, self._owner, self._identity, most)

    def retry(self, batch: str, subjects: Collection[Subject], most: Decimal | None = None) -> None:
        """Look up failed vehicles again, for at most ``most`` R$, by default their present price.

        Raises NotAllowed, CostUnknown, NotInBatch, NothingFailed or RetryTooExpensive.
        """
        self._core.pricing.retry(batch, self._owner, self._identity, subjects, most)

    # Batches

    def get(self, batch: str) -> Batch:
        return self._core.batches.get(batch, self._owner)

    def priced(self, batch: str) -> Batch:
        """Return a batch, with the cost at the present prices if it waits for a start."""
        return self._core.pricing.priced(self.get(batch), self._owner, self._identity)

    def all(self, after: tuple[float, str] | None = None) -> Sequence[Batch]:
        """Return the latest batches, the latest first (``Batches.listed``)."""
        return self._core.batches.listed(self._owner, after)

    def page(self, after: tuple[float, str] | None = None) -> "ListPage":
        """Return the latest batches after those of the page that ``after`` ends, with prices."""
        listed = self.all(after)
        batches = self._core.pricing.priced_list(listed, self._owner, self._identity)
        last = listed[-1] if len(listed) == MOST_LISTED else None
        return ListPage(batches, (last.created_at, last.id) if last else None)

    def items(self, batch: str, most: int | None = None, skip: int = 0) -> Sequence[Item]:
        return self._core.batches.items(batch, self._owner, most=most, skip=skip)

    def left(self, batch: Batch) -> Preview:
        """Return the highest cost of the lookups if the batch is started."""
        return self._core.pricing.left(batch, self._owner, self._identity)

    def retries(
        self, items: Sequence[Item], ask: Sequence[LookupName]
    ) -> Mapping[Subject, Preview]:
        """Return the highest cost of looking up each failed item again."""
        return self._core.pricing.retries(items, ask, self._identity)

    def pause(self, batch: str) -> None:
        """Pause a running batch. Raises NotAllowed."""
        self._core.batches.pause(batch, self._owner)

    def cancel(self, batch: str) -> None:
        """Cancel a batch. Raises NotAllowed."""
        self._core.batches.cancel(batch, self._owner)

    def discard(self, batch: str) -> None:
        """Delete a draft. Raises NotAllowed."""
        self._core.batches.discard(batch, self._owner)

    def rename(self, batch: str, name: str) -> None:
        self._core.batches.rename(batch, self._owner, name)
