"""One time limit covers name resolution, TCP connect and TLS handshake."""

import errno
import resource as limits
import socket
import ssl
import threading
import time

import pytest

from portal.upstream import connection
from portal.upstream.connection import ADDRESS_TTL_S, Resolver
from portal.upstream.errors import LocalFailure, NotSent
from portal.upstream.spares import Spares
from tests.fakes import Blackhole, Clock, FaultUpstream, hanging_names, refused_url, wait_until
from tests.fakes.threads import no_thread_named
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource

Addresses = list[tuple[object, ...]]

ADDRESS: Addresses = [("address",)]


def test_hanging_name_resolution_ends_at_connect_timeout() -> None:
    """getaddrinfo has no timeout."""
    with hanging_names() as url:
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(url, connect_s=0.2).send(resource(), RecordingAccount(), deadline_in(30))
        assert time.monotonic() - started < 10


def test_concurrent_lookups_of_one_name_share_one_thread() -> None:
    """A dead name server must not block one thread per lookup."""
    hosts: list[str] = []
    release = threading.Event()

    def look_up(host: str, *_: object) -> Addresses:
        hosts.append(host)
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
    assert hosts == ["slow.example"]


class Names:
    """A resolver with a scripted look-up function. ``lookups`` counts its calls."""

    def __init__(self, *answers: Addresses | Exception) -> None:
        self.answers = list(answers)
        self.lookups = 0
        self.clock = Clock(1000.0)
        self.resolver = Resolver(self._look_up, self.clock)

    def _look_up(self, *_: object) -> Addresses:
        self.lookups += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def resolve(self) -> Addresses:
        return self.resolver.resolve("a.example", 80, 5)


def test_failed_lookup_is_not_cached() -> None:
    names = Names(socket.gaierror("no"), ADDRESS)
    with pytest.raises(OSError, match="no"):
        names.resolve()
    assert names.resolve() == ADDRESS


def test_addresses_are_cached_for_their_ttl() -> None:
    """Without a cache, an outage of the name server would stop every call."""
    names = Names(ADDRESS, [("another",)])
    for _ in range(3):
        assert names.resolve() == ADDRESS
        names.clock.advance(ADDRESS_TTL_S / 3 - 1)
    names.clock.advance(ADDRESS_TTL_S)
    assert names.resolve() == [("another",)]
    assert names.lookups == 2


def test_failed_connect_evicts_cached_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next call resolves the name again, because the address may have changed."""
    names = Names([(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))])
    monkeypatch.setattr(connection, "_resolver", names.resolver)
    for _ in range(2):
        with pytest.raises(NotSent):
            origin(refused_url()).send(resource(), RecordingAccount(), deadline_in(30))
    assert names.lookups == 2


# A system without free threads, descriptors or ports


def test_missing_resolver_thread_is_local_failure(upstream: FaultUpstream) -> None:
    account = RecordingAccount()
    client = origin(upstream.url)
    monkeypatched = pytest.MonkeyPatch()
    monkeypatched.setattr(connection, "_resolver", Resolver())
    with no_thread_named("resolver"), pytest.raises(LocalFailure):
        client.send(resource(), account, deadline_in(30))
    assert client.send(resource(), account, deadline_in(30)).status == 200
    monkeypatched.undo()
    assert account.outcomes == ["not_sent", "answered"]
    assert upstream.count() == 1


def test_missing_descriptor_is_local_failure(upstream: FaultUpstream) -> None:
    """The origin did not fail, so a breaker must not count the error."""
    client, account = origin(upstream.url, spares=Spares(0, 15.0)), RecordingAccount()
    client.send(resource(), account, deadline_in(30))  # caches the resolved name
    soft, hard = limits.getrlimit(limits.RLIMIT_NOFILE)
    limits.setrlimit(limits.RLIMIT_NOFILE, (3, hard))  # all in use: standard input, output, error
    try:
        with pytest.raises(LocalFailure):
            client.send(resource(), account, deadline_in(30))
    finally:
        limits.setrlimit(limits.RLIMIT_NOFILE, (soft, hard))
    assert account.outcomes == ["answered", "not_sent"]
    assert client.send(resource(), account, deadline_in(30)).status == 200


@pytest.mark.parametrize("number", [errno.ENOBUFS, errno.ENOMEM])
def test_connect_without_system_memory_is_local_failure(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def connect(self: socket.socket, address: tuple[str, int]) -> None:
        raise OSError(number, "")

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(LocalFailure):
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.ENETUNREACH])
def test_unusable_ipv6_address_falls_back_to_ipv4(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A host without IPv6 reports EADDRNOTAVAIL for each IPv6 address."""
    connect = socket.socket.connect

    def without_ipv6(self: socket.socket, address: tuple[str, int]) -> None:
        if address[0] == "::1":
            raise OSError(number, "")
        connect(self, address)

    both = [
        (socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("::1", upstream.port)),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", upstream.port)),
    ]
    monkeypatch.setattr(socket.socket, "connect", without_ipv6)
    for order in (both, both[::-1]):
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_, found=order: found))
        assert (
            origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30)).status == 200
        )
    monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both[:1]))
    with pytest.raises(NotSent) as caught:
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    assert not isinstance(caught.value, LocalFailure)  # so the secondary is tried


def test_unsupported_address_family_falls_back_to_next_address(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        (9999, socket.SOCK_STREAM, 0, "", ("nowhere", 1)),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", upstream.port)),
    ]
    monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: found))
    assert origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30)).status == 200


def test_refused_connect_is_not_local_failure() -> None:
    with pytest.raises(NotSent) as caught:
        origin(refused_url()).send(resource(), RecordingAccount(), deadline_in(30))
    assert not isinstance(caught.value, LocalFailure)


# Addresses and handshakes


def test_silent_address_leaves_time_for_next_address(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Example: a host with an unreachable IPv6 address and a reachable IPv4 one."""
    with Blackhole() as hole:
        both = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (hole.port, upstream.port)
        ]
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both))
        patient = origin(upstream.url, connect_s=4)
        assert patient.send(resource(), RecordingAccount(), deadline_in(30)).status == 200


def test_handshake_gets_remaining_connect_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect and handshake share one limit."""
    connect = socket.socket.connect
    had: list[float | None] = []

    def slow(self: socket.socket, address: tuple[str, int]) -> None:
        connect(self, address)
        time.sleep(0.2)

    def handshake(self: ssl.SSLContext, sock: socket.socket, *_: object, **__: object) -> None:
        had.append(sock.gettimeout())
        raise ssl.SSLError("enough")

    monkeypatch.setattr(socket.socket, "connect", slow)
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", handshake)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(NotSent):
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        origin(url, connect_s=5).send(resource(), RecordingAccount(), deadline_in(30))
    assert had[0] is not None
    assert had[0] < 4.9


def test_dripping_handshake_ends_at_connect_timeout() -> None:
    """A timeout per read would restart with each byte."""
    stop = threading.Event()

    def drip(server: socket.socket) -> None:
        peer, _ = server.accept()
        with peer:
            peer.sendall(b"\x16\x03\x03\x40\x00")  # the header of a 16 KiB handshake record
            while not stop.wait(0.02):
                try:
                    peer.sendall(b"\x00")
                except OSError:  # the client has closed the connection
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        dripping = threading.Thread(target=drip, args=(server,))
        dripping.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(url, connect_s=0.3).send(resource(), RecordingAccount(), deadline_in(60))
        assert time.monotonic() - started < 30
        stop.set()
        dripping.join(20)
        wait_until(lambda: not dripping.is_alive(), "the end")
