"""The sessions of a person at the company's provider, each of one browser."""

import secrets
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

SESSION_S: Final = 12 * 3600
# The session that was last seen longest ago gives way to a further one.
MOST_SESSIONS: Final = 20

Browser = Literal["firefox", "edge", "opera", "samsung", "chrome", "safari", "other"]
System = Literal["android", "iphone", "ipad", "windows", "mac", "chromeos", "linux", "other"]

# Words of a User-Agent. The first that is found counts, because browsers name their relatives too.
_BROWSERS: Final[tuple[tuple[str, Browser], ...]] = (
    *(("Firefox/", "firefox"), ("FxiOS/", "firefox"), ("Edg", "edge"), ("OPR/", "opera")),
    *(("SamsungBrowser/", "samsung"), ("CriOS/", "chrome"), ("Chrome/", "chrome")),
    ("Safari/", "safari"),
)
_SYSTEMS: Final[tuple[tuple[str, System], ...]] = (
    *(("Android", "android"), ("iPhone", "iphone"), ("iPad", "ipad"), ("Windows", "windows")),
    *(("Mac OS X", "mac"), ("CrOS", "chromeos"), ("Linux", "linux")),
)


class OwnSession(msgspec.Struct, frozen=True):
    """A session. Times are in epoch seconds. ``id`` stands in the browser's cookie too."""

    id: str
    began_at: float
    seen_at: float
    browser: Browser
    system: System


class UserAgent(msgspec.Struct, frozen=True):
    """What is kept of a browser's User-Agent."""

    browser: Browser
    system: System


def user_agent(text: str) -> UserAgent:
    """Return roughly which browser sends this User-Agent."""
    other: Final = "other"
    browser: Browser = next((name for word, name in _BROWSERS if word in text), other)
    system: System = next((name for word, name in _SYSTEMS if word in text), other)
    return UserAgent(browser, system)


def read_sessions(content: bytes | None, now: float) -> tuple[OwnSession, ...]:
    """Return the stored sessions whose cookie may still be valid."""
    if content is None:
        return ()
    recorded = msgspec.json.decode(content, type=tuple[OwnSession, ...])
    return tuple(own for own in recorded if own.seen_at > now - SESSION_S)


def written(sessions: Sequence[OwnSession]) -> bytes:
    return msgspec.json.encode(sessions)


def opened(
    sessions: Sequence[OwnSession], agent: UserAgent, now: float
) -> tuple[OwnSession, tuple[OwnSession, ...]]:
    """Return a new session, and all with it."""
    new = OwnSession(secrets.token_urlsafe(16), now, now, agent.browser, agent.system)
    others = sorted(sessions, key=lambda own: own.seen_at)[-(MOST_SESSIONS - 1) :]
    return new, (*others, new)


def seen(sessions: Sequence[OwnSession], session: str, now: float) -> tuple[OwnSession, ...]:
    """Return the sessions, one of which was just used."""
    return tuple(
        msgspec.structs.replace(own, seen_at=now) if own.id == session else own for own in sessions
    )


def without(sessions: Sequence[OwnSession], session: str) -> tuple[OwnSession, ...]:
    return tuple(own for own in sessions if own.id != session)
