"""Decides what becomes of an item after its lookups: done, failed, or looked up again.

A failed lookup may have been charged, so an item that has failed is not looked up again without an
act of its owner. There are two exceptions, which may give an answer that the batch has not had:

- No base address was asked. The item is put back, and its batch pauses.
- A base address failed, and the other one was held back: its circuit was open, or the confirmed sum
  was reserved for other lookups. The item is looked up once more after the others, if what is then
  left of the sum allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from portal.batch.pauses import Pause


@dataclass(frozen=True, slots=True)
class Fault:
    """A lookup without an answer.

    ``cause`` is an item's cause (see ``Item``). With a ``pause``, the item's other lookups are not
    made. ``held_back`` is true if the portal did not ask a base address (see ``Failure``).
    """

    cause: str
    pause: Pause | None = None
    held_back: bool = False

    @property
    def lacks_money(self) -> bool:
        return self.pause is not None and self.pause.reason == "price"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an item and its batch.

    ``state`` is "pending" for an item that is put back. If ``counts`` is true, it comes after the
    items that were put back less often. ``cause`` is why the item has failed so far, or "".
    """

    state: Literal["pending", "done", "failed"]
    cause: str = ""
    pause: Pause | None = None
    counts: bool = False


def ends_item(fault: Fault, before: Sequence[Fault], former: str) -> bool:
    """Return whether an item's further lookups are not made after ``fault``.

    ``before`` are the item's earlier faults, and ``former`` is its cause when it was put back. If
    the confirmed sum does not allow a lookup of an item that has failed, its other lookups may
    still be stored.
    """
    if fault.lacks_money:
        return not before and not former
    return fault.pause is not None


def verdict(faults: Sequence[Fault], former: str, attempts: int) -> Verdict:
    """Return what becomes of an item after its lookups.

    ``former`` is the item's cause when it was put back, or "". ``attempts`` is the number of times
    that it was put back.
    """
    if not faults:
        return Verdict("done")
    failed = [fault for fault in faults if fault.pause is None]
    pauses = [fault for fault in faults if fault.pause is not None and not fault.lacks_money]
    pause = pauses[0].pause if pauses else None
    if failed:
        cause = failed[0].cause
        if former or not all(fault.held_back for fault in failed):
            return Verdict("failed", cause, pause)
        return Verdict("pending", cause, pause, counts=True)
    if pause is not None:
        return Verdict("pending", former, pause, counts=not pauses[0].held_back)
    if former:
        return Verdict("failed", former)
    # An item that lacks money waits until the items that have a reserved part were looked up.
    return Verdict("pending", "", faults[0].pause if attempts else None, counts=True)
