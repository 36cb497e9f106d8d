"""The deadline is kept by what runs beside the caller: the resolver and the watchdog."""

import socket
import ssl
import threading
import time

import pytest
from urllib3.connection import HTTPConnection

from portal.upstream import NotSent, connection
from portal.upstream.connection import Guard, Resolver, Watchdog
from tests.fakes import Blackhole, faults, hanging_names, wait_until
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
    with ours, theirs, spared, _other:
        watchdog = Watchdog()
        late, early, moved = Guard(watchdog), Guard(watchdog), Guard(watchdog)
        late.attach(ours)
        early.attach(spared)
        moved.attach(spared)
        now = time.monotonic()
        early.allow(now + 0.05)
        early.release()
        moved.allow(now + 0.05)
        moved.allow(now + 60)
        late.allow(now + 0.1)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
        assert (late.late, early.late, moved.late) == (True, False, False)
        for guard in (late, moved):
            guard.release()


def test_a_connection_made_after_its_time_was_up_is_shut_down_too():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        guard = Guard(Watchdog())
        guard.allow(time.monotonic() - 1)
        wait_until(lambda: guard.late, "the end of its time")
        guard.attach(ours)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
        guard.release()


# A system that gives no more threads


def test_a_watchdog_that_found_no_thread_comes_with_the_next_attempt_and_minds_both():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        watchdog = Watchdog()
        early, later = Guard(watchdog), Guard(watchdog)
        early.attach(ours)
        with no_thread_named("watchdog") as refused:
            early.allow(time.monotonic() - 1)
        assert refused
        assert not early.late
        later.allow(time.monotonic() + 60)
        theirs.settimeout(20)
        assert theirs.recv(1) == b""
        assert (early.late, later.late) == (True, False)
        early.release()


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


# Addresses and idle ends


def test_an_address_that_is_silent_leaves_time_for_the_next(upstream, monkeypatch):
    """A host with a dead IPv6 address and a live IPv4 one, say."""
    with Blackhole() as hole:
        both = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (hole.port, upstream.port)
        ]
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both))
        assert origin(upstream.url).send(resource(), Notes(), soon(10)).status == 200


def test_a_handshake_has_what_the_connect_left_of_its_time(monkeypatch):
    """One limit for both, not one for each."""
    connect, had = socket.socket.connect, []

    def slow(self, address):
        connect(self, address)
        time.sleep(0.2)

    def handshake(self, sock, *rest, **named):
        had.append(sock.gettimeout())
        raise ssl.SSLError("enough")

    monkeypatch.setattr(socket.socket, "connect", slow)
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", handshake)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(NotSent):
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        origin(url, connect_s=5).send(resource(), Notes(), soon(30))
    assert had[0] < 4.9


def test_an_idle_connection_that_is_reset_just_then_costs_nothing(upstream, monkeypatch):
    """The library looks before it writes; here the end comes between the two."""
    monkeypatch.setattr(HTTPConnection, "is_connected", property(lambda self: bool(self.sock)))
    upstream.script("/", faults.reset_when_idle(), faults.good())
    asked, notes = origin(upstream.url), Notes()
    asked.send(resource(), notes, soon(5))
    wait_until(lambda: not upstream.connections_open, "the reset")
    assert asked.send(resource(), notes, soon(5)).status == 200
    assert notes.outcomes == ["answered", "answered", "stale_connection"]
