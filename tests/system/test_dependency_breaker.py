"""The breaker of Redis and the database fails fast, and closes after a successful ping."""

import threading

import pytest

from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from tests.fakes import wait_until
from tests.fakes.threads import no_thread_named


def test_open_breaker_fails_fast_and_closes_after_successful_ping():
    pings, may_mend = [], threading.Event()

    def ping():
        pings.append(1)
        if not may_mend.is_set():
            raise ConnectionError

    breaker = DependencyBreaker(
        "Redis", ping, (ConnectionError,), sleep=lambda _: may_mend.wait(0.01)
    )
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    for _ in range(3):
        with pytest.raises(BreakerOpen), breaker.guard():
            pytest.fail("the server was called")
    may_mend.set()
    wait_until(lambda: not breaker.is_open, "the recovery")
    with breaker.guard():
        pass


def test_unlisted_error_does_not_open_breaker():
    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,))
    with pytest.raises(ValueError, match="full"), breaker.guard():
        raise ValueError("full")
    assert not breaker.is_open


def test_breaker_stays_closed_without_ping_thread():
    """Without a successful ping the open breaker would never close."""
    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,), sleep=lambda _: None)
    with no_thread_named("breaker"), pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    with breaker.guard():
        pass
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    wait_until(lambda: not breaker.is_open, "the recovery")


def test_error_response_to_ping_closes_breaker():
    """An error that Redis itself returns to a ping proves that Redis is up."""

    def ping():
        raise PermissionError("no ping for you")

    breaker = DependencyBreaker("Redis", ping, (ConnectionError,), sleep=lambda _: None)
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    wait_until(lambda: not breaker.is_open, "the recovery")
