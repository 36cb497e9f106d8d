"""What lookups cost, and lookups that cannot cost more than allowed.

The portal holds the limit, not this program: a lookup with a limit runs as a batch of one vehicle
that the portal pauses before its spend would exceed ``max_cost``. The source may charge a lookup
twice, if its first address fails after it got the request, so a call's price alone is no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from dossie_veicular_client.answers import Explained, LookupName
from dossie_veicular_client.client import LOOKUPS, Client
from dossie_veicular_client.errors import CostsTooMuch

# Held from the creation of a batch to its start. A portal keeps 20 drafts of a token, and drops the
# oldest for a new one.
DRAFTS: Final = BoundedSemaphore(8)


@dataclass(frozen=True)
class Quote:
    """What is stored of a vehicle, and the price in R$ of what is not.

    ``document`` is made of the stored answers. A stored answer past its time counts as missing.
    """

    plate: str
    document: Explained
    stored: tuple[LookupName, ...]
    missing: tuple[LookupName, ...]
    price: float


def quote(client: Client, plate: str, ask: Sequence[LookupName] | None = None) -> Quote:
    """Say what a lookup would cost. Asks nothing."""
    names = tuple(ask or LOOKUPS)
    document = client.vehicle(plate, names, reuse="stored")
    lookups = document["lookups"]
    stored = tuple(name for name in names if lookups[name]["state"] == "fresh")
    missing = tuple(name for name in names if name not in stored)
    price = sum(lookups[name]["price"] for name in missing)
    return Quote(document["plate"], document, stored, missing, round(price, 6))


def look_up(client: Client, found: Quote, max_reais: float | None) -> tuple[Explained, float]:
    """Ask what a quote lacks. Return the vehicle and what was spent, in R$.

    Without a limit, the spend is the quote's price. Raises CostsTooMuch before anything is asked.
    """
    ask = (*found.stored, *found.missing)
    if not found.missing:
        return found.document, 0.0
    if max_reais is None or found.price == 0:
        return client.vehicle(found.plate, ask), found.price
    if found.price > max_reais:
        raise CostsTooMuch(found.price, max_reais)
    with DRAFTS:
        batch = client.create_batch([found.plate], found.missing)["id"]
        client.start_batch(batch, max_reais)
    ended = next(each for each in client.follow(batch) if each["state"] != "running")
    if ended["state"] == "paused":  # nobody waits here until the source is back
        ended = client.cancel_batch(batch)
    return client.vehicle(found.plate, ask, reuse="stored"), ended["cost"]["spent"]
