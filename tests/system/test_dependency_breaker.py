"""The breaker of Redis and the database fails fast, and closes after a successful ping."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from tests.fakes import wait_until
from tests.fakes.threads import no_thread_named


def test_open_breaker_fails_fast_and_closes_after_successful_ping() -> None:
    pings: list[int] = []
    may_mend = threading.Event()

    def ping() -> None:
        pings.append(1)
        if not may_mend.is_set():
            raise ConnectionError

    def sleep(_: float) -> None:
        may_mend.wait(0.01)

    breaker = DependencyBreaker("Redis", ping, (ConnectionError,), sleep=sleep)
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    for _ in range(3):
        with pytest.raises(BreakerOpen), breaker.guard():
            pytest.fail("the server was called")
    may_mend.set()
    wait_until(lambda: not breaker.is_open, "the recovery")
    with breaker.guard():
        pass


def test_stopped_breaker_pings_no_more_and_stays_open() -> None:
    pings: list[int] = []
    turns, may_go_on = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        turns.set()
        may_go_on.wait()

    def ping() -> None:
        pings.append(1)

    breaker = DependencyBreaker("Redis", ping, (ConnectionError,), sleep=sleep)
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    assert turns.wait(60)
    (thread,) = (each for each in threading.enumerate() if each.name == "breaker")
    breaker.stop()
    may_go_on.set()
    thread.join(60)
    assert not thread.is_alive()
    assert not pings
    with pytest.raises(BreakerOpen), breaker.guard():
        pytest.fail("the server was called")


def test_unlisted_error_does_not_open_breaker() -> None:
    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,))
    with pytest.raises(ValueError, match="full"), breaker.guard():
        raise ValueError("full")
    assert not breaker.is_open


def test_breaker_stays_closed_without_ping_thread() -> None:
    """Without a successful ping the open breaker would never close."""
    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,), sleep=lambda _: None)
    with no_thread_named("breaker"), pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    with breaker.guard():
        pass
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    wait_until(lambda: not breaker.is_open, "the recovery")


def test_error_response_to_ping_closes_breaker() -> None:
    """An error that Redis itself returns to a ping proves that Redis is up."""

    def ping() -> None:
        raise PermissionError("no ping for you")

    breaker = DependencyBreaker("Redis", ping, (ConnectionError,), sleep=lambda _: None)
    with pytest.raises(ConnectionError), breaker.guard():
        raise ConnectionError
    wait_until(lambda: not breaker.is_open, "the recovery")


def test_calls_beyond_the_limit_wait_for_an_earlier_one() -> None:
    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,), max_calls=2)
    lock, running, most = threading.Lock(), 0, 0

    def call() -> None:
        nonlocal running, most
        with breaker.guard():
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.01)
            with lock:
                running -= 1

    with ThreadPoolExecutor(12) as pool:
        for done in [pool.submit(call) for _ in range(12)]:
            done.result()
    assert most == 2


def test_waiting_calls_fail_at_once_when_breaker_opens() -> None:
    """Without an open breaker, waiting calls would time out one after the other."""
    may_fail, may_mend = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        may_mend.wait()

    breaker = DependencyBreaker("Redis", lambda: None, (ConnectionError,), sleep=sleep, max_calls=1)

    def fail() -> None:
        with breaker.guard():
            may_fail.wait()
            raise ConnectionError

    def call() -> None:
        with breaker.guard():
            pytest.fail("the server was called")

    with ThreadPoolExecutor(4) as pool:
        failing = pool.submit(fail)
        waiting = [pool.submit(call) for _ in range(3)]
        may_fail.set()
        with pytest.raises(ConnectionError):
            failing.result()
        for each in waiting:
            with pytest.raises(BreakerOpen):
                each.result()
    may_mend.set()
    wait_until(lambda: not breaker.is_open, "the recovery")
