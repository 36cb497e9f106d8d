"""The result of one lookup for a page: an answer, or the reason why there is none."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from portal.gateway import FailureKind, Served
from portal.vehicle import result_of

# Why a lookup has no answer, or "" if it has one. The pages add causes to the gateway's
# FailureKind.
Cause = FailureKind | Literal["", "rejected", "out_of_scope", "not_for_renavam", "broken"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """The previous, different answer to the same lookup.

    ``result`` is defined as in Panel. ``fetched_at`` is aware and in UTC.
    """

    body: bytes
    result: object = field(compare=False)
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Panel:
    """The result of one lookup, as a page shows it.

    Comparisons ignore ``result``, so that panels are hashable. ``result`` is the decoded ``result``
    member of ``body``, or None. ``fetched_at`` is aware and in UTC. ``price`` is the cost of
    repeating the lookup in R$, or 0 if the operator configured no price. If the panel is
    unavailable, ``reason`` says why in a Portuguese sentence, and ``cause`` is the code of the
    reason. ``is_stored`` is true if the store holds the answer, so that repeating the lookup is
    free while the answer is fresh. ``replaced`` is the previous answer, or None if the store no
    longer has it. The state "unasked" means that the lookup was not made yet.
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


def answer_panel(
    served: Served, replaced: Served | None = None, price: Decimal = Decimal(0)
) -> Panel:
    """Return the panel of an answer. ``replaced`` is the store's previous answer, if any."""
    is_older = replaced is not None and replaced.fetched_at < served.fetched_at
    return Panel(
        state="stale" if served.cache_status == "stale" else "fresh",
        body=served.body,
        result=result_of(served.body),
        fetched_at=datetime.fromtimestamp(served.fetched_at, UTC),
        origin=served.origin,
        from_cache=served.from_cache,
        price=price,
        replaced=_replaced(replaced) if replaced is not None and is_older else None,
        is_stored=served.stored,
    )


def _replaced(served: Served) -> Replaced:
    fetched_at = datetime.fromtimestamp(served.fetched_at, UTC)
    return Replaced(served.body, result_of(served.body), fetched_at)
