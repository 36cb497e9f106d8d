"""One time limit covers name resolution, TCP connect and TLS handshake."""

import errno
import gc
import resource as limits
import select
import socket
import ssl
import struct
import threading
import time
import warnings

import pytest

from portal.upstream import connection
from portal.upstream.connection import ADDRESS_TTL_S, Resolver, interleaved
from portal.upstream.errors import LocalFailure, NotSent
from portal.upstream.spares import Spares
from tests.fakes import Blackhole, Clock, FaultUpstream, hanging_names, refused_url, wait_until
from tests.fakes.ports import free_port
from tests.fakes.threads import no_thread_named
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource

Addresses = list[tuple[object, ...]]

ADDRESS: Addresses = [("address",)]


def ipv4(port: int) -> tuple[object, ...]:
    return (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))


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


def test_silent_address_does_not_delay_the_next_one(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Example: a host with an unreachable IPv6 address and a reachable IPv4 one."""
    with Blackhole() as hole:
        both = [ipv4(port) for port in (hole.port, upstream.port)]
        names = Names(both)
        monkeypatch.setattr(connection, "_resolver", names.resolver)
        patient = origin(upstream.url, connect_s=60, spares=Spares(0, 60))
        started = time.monotonic()
        for _ in range(3):
            assert patient.send(resource(), RecordingAccount(), deadline_in(90)).status == 200
        assert time.monotonic() - started < 10
    assert names.resolver.resolve("127.0.0.1", upstream.port, 5) == both[::-1]
    assert [record.message for record in caplog.records] == [
        "127.0.0.1: no connection to the address 127.0.0.1, another one is used"
    ]


def test_next_address_is_tried_at_once_after_a_refusal(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STAGGER_S", 60.0)
    both = [ipv4(free_port()), ipv4(upstream.port)]
    monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: both))
    started = time.monotonic()
    patient = origin(upstream.url, connect_s=60)
    assert patient.send(resource(), RecordingAccount(), deadline_in(90)).status == 200
    assert time.monotonic() - started < 30


def test_all_silent_addresses_end_at_connect_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is left open."""
    with Blackhole() as hole:
        monkeypatch.setattr(connection, "_resolver", Resolver(lambda *_: [ipv4(hole.port)] * 3))
        made: list[socket.socket] = []
        begun = connection._begun

        def recorded(address: tuple[object, ...]) -> socket.socket:
            made.append(begun(address))
            return made[-1]

        monkeypatch.setattr(connection, "_begun", recorded)
        with pytest.raises(NotSent, match="TimeoutError"):
            origin(hole.url, connect_s=0.8).send(resource(), RecordingAccount(), deadline_in(30))
    assert [each.fileno() for each in made] == [-1] * 3


def test_preferred_address_comes_first_for_30_seconds(caplog: pytest.LogCaptureFixture) -> None:
    dead, good = ipv4(1), (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.2", 1))
    names = Names([dead, good])
    for _ in range(2):  # a dead address is logged once
        assert names.resolve() == [dead, good]
        names.resolver.prefer("a.example", 80, good, [dead])
        names.clock.advance(ADDRESS_TTL_S - 1)
        assert names.resolve() == [good, dead]
        names.resolver.prefer("a.example", 80, good, [])  # does not extend the time
        names.clock.advance(2)
    assert len(caplog.records) == 1
    names.resolver.prefer("a.example", 80, dead, [])  # it answers again
    names.resolver.prefer("a.example", 80, good, [dead])
    assert len(caplog.records) == 2


def test_families_take_turns() -> None:
    six = [(socket.AF_INET6, each) for each in range(3)]
    four = [(socket.AF_INET, each) for each in range(2)]
    assert interleaved([*six, *four]) == [six[0], four[0], six[1], four[1], six[2]]
    assert interleaved([*four, *six])[:2] == [four[0], six[0]]
    assert interleaved([]) == []


def test_handshake_gets_remaining_connect_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect and handshake share one limit."""
    connect = socket.socket.connect
    had: list[float | None] = []

    def slow(self: socket.socket, address: tuple[str, int]) -> None:
        time.sleep(0.2)
        connect(self, address)

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


def test_connection_that_is_reset_before_the_handshake_is_closed() -> None:
    """``SSLContext.wrap_socket`` leaves such a connection open."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        opened = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        select.select([opened], [], [], 20)
        with warnings.catch_warnings(record=True) as unclosed:
            warnings.simplefilter("always", ResourceWarning)
            with pytest.raises(NotSent):
                connection._start_tls(opened, "127.0.0.1", time.monotonic() + 20)
            gc.collect()
    assert not unclosed


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
