"""Types for the properties of the sample vehicles in ``example_plates``."""

from dataclasses import dataclass
from typing import Literal

Issuer = Literal["municipal", "state", "federal"]


@dataclass(frozen=True, slots=True)
class FineOutline:
    """The main properties of a fine.

    The sandbox generates the other fields of the record. ``age_days`` counts the days from the
    infraction to the first day of the current month. ``notice_after`` and ``penalty_after`` count
    the days from the infraction to the notice and to the penalty. ``penalty_after`` is None if
    there is no penalty yet.
    """

    code: str
    issuer: Issuer
    state: str
    age_days: int
    notice_after: int
    penalty_after: int | None = None
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class RestrictionOutline:
    """The main properties of a court restriction.

    The sandbox generates the other fields of the record. ``court`` is an acronym such as TJMG or
    TRT2. ``age_days`` counts the days from the restriction to the first day of the current month.
    """

    kinds: str
    court: str
    body: str
    age_days: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The specified properties of a vehicle.

    If a property is None, the sandbox generates it from the plate. ``fines`` is the number of
    fines, or a tuple of outlines. ``candidates`` is the number of price-table entries in the answer
    about the vehicle's data (``decode``). ``months`` is the length of the price history, including
    the predictions. If ``is_bare`` is true, every optional field of an answer is empty.
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
