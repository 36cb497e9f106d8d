"""The values that every template gets in addition to the view model of its page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

# In a chat app, the preview of a link to one of these pages shows the page's title. The preview of
# any other link shows only the portal's name, because the page's title may contain a plate.
_PATHS_WITH_OWN_CARD: Final = frozenset({"/", "/glossario", "/privacidade", "/api"})


@dataclass(frozen=True, slots=True)
class Site:
    """The values of a request that do not depend on the page.

    ``demo`` is true if the data is fictitious. Every page then shows a notice. ``asset(name)``
    returns the URL of a file under static/. ``path`` is the request's path, which selects the
    current menu item. ``origin`` is the scheme and host for absolute URLs. ``panel_seconds`` is how
    many seconds a page's script waits for the HTML of one lookup. ``contact`` names who gives
    access to the portal, or is "".
    """

    demo: bool
    signed_in: str | None  # the visitor's name for the page header
    sign_in_offered: bool
    request_id: str
    csrf_token: Callable[[], str]
    asset: Callable[[str], str]
    path: str
    origin: str
    panel_seconds: int
    contact: str = ""
    token_ends_on: date | None = None  # if the visitor's token ends soon
    is_operator: bool = False  # whether the menu links to the operator's page
    # Calling ``notices`` returns the notices about the last submitted form, each as "title\ntext".
    # The call also removes the notices from the session, so that only one page shows them.
    notices: Callable[[], Iterable[str]] = tuple

    @property
    def section(self) -> str:
        """The first part of the path, by which the menu knows the pages below its own."""
        return "/" + self.path.split("/", 2)[1]

    @property
    def has_own_card(self) -> bool:
        """Whether the preview of a link to this page shows the page's own title."""
        return self.path in _PATHS_WITH_OWN_CARD

    @property
    def form_notices(self) -> tuple[tuple[str, str], ...]:
        """The titles and texts of the notices. A notice without a text reports success."""
        parts = (notice.partition("\n") for notice in self.notices())
        return tuple((title, text) for title, _, text in parts)
