"""What a plate may fix about its invented vehicle; everything else is left to its seed."""

from dataclasses import dataclass
from typing import Literal

Issuer = Literal["municipal", "state", "federal"]


@dataclass(frozen=True, slots=True)
class FineOutline:
    """The skeleton of a fine. ``age_days`` from the infraction to the first of this month;
    ``notice_after`` and ``penalty_after`` days from the infraction; None = no penalty yet."""

    code: str
    issuer: Issuer
    state: str
    age_days: int
    notice_after: int
    penalty_after: int | None
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class RestrictionOutline:
    """The skeleton of a court restriction; ``court`` is an acronym the law room knows."""

    kinds: str
    court: str
    body: str
    age_days: int


@dataclass(frozen=True, slots=True)
class Profile:
    """None means: draw it. ``fines`` is a count or the very fines; ``months`` of price history
    include the predicted tail; ``is_bare`` leaves every optional field empty."""

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
