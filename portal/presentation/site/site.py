"""The values that every template gets in addition to its page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FormNotice:
    """The result of the last submitted form. A notice without ``text`` reports success."""

    title: str
    text: str

    @property
    def tone(self) -> str:
        return "warn" if self.text else "ok"

    @property
    def icon(self) -> str:
        return "alert" if self.text else "check"


# Link previews may show the titles of these pages, because the titles contain no plate.
_PATHS_WITH_OWN_CARD: Final = frozenset({"/", "/glossario", "/privacidade", "/api"})


@dataclass(frozen=True, slots=True)
class Site:
    """The site-wide values of a request.

    If ``demo`` is true, the data is invented and every page says so. ``signed_in`` is the name of
    the signed-in visitor, or None. ``csrf_token()`` returns the value of the hidden CSRF field of
    forms. ``asset(name)`` returns the URL of a file under static/. ``path`` is the request's path,
    which selects the current menu item. ``origin`` is the scheme and host of absolute URLs.
    ``panel_seconds`` is the time limit of a panel that the script fetches.
    """

    demo: bool
    signed_in: str | None
    sign_in_offered: bool
    request_id: str
    csrf_token: Callable[[], str]
    asset: Callable[[str], str]
    path: str
    origin: str
    panel_seconds: int
    is_operator: bool = False  # If true, the menu links to the operator's page.
    # Removes and returns the notices of the last submitted form, each a title, "\n" and a text.
    notices: Callable[[], Iterable[str]] = tuple

    @property
    def has_own_card(self) -> bool:
        """Whether the preview of a link to this page shows the page's own title."""
        return self.path in _PATHS_WITH_OWN_CARD

    @property
    def form_notices(self) -> tuple[FormNotice, ...]:
        parts = (notice.partition("\n") for notice in self.notices())
        return tuple(FormNotice(title, text) for title, _, text in parts)
