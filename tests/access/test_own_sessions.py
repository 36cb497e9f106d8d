"""The sessions of a person's browsers."""

import pytest

from portal.access.own_sessions import (
    MOST_SESSIONS,
    SESSION_S,
    OwnSession,
    UserAgent,
    opened,
    read_sessions,
    seen,
    user_agent,
    without,
    written,
)

NOW = 1_790_000_000.0
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("system", "browser", "expected"),
    [
        ("Windows NT 10.0; Win64; x64", "Chrome/142.0 Safari/537.36 Edg/142.0", "edge windows"),
        ("Windows NT 10.0; Win64; x64", "Chrome/142.0 Safari/537.36", "chrome windows"),
        (
            "Linux; Android 15; SM-S928B",
            "SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36",
            "samsung android",
        ),
        ("iPad; CPU OS 18_5 like Mac OS X", "CriOS/142.0 Mobile Safari/604.1", "chrome ipad"),
        ("Macintosh; Intel Mac OS X 10_15_7", "Version/18.5 Safari/605.1.15", "safari mac"),
        ("X11; CrOS x86_64 14541.0.0", "Chrome/142.0 Safari/537.36", "chrome chromeos"),
        ("X11; Linux x86_64", "Chrome/142.0 Safari/537.36 OPR/115.0", "opera linux"),
        ("", "", "other other"),
    ],
)
def test_browser_is_named_roughly(system: str, browser: str, expected: str) -> None:
    found = user_agent(f"Mozilla/5.0 ({system}) {WEBKIT} {browser}")
    assert f"{found.browser} {found.system}" == expected


def test_sessions_are_read_while_their_cookie_may_be_valid() -> None:
    sessions = tuple(
        OwnSession(name, NOW, NOW - age_s, "firefox", "linux")
        for name, age_s in (("old", SESSION_S), ("new", SESSION_S - 1))
    )
    assert [each.id for each in read_sessions(written(sessions), NOW)] == ["new"]
    assert read_sessions(None, NOW) == ()


def test_one_more_session_ends_the_one_that_was_not_seen_for_longest() -> None:
    sessions: tuple[OwnSession, ...] = ()
    agent = UserAgent("firefox", "linux")
    for second in range(MOST_SESSIONS):
        _, sessions = opened(sessions, agent, NOW + second)
    first, second_ = sessions[:2]
    sessions = seen(sessions, first.id, NOW + 100)
    new, sessions = opened(sessions, agent, NOW + 200)
    assert len(sessions) == MOST_SESSIONS
    assert second_.id not in {each.id for each in sessions}
    assert {first.id, new.id} <= {each.id for each in sessions}
    assert len({each.id for each in sessions}) == MOST_SESSIONS
    assert new.id not in {each.id for each in without(sessions, new.id)}
