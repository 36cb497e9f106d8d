"""The front page: search form, hints, recent lookups and example plates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from portal.presentation.site.lookup_cost import LookupCost, lookup_cost_text
from portal.presentation.site.recent_lookup import RecentLookup
from portal.presentation.site.typed_text import sanitise_echo
from portal.presentation.tools.comparison import MOST_PLATES, comparison_path
from portal.presentation.typed_subject import (
    Suggestion,
    plates_in,
    suggestion_for,
    what_is_wrong,
)

# After an error, the form shows at most this many characters of the typed text. They are enough for
# a pasted list of about 20 plates.
LONGEST_QUERY: Final = 200
_TOO_MANY: Final = "Há {} placas no que você colou, e a comparação é de até {} por vez."


@dataclass(frozen=True, slots=True)
class FirstPlates:
    """A link that compares only the first plates, because the typed list is too long."""

    count: int
    path: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The front page.

    ``problem`` is the error message if the typed text is no plate or Renavam (registration number).
    ``hint`` then says what is wrong with the text. ``suggestion`` is the plate or Renavam that the
    visitor probably meant, or None if unknown.
    """

    template: ClassVar[str] = "pages/search.html"
    query: str
    longest: int
    problem: str
    hint: str
    suggestion: Suggestion | None
    first_plates: FirstPlates | None
    cost: str
    recent: tuple[RecentLookup, ...]
    showcases: tuple[RecentLookup, ...]


def search_page(
    *,
    query: str = "",
    problem: str = "",
    cost: LookupCost | None = None,
    recent: Sequence[RecentLookup] = (),
    showcases: Sequence[RecentLookup] = (),
) -> SearchPage:
    """Build the front page. ``problem`` is "" if ``query`` is valid."""
    plates = plates_in(query) if problem else ()
    too_many = len(plates) > MOST_PLATES
    hint = what_is_wrong(query) if problem else ""
    if too_many:
        hint = _TOO_MANY.format(len(plates), MOST_PLATES)
    return SearchPage(
        query=sanitise_echo(query, LONGEST_QUERY),
        longest=LONGEST_QUERY,
        problem=problem,
        hint=hint,
        suggestion=suggestion_for(query) if problem else None,
        first_plates=FirstPlates(MOST_PLATES, comparison_path(plates[:MOST_PLATES]))
        if too_many
        else None,
        cost=lookup_cost_text(cost) if cost else "",
        recent=tuple(recent),
        showcases=tuple(showcases),
    )
