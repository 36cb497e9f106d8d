"""What every template may know besides its page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormNotice:
    """What the last form has to say; without a text it is that all went well."""

    title: str
    text: str

    @property
    def tone(self) -> str:
        return "warn" if self.text else "ok"

    @property
    def icon(self) -> str:
        return "alert" if self.text else "check"


@dataclass(frozen=True, slots=True)
class Site:
    """The portal around a page.

    ``demo``: the data is invented and every page says so; ``signed_in`` the name of who is,
    or None; ``csrf_token()`` the value of a form's hidden field; ``asset(name)`` the address of
    a file under static/; ``path`` the request's path, for the menu's mark; ``panel_seconds``
    how long a panel that follows may take.
    """

    demo: bool
    signed_in: str | None
    sign_in_offered: bool
    request_id: str
    csrf_token: Callable[[], str]
    asset: Callable[[str], str]
    path: str
    panel_seconds: int
    # What the last form has to say, once: a title, a line of text. Asked for by who shows it.
    notices: Callable[[], Iterable[str]] = tuple

    @property
    def form_notices(self) -> tuple[FormNotice, ...]:
        parts = (notice.partition("\n") for notice in self.notices())
        return tuple(FormNotice(title, text) for title, _, text in parts)
