"""The page on which callers see their own access, and people their tokens and sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import ClassVar, Final, Protocol

from portal.gateway.limits import Use
from portal.gateway.usage import Usage
from portal.presentation.operations.tokens import SCOPE_LABELS, IssuedToken
from portal.vehicle.operation_name import LOOKUPS

_BROWSERS: Final[Mapping[str, str]] = {
    "firefox": "Firefox",
    "edge": "Edge",
    "opera": "Opera",
    "samsung": "Samsung Internet",
    "chrome": "Chrome",
    "safari": "Safari",
    "other": "Outro navegador",
}
_SYSTEMS: Final[Mapping[str, str]] = {
    "android": "no Android",
    "iphone": "no iPhone",
    "ipad": "no iPad",
    "windows": "no Windows",
    "mac": "no Mac",
    "chromeos": "no ChromeOS",
    "linux": "no Linux",
    "other": "",
}
SOON_DAYS = 14  # within which the page tells the holder that the token ends


class BrowserSession(Protocol):
    """A person's session in one browser. Times are in epoch seconds."""

    @property
    def id(self) -> str: ...
    @property
    def began_at(self) -> float: ...
    @property
    def seen_at(self) -> float: ...
    @property
    def browser(self) -> str: ...
    @property
    def system(self) -> str: ...


@dataclass(frozen=True, slots=True)
class OwnTokenForm:
    """The form for a person's own token, with the texts that were typed. ``problems`` by field."""

    name: str = ""
    scopes: Sequence[str] = LOOKUPS
    days: str = "90"
    daily_limit: str = "50"
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonAccount:
    """What a person has beyond a token: own tokens and sessions.

    ``form`` is for a new token. ``session`` is the id of this browser's session, or "".
    """

    tokens: Sequence[IssuedToken]
    entered_at: datetime | None
    seen_at: datetime | None
    ends_at_provider: bool
    form: OwnTokenForm
    sessions: Sequence[BrowserSession] = ()
    session: str = ""

    @property
    def shown_sessions(self) -> Sequence[tuple[BrowserSession, str]]:
        """The sessions, the latest used first, each with the words of its browser."""
        latest = sorted(self.sessions, key=lambda own: -own.seen_at)
        return [(own, browser_words(own)) for own in latest]


def browser_words(session: BrowserSession) -> str:
    """Return which browser a session roughly is of."""
    browser, system = _BROWSERS[session.browser], _SYSTEMS[session.system]
    return f"{browser} {system}" if system else browser


@dataclass(frozen=True, slots=True)
class AccountPage:
    """The page ``/conta``.

    ``uses`` are the limits that bind the caller. ``token_ends_at`` is None without an end.
    ``person`` is None for a caller who holds a token of the operator.
    """

    template: ClassVar[str] = "pages/account.html"
    scope_labels: ClassVar[Mapping[str, tuple[str, str]]] = SCOPE_LABELS
    name: str
    scopes: frozenset[str]
    now: datetime
    month: date
    used: Usage
    uses: Sequence[tuple[Use, date | None]]
    token_ends_at: datetime | None
    person: PersonAccount | None

    @property
    def scope_words(self) -> Sequence[str]:
        return [words[1] for scope, words in SCOPE_LABELS.items() if scope in self.scopes]

    @property
    def grantable(self) -> Mapping[str, str]:
        """The scopes that an own token may have, with their labels."""
        return {scope: SCOPE_LABELS[scope][0] for scope in SCOPE_LABELS if scope in self.scopes}

    def state_of(self, token: IssuedToken) -> str:
        return {"valid": "vale", "expired": "venceu", "revoked": "revogado"}[
            token.state(self.now.timestamp())
        ]


@dataclass(frozen=True, slots=True)
class OwnTokenPage:
    """The only page that shows a person's new token."""

    template: ClassVar[str] = "pages/own_token.html"
    name: str
    token: str = field(repr=False)
    until: datetime
