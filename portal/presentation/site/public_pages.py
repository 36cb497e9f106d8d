"""Pages without vehicle records: search, sign-in, verification, glossary, errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final, Literal

from portal.law import GLOSSARY, Term
from portal.presentation.site.typed_subject import padded_renavam, what_is_wrong
from portal.presentation.site.typed_text import sanitise_echo
from portal.presentation.vehicle.panel import subject_path
from portal.vehicle import Plate, Renavam


@dataclass(frozen=True, slots=True)
class RecentLookup:
    """A lookup of this visitor, and its moment (aware)."""

    subject: Plate | Renavam
    looked_at: datetime

    @property
    def path(self) -> str:
        return subject_path(self.subject)

    @property
    def is_plate(self) -> bool:
        return isinstance(self.subject, Plate)


@dataclass(frozen=True, slots=True)
class SamplePlate:
    """A documented sandbox plate: the sandbox's own answer and the portal's answer."""

    plate: str
    title: str
    alone: str
    portal: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The front page.

    ``problem`` is the sentence about a text that is neither plate nor Renavam, ``hint`` a sentence
    on its error; "" where there is none. ``padded`` is the Renavam that a shorter one may stand
    for, else "".
    """

    template: ClassVar[str] = "pages/search.html"
    query: str
    problem: str
    hint: str
    padded: str
    recent: tuple[RecentLookup, ...]
    samples: tuple[SamplePlate, ...]


@dataclass(frozen=True, slots=True)
class SignInPage:
    """The sign-in page.

    ``next_path`` is the path after signing in. ``pass_through`` decides which token the form asks
    for.
    """

    template: ClassVar[str] = "pages/sign_in.html"
    pass_through: bool
    next_path: str
    problem: str


# Why a dossier has no price: the source has none, or the lookup failed.
NoPrice = Literal["empty", "unavailable"]


@dataclass(frozen=True, slots=True)
class DossierSummary:
    """The data that a dossier's code signs.

    A count of None was unavailable when the dossier was issued. The ``…_kept_at`` are the moments
    (aware) of answers that were stale and not renewed.
    """

    plate: str
    issued_at: datetime
    fines: int | None
    restrictions: int | None
    price: Decimal | NoPrice
    digest: str
    decode_kept_at: datetime | None = None
    fines_kept_at: datetime | None = None
    restrictions_kept_at: datetime | None = None

    @property
    def digest_in_groups(self) -> str:
        """``b758 372e …``: grouped for comparison by eye, in print and on screen."""
        return " ".join(
            self.digest[at : at + _DIGEST_GROUP] for at in range(0, len(self.digest), _DIGEST_GROUP)
        )


@dataclass(frozen=True, slots=True)
class GlossaryPage:
    """The glossary page: every term, in the glossary's order."""

    template: ClassVar[str] = "pages/glossary.html"
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """What happened and what to do. Rendering it needs no other component."""

    template: ClassVar[str] = "pages/error.html"
    status: int
    title: str
    advice: str
    request_id: str
    query: str
    retry_path: str


# The plate field has no room for a longer text.
_LONGEST_QUERY: Final = 64
_DIGEST_GROUP: Final = 4


def search_page(
    *,
    query: str = "",
    problem: str = "",
    recent: Sequence[RecentLookup] = (),
    samples: Sequence[SamplePlate] = (),
) -> SearchPage:
    """The front page; with ``query`` and ``problem``, the form with its error."""
    return SearchPage(
        query=sanitise_echo(query, _LONGEST_QUERY),
        problem=problem,
        hint=what_is_wrong(query) if problem else "",
        padded=padded_renavam(query) if problem else "",
        recent=tuple(recent),
        samples=tuple(samples),
    )


def sign_in_page(*, pass_through: bool, next_path: str = "/", problem: str = "") -> SignInPage:
    """The sign-in form; the caller must have checked that ``next_path`` is safe."""
    return SignInPage(pass_through, next_path, problem)


def glossary_page() -> GlossaryPage:
    """The glossary page."""
    return GlossaryPage(GLOSSARY)


def error_page(
    status: int,
    title: str,
    advice: str,
    request_id: str,
    *,
    query: str = "",
    retry_path: str = "",
) -> ErrorPage:
    """An error page; a ``retry_path`` adds a "tentar de novo" link."""
    return ErrorPage(
        status, title, advice, request_id, sanitise_echo(query, _LONGEST_QUERY), retry_path
    )
