"""What one caller last saw of a vehicle, and what differs from it now.

A sight is small: the verdict's level, a short key of each record, sums and prices. It holds no text
of the source. What either sight does not know is not compared, so that an outage never reads as a
record that is gone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal

import msgspec

from portal.law.assessment import sum_of
from portal.law.standing import Standing
from portal.law.verdict import Level

# A visit ends when nothing of the vehicle was requested for this long.
VISIT: Final = timedelta(minutes=30)
_KEPT_EVERY: Final = timedelta(minutes=1)

Part = Literal["verdict", "fines", "orders", "price"]
ChangeCode = Literal[
    "verdict_changed",
    "notices_added",
    "fines_added",
    "fines_paid",
    "fines_gone",
    "fines_changed",
    "orders_added",
    "orders_gone",
    "price_changed",
]


class SeenFine(msgspec.Struct, frozen=True, array_like=True):
    standing: str
    amount: Decimal | None


class Sight(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a page showed at a moment. A part is None if it was not known.

    ``fines`` has the open and the paid fines by a key, ``orders`` the keys of the court orders in
    force. ``price`` is the lowest and the highest likely price in R$. ``made_of`` is a digest of
    what the page was made of: equal digests show the same.
    """

    at: datetime
    level: Level | None = None
    fines: dict[str, SeenFine] | None = None
    orders: list[str] | None = None
    price: tuple[Decimal, Decimal] | None = None
    made_of: str = ""


class Sights(msgspec.Struct, frozen=True):
    """What a caller saw in the visit before (None in the first), and in the present one."""

    before: Sight | None
    latest: Sight


@dataclass(frozen=True, slots=True)
class SightChange:
    """A difference. ``count`` and ``amount`` are of the records that it is about.

    ``before`` and ``after`` are levels of the verdict, or prices in R$ with the lowest first.
    """

    code: ChangeCode
    count: int = 0
    amount: Decimal | None = None
    before: tuple[Decimal, Decimal] | Level | None = None
    after: tuple[Decimal, Decimal] | Level | None = None


@dataclass(frozen=True, slots=True)
class SinceLastSeen:
    """What differs from what the caller saw at ``at``. ``same`` and ``unknown`` name the rest."""

    at: datetime
    changes: tuple[SightChange, ...]
    same: tuple[Part, ...]
    unknown: tuple[Part, ...]


def before_of(sights: Sights, now: datetime) -> Sight | None:
    """Return what the caller saw in the visit before that of ``now``, or None in the first.

    What the caller last saw moves when a visit is over, and not while a page is read twice.
    """
    return sights.latest if now - sights.latest.at >= VISIT else sights.before


def after_look(sights: Sights | None, now: Sight) -> Sights:
    """Return what to keep after a page has shown ``now``."""
    return Sights(before_of(sights, now.at) if sights else None, now)


def is_worth_keeping(former: Sights, now: Sights) -> bool:
    """Return whether ``now`` shows anything else than ``former``, or was seen a minute later.

    A page that is reloaded writes nothing. The end of a visit is thus kept to the minute.
    """
    is_same = now == msgspec.structs.replace(
        former, latest=msgspec.structs.replace(former.latest, at=now.latest.at)
    )
    return not is_same or now.latest.at - former.latest.at >= _KEPT_EVERY


def since_last_seen(before: Sight, now: Sight) -> SinceLastSeen:
    changes: list[SightChange] = []
    same: list[Part] = []
    unknown: list[Part] = []
    for part, of_part in _compared(before, now).items():
        if of_part is None:
            unknown.append(part)
        elif of_part:
            changes += of_part
        else:
            same.append(part)
    return SinceLastSeen(before.at, tuple(changes), tuple(same), tuple(unknown))


def _compared(before: Sight, now: Sight) -> Mapping[Part, list[SightChange] | None]:
    """Return the changes of each part, or None where a sight does not know it."""
    return {
        "verdict": None
        if before.level is None or now.level is None
        else list(_of_verdict(before.level, now.level)),
        "fines": None
        if before.fines is None or now.fines is None
        else list(_of_fines(before.fines, now.fines)),
        "orders": None
        if before.orders is None or now.orders is None
        else list(_of_orders(before.orders, now.orders)),
        "price": None
        if before.price is None or now.price is None
        else list(_of_price(before.price, now.price)),
    }


def _of_verdict(before: Level, now: Level) -> Iterator[SightChange]:
    if before != now:
        yield SightChange("verdict_changed", before=before, after=now)


def _of_fines(before: Mapping[str, SeenFine], now: Mapping[str, SeenFine]) -> Iterator[SightChange]:
    added = [one for key, one in now.items() if key not in before]
    notices = [one for one in added if one.standing == Standing.NOTICE]
    fines = [one for one in added if one.standing not in (Standing.NOTICE, Standing.PAID)]
    both = [(before[key], one) for key, one in now.items() if key in before]
    moved = [(old, new) for old, new in both if old.standing != new.standing]
    paid = [new for _, new in moved if new.standing == Standing.PAID]
    changed = [new for _, new in moved if new.standing != Standing.PAID]
    gone = [one for key, one in before.items() if key not in now]
    groups: tuple[tuple[ChangeCode, list[SeenFine]], ...] = (
        ("notices_added", notices),
        ("fines_added", fines),
        ("fines_changed", changed),
        ("fines_paid", paid),
        ("fines_gone", gone),
    )
    for code, group in groups:
        if group:
            yield SightChange(code, len(group), sum_of_seen(group))


def _of_orders(before: list[str], now: list[str]) -> Iterator[SightChange]:
    if added := set(now) - set(before):
        yield SightChange("orders_added", len(added))
    if gone := set(before) - set(now):
        yield SightChange("orders_gone", len(gone))


def _of_price(
    before: tuple[Decimal, Decimal], now: tuple[Decimal, Decimal]
) -> Iterator[SightChange]:
    if before != now:
        yield SightChange("price_changed", before=before, after=now)


def sum_of_seen(fines: list[SeenFine]) -> Decimal | None:
    known = [one.amount for one in fines if one.amount is not None]
    return sum_of(known) if known else None
