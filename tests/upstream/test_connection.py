"""The deadline is kept by what runs beside the caller: the resolver and the watchdog."""

import socket
import threading
import time

import pytest

from portal.upstream import NotSent
from portal.upstream.connection import Guard, Resolver, Watchdog
from tests.fakes import hanging_names, wait_until
from tests.fakes.threads import no_thread_named
from tests.upstream.asking import Notes, origin, resource, soon


def test_a_name_that_hangs_ends_with_the_connect_limit():
    """getaddrinfo knows no timeout: nobody waits for it beyond theirs."""
    with hanging_names() as url:
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(url, connect_s=0.2).send(resource(), Notes(), soon(30))
        assert time.monotonic() - started < 10


def test_callers_of_one_hanging_name_share_one_look_up():
    """A dead name server must not cost a thread a lookup."""
    asked, release = [], threading.Event()

    def look_up(host, *rest):
        asked.append(host)
        release.wait(20)
        return [("address",)]

    resolver = Resolver(look_up)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            resolver.resolve("slow.example", 80, 0.02)
    waiting = threading.Thread(target=lambda: resolver.resolve("slow.example", 80, 20))
    waiting.start()
    release.set()
    waiting.join(20)
    assert asked == ["slow.example"]


def test_a_look_up_that_ended_is_asked_again():
    answers = iter([socket.gaierror("no"), [("address",)]])

    def look_up(*_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    resolver = Resolver(look_up)
    with pytest.raises(OSError, match="no"):
        resolver.resolve("a.example", 80, 5)
    wait_until(lambda: not resolver._pending, "the end of the first look-up")
    assert resolver.resolve("a.example", 80, 5) == [("address",)]


def test_the_watchdog_shuts_down_whoever_is_late_and_nobody_else():
    ours, theirs = socket.socketpair()
    spared, _other = socket.socketpair()
    with ours, theirs, spared, _other, ours.dup() as brake, spared.dup() as other_brake:
        watchdog = Watchdog()
        late, early, moved = Guard(watchdog), Guard(watchdog), Guard(watchdog)
        late.attach(brake)
        early.attach(other_brake)
        moved.attach(other_brake)
        now = time.monotonic()
        early.allow(now + 0.05)
        early.release()
        moved.allow(now + 0.05)
        moved.allow(now + 60)
        late.allow(now + 0.1)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
        assert (late.late, early.late, moved.late) == (True, False, False)


def test_a_connection_made_after_its_time_was_up_is_shut_down_too():
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.dup() as brake:
        guard = Guard(Watchdog())
        guard.allow(time.monotonic() - 1)
        wait_until(lambda: guard.late, "the end of its time")
        guard.attach(brake)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""


# A system that gives no more threads


def test_a_watchdog_that_found_no_thread_comes_with_the_next_attempt_and_minds_both():
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.dup() as brake:
        watchdog = Watchdog()
        early, later = Guard(watchdog), Guard(watchdog)
        early.attach(brake)
        with no_thread_named("watchdog") as refused:
            early.allow(time.monotonic() - 1)
        assert refused
        assert not early.late
        later.allow(time.monotonic() + 60)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
        assert (early.late, later.late) == (True, False)


def test_a_name_that_finds_no_thread_is_not_asked_and_nothing_is_sent():
    resolver = Resolver(lambda *_: [("address",)])
    with no_thread_named("resolver"), pytest.raises(OSError, match="no thread"):
        resolver.resolve("a.example", 80, 5)
    assert resolver.resolve("a.example", 80, 5) == [("address",)]


def test_a_call_that_finds_no_thread_for_its_name_was_not_sent(upstream):
    notes = Notes()
    asked = origin(upstream.url)
    with no_thread_named("resolver"), pytest.raises(NotSent):
        asked.send(resource(), notes, soon(30))
    assert asked.send(resource(), notes, soon(30)).status == 200
    assert notes.outcomes == ["not_sent", "answered"]
    assert upstream.count() == 1
