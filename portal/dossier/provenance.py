"""The source and the age of an answer."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct

from portal import formats
from portal.dossier.answers import Panel

_SOURCES: Final[Mapping[str, str]] = {"primary": "fonte principal", "secondary": "fonte secundária"}


class Provenance(Struct, frozen=True):
    """The source and age of an answer, and the cost in R$ of repeating the lookup.

    The cost is None if the operator has configured no price.
    """

    what: str
    source: str
    age: str
    fetched_at: datetime | None
    from_cache: bool
    is_stale: bool
    price: Decimal | None


def provenance(what: str, panel: Panel, now: datetime) -> Provenance:
    """Return the age and source of an answer, and the price of repeating the lookup.

    The page labels only answers older than a minute as stored. ``from_cache`` is therefore False
    for a younger answer, even if it came from the store.
    """
    is_recent = panel.fetched_at is not None and now - panel.fetched_at < timedelta(minutes=1)
    return Provenance(
        what=what,
        source=_SOURCES.get(panel.origin or "", ""),
        age="" if panel.fetched_at is None else formats.age(now - panel.fetched_at),
        fetched_at=panel.fetched_at,
        from_cache=panel.from_cache and not is_recent,
        is_stale=panel.state == "stale",
        price=panel.price,
    )
