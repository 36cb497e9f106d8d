"""A vehicle in a list of recent lookups, and why a vehicle of a batch lacks an answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from portal import formats
from portal.batch.model import Item
from portal.dossier.answers import Panel
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.row import (
    EXPIRED,
    NO_ANSWER,
    NOTHING_STORED,
    VehicleRow,
    has_expired,
    listed_row,
)
from portal.gateway.lookup import FailureKind
from portal.phrasebook.failures import FAULTS
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate, Renavam

UNREADABLE: Final = "A resposta veio em um formato que o portal não reconhece"


@dataclass(frozen=True, slots=True)
class RecentLookup:
    """A vehicle in a list, with the time since ``looked_at``, or another note."""

    row: VehicleRow
    looked_at: datetime | None
    note: str

    @property
    def subject(self) -> Plate | Renavam:
        return self.row.subject

    @property
    def price(self) -> str:
        """The price or price range, or "" if unknown."""
        low, high = self.row.fipe_low, self.row.fipe_high
        if low is None or high is None:
            return ""
        return " ".join(filter(None, (formats.price_range((low, high)), self.row.fipe_note)))


def recent_lookup(
    dossier: Dossier, looked_at: datetime | None, now: datetime, *, note: str = ""
) -> RecentLookup:
    """Build the line of a vehicle from the answers that are available.

    The line shows the time since ``looked_at``, or ``note`` if ``looked_at`` is None.
    """
    age = note if looked_at is None else formats.age(now - looked_at)
    return RecentLookup(listed_row(dossier), looked_at, age)


def why_missing(item: Item, name: LookupName, panel: Panel) -> tuple[str, str | None]:
    """Say why a batch has no readable stored answer to a lookup, and name the failure.

    The failure is None if the answer has expired, if the batch has not looked the vehicle up yet,
    or if a Renavam has no such records.
    """
    cause, reason = "", NOTHING_STORED
    if panel.has_answer:
        cause, reason = "unreadable", UNREADABLE
    elif panel.cause:
        cause, reason = panel.cause, panel.reason
    elif has_expired(item, name):
        reason = EXPIRED
    elif item.state == "failed":
        cause, fault = item.cause, FAULTS.get(cast(FailureKind, item.cause))
        reason = fault.sentence if fault else NO_ANSWER
    return f"{LOOKUP_WORDS[name]}: {reason}", None if cause == "not_for_renavam" else cause or None
