"""A connection is established within its limit: name, TCP, TLS."""

import errno
import resource as limits
import socket
import ssl
import threading
import time

import pytest

from portal.upstream import LocalFailure, NotSent, connection
from portal.upstream.connection import ADDRESS_TTL_S, Resolver
from tests.fakes import Blackhole, Clock, hanging_names, refused_url, wait_until
from tests.fakes.threads import no_thread_named
from tests.upstream.lookups import Notes, origin, resource, soon

ADDRESS = [("address",)]


def test_a_name_that_hangs_ends_with_the_connect_limit():
    """getaddrinfo knows no timeout."""
    with hanging_names() as url:
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(url, connect_s=0.2).send(resource(), Notes(), soon(30))
        assert time.monotonic() - started < 10


def test_concurrent_look_ups_of_one_name_share_one_thread():
    """A dead name server must not cost a thread a lookup."""
    asked, release = [], threading.Event()

    def look_up(host, *rest):
        asked.append(host)
        release.wait(20)
        return ADDRESS

    resolver = Resolver(look_up)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            resolver.resolve("slow.example", 80, 0.02)
    waiting = threading.Thread(target=lambda: resolver.resolve("slow.example", 80, 20))
    waiting.start()
    release.set()
    waiting.join(20)
    assert asked == ["slow.example"]


class Names:
    """A resolver over a scripted look-up, which counts."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0
        self.clock = Clock(1000.0)
        self.resolver = Resolver(self._look_up, self.clock)

    def _look_up(self, *_):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def resolve(self):
        return self.resolver.resolve("a.example", 80, 5)


def test_a_failed_look_up_is_made_again():
    names = Names(socket.gaierror("no"), ADDRESS)
    with pytest.raises(OSError, match="no"):
        names.resolve()
    assert names.resolve() == ADDRESS


def test_addresses_are_kept_for_half_a_minute():
    """Each call opens a connection: without this a name server's outage would stop them all."""
    names = Names(ADDRESS, [("another",)])
    for _ in range(3):
        assert names.resolve() == ADDRESS
        names.clock.advance(ADDRESS_TTL_S / 3 - 1)
    names.clock.advance(ADDRESS_TTL_S)
    assert names.resolve() == [("another",)]
    assert names.asked == 2


def test_addresses_that_do_not_answer_are_looked_up_again(monkeypatch):
    """A service that moved is found with the next call."""
    names = Names([(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))])
    monkeypatch.setattr(connection, "_resolver", names.resolver)
    for _ in range(2):
        with pytest.raises(NotSent):
            origin(refused_url()).send(resource(), Notes(), soon(30))
    assert names.asked == 2


# A system that has no more threads, descriptors or ports


def test_a_call_without_a_thread_for_its_name_is_not_sent(upstream):
    notes = Notes()
    asked = origin(upstream.url)
    monkeypatched = pytest.MonkeyPatch()
    monkeypatched.setattr(connection, "_resolver", Resolver())
    with no_thread_named("resolver"), pytest.raises(LocalFailure):
        asked.send(resource(), notes, soon(30))
    assert asked.send(resource(), notes, soon(30)).status == 200
    monkeypatched.undo()
    assert notes.outcomes == ["not_sent", "answered"]
    assert upstream.count() == 1


def test_a_process_without_descriptors_reports_a_local_failure(upstream):
    """No origin failed: a circuit breaker must not learn from it."""
    asked, notes = origin(upstream.url), Notes()
    asked.send(resource(), notes, soon(30))  # resolves the name
    soft, hard = limits.getrlimit(limits.RLIMIT_NOFILE)
    limits.setrlimit(limits.RLIMIT_NOFILE, (3, hard))  # standard input, output and error
    try:
        with pytest.raises(LocalFailure):
            asked.send(resource(), notes, soon(30))
    finally:
        limits.setrlimit(limits.RLIMIT_NOFILE, (soft, hard))
    assert notes.outcomes == ["answered", "not_sent"]
    assert asked.send(resource(), notes, soon(30)).status == 200


@pytest.mark.parametrize("number", [errno.ENOBUFS, errno.ENOMEM])
def test_a_connect_that_this_machine_cannot_make_is_a_local_failure(upstream, monkeypatch, number):
    def connect(self, address):
        raise OSError(number, "")

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(LocalFailure):
        origin(upstream.url).send(resource(), Notes(), soon(30))


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.ENETUNREACH])
def test_an_unusable_ipv6_address_leaves_the_ipv4_one(upstream, monkeypatch, number):
    """A host without IPv6 answers EADDRNOTAVAIL for each IPv6 address."""
    connect = socket.socket.connect

    def without_ipv6(self, address):
        if address[0] == "::1":
            raise OSError(number, "")
        return connect(self, address)

    both = [
        (socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("::1", upstream.port)),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", upstream.port)),
    ]
    monkeypatch.setattr(socket.socket, "connect", without_ipv6)
    for order in (both, both[::-1]):
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_, found=order: found))
        assert origin(upstream.url).send(resource(), Notes(), soon(30)).status == 200
    monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both[:1]))
    with pytest.raises(NotSent) as caught:
        origin(upstream.url).send(resource(), Notes(), soon(30))
    assert not isinstance(caught.value, LocalFailure)  # the other base address may be reached


def test_an_address_family_that_the_system_lacks_leaves_the_next_address(upstream, monkeypatch):
    found = [
        (9999, socket.SOCK_STREAM, 0, "", ("nowhere", 1)),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", upstream.port)),
    ]
    monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: found))
    assert origin(upstream.url).send(resource(), Notes(), soon(30)).status == 200


def test_a_refused_connect_is_the_origins_failure():
    with pytest.raises(NotSent) as caught:
        origin(refused_url()).send(resource(), Notes(), soon(30))
    assert not isinstance(caught.value, LocalFailure)


# Addresses and handshakes


def test_an_address_that_is_silent_leaves_time_for_the_next(upstream, monkeypatch):
    """A host with a dead IPv6 address and a live IPv4 one, say."""
    with Blackhole() as hole:
        both = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (hole.port, upstream.port)
        ]
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both))
        patient = origin(upstream.url, connect_s=4)
        assert patient.send(resource(), Notes(), soon(30)).status == 200


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


def test_a_handshake_that_drips_ends_with_the_connect_limit():
    """Each byte would renew a timeout per read."""
    stop = threading.Event()

    def drip(server):
        peer, _ = server.accept()
        with peer:
            peer.sendall(b"\x16\x03\x03\x40\x00")  # a handshake record of 16 KiB
            while not stop.wait(0.02):
                try:
                    peer.sendall(b"\x00")
                except OSError:  # the client has hung up
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        dripping = threading.Thread(target=drip, args=(server,))
        dripping.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(url, connect_s=0.3).send(resource(), Notes(), soon(60))
        assert time.monotonic() - started < 30
        stop.set()
        dripping.join(20)
        wait_until(lambda: not dripping.is_alive(), "the end")
