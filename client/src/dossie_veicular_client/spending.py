"""What lookups cost, and lookups that cannot cost more than allowed.

The portal holds the limit, not this program: a lookup with a limit runs as a batch of one vehicle
that the portal pauses before its spend would exceed ``max_cost``. The source may charge a lookup
twice, if its first address fails after it got the request, so a call's price alone is no limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from dossie_veicular_client.answers import Explained, LookupName
from dossie_veicular_client.client import LOOKUPS, Client, lookup_names
from dossie_veicular_client.errors import CostsTooMuch, Failed

# Held from the creation of a batch to its start. A portal keeps 20 drafts of a token, and refuses
# another one (``too_many_drafts``).
DRAFTS: Final = BoundedSemaphore(8)


@dataclass(frozen=True)
class Quote:
    """What is stored of a vehicle, and the price in R$ of what is not.

    ``document`` is made of the stored answers. A stored answer past its time counts as missing.
    ``price`` is None if the portal does not state the price of a missing lookup.
    """

    plate: str
    document: Explained
    stored: tuple[LookupName, ...]
    missing: tuple[LookupName, ...]
    price: float | None

    @property
    def ask(self) -> tuple[LookupName, ...]:
        return (*self.stored, *self.missing)


def quote(client: Client, plate: str, ask: str | Sequence[str] | None = None) -> Quote:
    """Say what a lookup would cost. Asks nothing."""
    names = lookup_names(ask) if ask else LOOKUPS
    document = client.vehicle(plate, names, reuse="stored")
    lookups = document["lookups"]
    if any(name not in lookups for name in names):
        raise Failed("a resposta não tem a forma das de um portal Dossiê Veicular")
    stored = tuple(name for name in names if lookups[name]["state"] == "fresh")
    missing = tuple(name for name in names if name not in stored)
    price = total(lookups[name]["price"] for name in missing)
    return Quote(document["plate"], document, stored, missing, price)


def total(prices: Iterable[float | None]) -> float | None:
    """Return the sum, or None if a price is unknown. A price below zero is no price."""
    known = 0.0
    for price in prices:
        if price is None or price < 0:
            return None
        known += price
    return round(known, 6)


def look_up(
    client: Client, priced: Quote, max_reais: float | None
) -> tuple[Explained, float | None]:
    """Ask what a quote lacks. Return the vehicle and what was spent, in R$, or None if unknown.

    Without a limit, the spend is the quote's price. With one, a stored answer that expires
    meanwhile is not asked for again. Raises CostsTooMuch before anything is asked.
    """
    if not priced.missing:
        return priced.document, 0.0
    if max_reais is None:
        return client.vehicle(priced.plate, priced.ask), priced.price
    if priced.price is None or priced.price > max_reais:
        raise CostsTooMuch.beyond(priced.price, max_reais)
    return look_up_missing(client, priced, max_reais)


def look_up_missing(
    client: Client, priced: Quote, max_cost: float | None
) -> tuple[Explained, float | None]:
    """Ask what a quote lacks, and nothing else. None is no limit, at an unknown price."""
    with DRAFTS:
        batch = client.create_batch([priced.plate], priced.missing)["id"]
        try:
            client.start_batch(batch, max_cost)
        except CostsTooMuch:
            client.cancel_batch(batch)
            raise
    ended = next(state for state in client.follow(batch) if state["state"] != "running")
    if ended["state"] == "paused":  # nobody waits here until the source is back
        ended = client.cancel_batch(batch)
    return client.vehicle(priced.plate, priced.ask, reuse="stored"), ended["cost"]["spent"]
