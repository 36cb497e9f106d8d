"""The properties that a documented plate may fix. All others are pseudo-random."""

from dataclasses import dataclass
from typing import Literal

Issuer = Literal["municipal", "state", "federal"]


@dataclass(frozen=True, slots=True)
class FineOutline:
    """The fixed properties of a fine, from which its record is made.

    ``age_days`` counts the days from the infraction to the first of this month. ``notice_after``
    and ``penalty_after`` count days from the infraction.
    """

    code: str
    issuer: Issuer
    state: str
    age_days: int
    notice_after: int
    penalty_after: int | None
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class RestrictionOutline:
    """The fixed properties of a court restriction.

    ``court`` is an acronym such as TJMG or TRT2. ``age_days`` is as in FineOutline.
    """

    kinds: str
    court: str
    body: str
    age_days: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The fixed properties of a vehicle. A property that is None is drawn at random.

    ``fines`` is a number of fines or their outlines. ``candidates`` is a number of price-table
    entries. ``months`` is the length of the price history, including the predictions. If
    ``is_bare`` is true, every optional field is empty.
    """

    registration: str | None = None
    description: str | None = None
    model_year: int | None = None
    candidates: int | None = None
    months: int | None = None
    fines: int | tuple[FineOutline, ...] | None = None
    restrictions: tuple[RestrictionOutline, ...] | None = None
    load: str | None = None
    gearbox: str | None = None
    is_bare: bool = False


UNFIXED = Profile()
