"""The result of one lookup as a page shows it: an answer, or why there is none."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from portal.gateway import FailureKind

# Why a lookup has no answer: the gateway's FailureKind or a reason of the pages; "" for none.
Cause = FailureKind | Literal["", "rejected", "out_of_scope", "not_for_renavam", "broken"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """The previous, different answer to the same lookup.

    ``result`` is as in Panel; ``fetched_at`` is aware and in UTC.
    """

    body: bytes
    result: object = field(compare=False)
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Panel:
    """One lookup as a page shows it. Panels are hashable; those with equal bodies may be equal.

    ``result`` is the decoded ``result`` of the ``body``, None if it has none. ``fetched_at`` is
    aware and in UTC. ``price`` is the cost of repeating the lookup in R$, 0
    where the operator configured none. ``reason`` is a Portuguese sentence, filled for an
    unavailable panel, and ``cause`` is the kind of reason. ``is_stored``: the store holds the
    answer, so repeating the lookup costs nothing while the answer is fresh. ``replaced`` is the
    answer that this one replaced, as long as the store keeps it.
    """

    state: Literal["fresh", "stale", "unavailable", "unasked"]
    body: bytes | None = None
    result: object = field(default=None, compare=False)
    fetched_at: datetime | None = None
    origin: str | None = None
    from_cache: bool = False
    price: Decimal = Decimal(0)
    reason: str = ""
    cause: Cause = ""
    replaced: Replaced | None = None
    is_stored: bool = True

    @property
    def has_answer(self) -> bool:
        return self.body is not None
