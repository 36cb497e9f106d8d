"""Properties that a plate may fix for its vehicle; its seed determines the rest."""

from dataclasses import dataclass
from typing import Literal

Issuer = Literal["municipal", "state", "federal"]


@dataclass(frozen=True, slots=True)
class FineOutline:
    """The outline of a fine.

    ``age_days`` counts from the infraction to the first of this month. ``notice_after`` and
    ``penalty_after`` are in days from the infraction; None means no penalty yet.
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
    """The outline of a restriction; ``court`` is an acronym such as TJMG or TRT2."""

    kinds: str
    court: str
    body: str
    age_days: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The fixed properties of a vehicle; a property of None is drawn.

    ``fines`` is a count or the outlines themselves. ``months`` is the length of the price
    history, including the predictions. ``is_bare`` leaves every optional field empty.
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
