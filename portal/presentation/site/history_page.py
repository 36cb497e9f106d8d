"""The history page: the vehicles that a visitor looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

from portal.gateway import lookups_of
from portal.presentation import formats
from portal.presentation.operation_names import LOOKUP_WORDS
from portal.presentation.panels import Panels
from portal.presentation.site.recent_lookup import RecentLookup
from portal.vehicle import LookupName
from portal.wording import listed

PAGE_SIZE: Final = 40
NOTHING_LEFT: Final = "nenhuma resposta guardada: venceram, foram apagadas ou não chegaram"
NO_PAYMENT: Final = "nada pago: veio da memória"


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A vehicle in the history.

    ``seen`` says how long ago the visitor looked up the vehicle. ``paid`` says what the visitor's
    lookups of the vehicle have cost. ``paid`` is "" in demo mode, or if all lookups are free.
    ``cost`` says what the next view of the vehicle's page costs at most, or is "" if the view is
    free.
    """

    lookup: RecentLookup
    seen_at: datetime
    seen: str
    answers: str
    paid: str
    cost: str


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of the history.

    ``newer`` is the path of the page with newer lines, and ``older`` is the path of the page with
    older lines. A path is "" if there is no such page.
    """

    template: ClassVar[str] = "pages/history.html"
    title: str
    lines: tuple[HistoryLine, ...]
    kept: str
    newer: str
    older: str


def history_page(
    lines: Sequence[HistoryLine], *, kept_s: int, number: int, has_older: bool
) -> HistoryPage:
    """Build one page of the history. Page ``number`` 1 has the newest lines."""
    return HistoryPage(
        title="Histórico",
        lines=tuple(lines),
        kept=formats.duration(kept_s),
        newer=_path(number - 1) if number > 1 else "",
        older=_path(number + 1) if has_older else "",
    )


def history_line(
    lookup: RecentLookup,
    panels: Panels,
    seen_at: datetime,
    prices: Mapping[LookupName, Decimal],
    paid: Decimal | None,
    now: datetime,
) -> HistoryLine:
    """Build the line of a vehicle from its stored answers.

    ``prices`` are the prices, in R$, of the lookups that the visitor may make. ``paid`` is what the
    visitor's lookups of the vehicle have cost, in R$. In demo mode, ``paid`` is None. All visitors
    then share one account, so the portal does not know what each visitor's lookups have cost.
    """
    wanted = [name for name in lookups_of(lookup.subject) if name in prices]
    opening = sum((prices[name] for name in wanted if not _needs_no_call(panels, name)), Decimal(0))
    has_prices = any(prices.values())
    return HistoryLine(
        lookup=lookup,
        seen_at=seen_at,
        seen=f"visto {formats.age(now - seen_at)}",
        answers=_answers(wanted, panels, now),
        paid=_paid(paid) if has_prices and paid is not None else "",
        cost=_cost(opening),
    )


def _path(number: int) -> str:
    return "/historico" if number == 1 else f"/historico?pagina={number}"


def _needs_no_call(panels: Panels, name: LookupName) -> bool:
    """Return whether the vehicle's page needs no upstream call for this lookup."""
    panel = panels.of(name)
    return panel.state == "fresh" or panel.cause == "rejected"


def _answers(wanted: Sequence[LookupName], panels: Panels, now: datetime) -> str:
    kept = [name for name in wanted if panels.of(name).has_answer]
    refused = any(panels.of(name).cause == "rejected" for name in wanted)
    if not kept:
        return "a fonte não aceitou a consulta" if refused else NOTHING_LEFT
    fetched = [at for name in kept if (at := panels.of(name).fetched_at) is not None]
    age = formats.age(now - min(fetched)) if fetched else ""
    expired = [name for name in kept if panels.of(name).state == "stale"]
    missing = [name for name in wanted if name not in kept]
    parts = [f"respostas guardadas {age}".strip()]
    if expired:
        parts.append(f"fora do prazo: {_words(expired)}")
    if missing:
        parts.append(f"sem resposta guardada: {_words(missing)}")
    return "; ".join(parts)


def _words(names: Sequence[LookupName]) -> str:
    return listed([LOOKUP_WORDS[name] for name in names])


def _paid(paid: Decimal) -> str:
    return f"pago {formats.brl(paid)}" if paid else NO_PAYMENT


def _cost(opening: Decimal) -> str:
    return f"abrir custa até {formats.brl(opening)}" if opening else ""
