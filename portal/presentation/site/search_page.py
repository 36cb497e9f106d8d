"""The front page: search form, hints, recent lookups and example plates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from portal.desk.lookups import LookupCost
from portal.presentation.lists.comparison import MOST_PLATES
from portal.presentation.lists.recent_lookup import RecentLookup
from portal.presentation.typed_subject import Suggestion, suggestions_for, what_is_wrong
from portal.vehicle.typed import PLATE_IN_TEXT
from portal.wording import sanitise_echo

# At most this many characters of a typed text are read: a list of about 100 plates with names.
LONGEST_QUERY: Final = 2_000


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The front page.

    ``problem`` is the error message if ``query`` is no plate or Renavam. ``contact`` names who
    gives access to the portal, or is "".
    """

    template: ClassVar[str] = "pages/search.html"
    longest: ClassVar[int] = LONGEST_QUERY
    plate_pattern: ClassVar[str] = PLATE_IN_TEXT
    most_compared: ClassVar[int] = MOST_PLATES
    query: str = ""
    problem: str = ""
    cost: LookupCost | None = None
    recent: Sequence[RecentLookup] = ()
    showcases: Sequence[RecentLookup] = ()
    contact: str = ""

    @property
    def echo(self) -> str:
        return sanitise_echo(self.query, LONGEST_QUERY)

    @property
    def suggestions(self) -> Sequence[Suggestion]:
        """The plates and Renavam that the visitor probably meant."""
        return suggestions_for(self.query) if self.problem else ()

    @property
    def hint(self) -> str:
        """What is wrong with the query."""
        return what_is_wrong(self.query) if self.problem else ""
