"""Spare connections: opened before a lookup needs one, used for one request, closed in time."""

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from portal.upstream import spares as module
from portal.upstream.connection import connect
from portal.upstream.origin import Origin
from portal.upstream.spares import MOST_EXPECTED, Spares, is_silent
from portal.upstream.trust import load_authorities
from tests.fakes import Blackhole, FaultUpstream, faults, refused_url, wait_until
from tests.fakes.closing import closed_later
from tests.fakes.threads import no_thread_named
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource


@pytest.fixture
def spares() -> Iterator[Spares]:
    made = Spares(1, 15.0)
    yield made
    made.close()


@pytest.fixture
def client(upstream: FaultUpstream, spares: Spares) -> Origin:
    return origin(upstream.url, spares=spares)


def ask(client: Origin, account: RecordingAccount | None = None) -> None:
    client.send(resource(), account or RecordingAccount(), deadline_in(30))


def expected(client: Origin, spares: Spares, upstream: FaultUpstream, count: int = 1) -> None:
    """Open spare connections, and wait until they are ready."""
    before = upstream.connections_accepted
    spares.expect(client.host, count)
    wait_until(lambda: upstream.connections_accepted == before + count, "the openings")
    wait_until(lambda: _ready(spares) >= count, "their handshakes")


def opening(
    upstream: FaultUpstream, spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> tuple[Origin, threading.Event]:
    """Return a client, and an event that the opening of its spare connection waits for."""
    release = threading.Event()

    def slow(*args: Any, **named: Any) -> socket.socket:
        release.wait(20)
        return connect(*args, **named)

    monkeypatch.setattr(module, "connect", slow)
    client = origin(upstream.url, spares=spares)
    spares.expect(client.host, 1)
    return client, release


def _ready(spares: Spares) -> int:
    return sum(each.done() for all_ in spares._spares.values() for each in all_)


def test_each_call_opens_the_next_ones_connection_and_no_connection_is_used_twice(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    upstream.default(faults.slow_first_byte(0.05))
    for number in range(1, 6):
        ask(client)
        wait_until(lambda: _ready(spares) == 1, "the next connection")
        assert upstream.connections_accepted == number + 1
    assert upstream.connections_made == upstream.count() == 5
    wait_until(lambda: upstream.connections_open == 1, "the end of the used connections")


def _accepted(upstream: FaultUpstream, connections: int) -> None:
    """The server may accept a connection after the client has it."""
    wait_until(lambda: upstream.connections_accepted >= connections, "the acceptance")
    assert upstream.connections_accepted == connections


def test_each_of_eight_lookups_at_once_opens_the_next_ones_connection(
    upstream: FaultUpstream,
) -> None:
    """As the lookups of a batch are."""
    spares, lookups = closed_later(Spares(8, 15.0), Spares.close), 8
    client = origin(upstream.url, spares=spares)
    for number in range(1, 4):
        gate = threading.Event()
        upstream.default(faults.held(gate))
        threads = [threading.Thread(target=ask, args=(client,)) for _ in range(lookups)]
        for each in threads:
            each.start()
        upstream.wait_for_calls(lookups * number)
        wait_until(lambda: _ready(spares) == lookups, "the next connections")
        gate.set()
        for each in threads:
            each.join()
        _accepted(upstream, lookups * (number + 1))
    assert upstream.connections_made == upstream.count() == 3 * lookups


def test_spare_connection_has_finished_its_handshake(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    expected(client, spares, upstream)
    if upstream.tls:
        wait_until(lambda: upstream.handshakes_open == 1, "the handshake")
    ask(client)
    assert upstream.calls[0].connection == 1


def test_no_more_are_opened_than_allowed(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    for _ in range(3):
        spares.expect(client.host, 50)
    wait_until(lambda: _ready(spares) == MOST_EXPECTED, "the openings")
    ask(client)  # takes one, and opens none, because more than one is left
    _accepted(upstream, MOST_EXPECTED)


def test_zero_switches_spare_connections_off(upstream: FaultUpstream) -> None:
    off = Spares(0, 15.0)
    client = origin(upstream.url, spares=off)
    for number in range(1, 4):
        off.expect(client.host, 3)
        assert not any(off._spares.values())
        ask(client)
        assert upstream.connections_accepted == number


def test_idle_spare_connection_is_closed_and_never_used(
    client: Origin, spares: Spares, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected(client, spares, upstream)
    spares.tick()
    assert upstream.connections_open == 1
    monkeypatch.setattr(module, "LONGEST_IDLE_S", 0.0)
    ask(client)
    assert upstream.calls[0].connection == 2
    wait_until(lambda: _ready(spares) == 1, "the next connection")
    spares.tick()
    wait_until(lambda: not upstream.connections_open, "the end of the spare connection")


def _fin(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_WR)


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RD)  # ends the server's thread, which closes


def _unsolicited(connection: socket.socket) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


@pytest.mark.parametrize("how", [_fin, _reset, _unsolicited])
def test_readable_spare_connection_is_thrown_away(
    client: Origin,
    spares: Spares,
    upstream: FaultUpstream,
    how: Callable[[socket.socket], None],
) -> None:
    expected(client, spares, upstream)
    if upstream.tls:
        wait_until(lambda: upstream.handshakes_open == 1, "the handshake")
    (future,) = spares._spares[client.host]
    held = future.result().connection
    assert is_silent(held)
    upstream.spoil(how)
    wait_until(lambda: not is_silent(held), "what arrives")
    account = RecordingAccount()
    ask(client, account)
    assert account.outcomes == ["answered"]
    assert [call.connection for call in upstream.calls] == [2]


def test_spare_connections_live_half_as_long_as_one_that_the_server_closed(
    client: Origin, spares: Spares, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise requests would be sent again and again just when the server closes."""
    expected(client, spares, upstream)
    upstream.spoil(_fin)
    time.sleep(0.1)
    spares.tick()
    ((lives_s, _),) = spares._lives.values()
    assert 0.05 <= lives_s < 10
    monkeypatch.setattr(module, "LONGEST_IDLE_S", 100.0)
    expected(client, spares, upstream)
    time.sleep(lives_s + 0.01)
    spares.tick()
    wait_until(lambda: not upstream.connections_open, "the end of the spare connection")
    monkeypatch.setattr(spares, "_lives", {client.host: (lives_s, time.monotonic())})
    expected(client, spares, upstream)
    time.sleep(lives_s + 0.01)
    spares.tick()
    assert upstream.connections_open == 1


def test_other_trust_throws_spare_connections_away(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    expected(client, spares, upstream)
    load_authorities.cache_clear()
    ask(client)
    assert upstream.calls[0].connection == (2 if upstream.tls else 1)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_has_no_spare_connections(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    """Two processes would otherwise send requests on one connection."""
    expected(client, spares, upstream)
    child = os.fork()
    if child == 0:
        spares.expect(client.host, 3)
        held = [each for all_ in spares._spares.values() for each in all_]
        os._exit(len(held))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ask(client)
    assert upstream.calls[0].connection == 1


def test_failed_opening_has_no_consequences(spares: Spares) -> None:
    """The address is refused, hangs or is unknown. No row is begun, and no error is raised."""
    with Blackhole() as hole:
        for url in (refused_url(), hole.url, "http://unknown.invalid"):
            client = origin(url, spares=spares)
            spares.expect(client.host, 3)
        spares.tick()


def test_call_waits_for_an_opening_that_has_begun(
    upstream: FaultUpstream, spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, release = opening(upstream, spares, monkeypatch)
    wait_until(lambda: spares._spares[client.host][0].running(), "the beginning")
    asking = threading.Thread(target=ask, args=(client,))
    asking.start()
    release.set()
    asking.join(20)
    assert upstream.calls[0].connection == 1


def test_call_connects_itself_if_an_opening_hangs(
    upstream: FaultUpstream, spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited until its own time to connect had passed, and then failed."""
    hung = threading.Event()

    def slow(*args: Any, **named: Any) -> socket.socket:
        if threading.current_thread().name.startswith("spare"):
            hung.wait(60)
        return connect(*args, **named)

    monkeypatch.setattr(module, "connect", slow)
    client = origin(upstream.url, spares=spares)
    spares.expect(client.host, 1)
    wait_until(lambda: spares._spares[client.host][0].running(), "the beginning")
    ask(client)
    assert upstream.count() == 1
    hung.set()


def test_call_connects_itself_after_a_failed_opening(
    upstream: FaultUpstream, spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(spares, "_timeout_s", 0.0)
        client = origin(upstream.url, spares=spares)
        spares.expect(client.host, 3)
        wait_until(lambda: not spares._spares[client.host], "the failures")
    ask(client)
    assert upstream.calls[0].connection == 1


def test_missing_thread_opens_nothing(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    with no_thread_named("spare_0"):
        spares.expect(client.host, 3)
        ask(client)
    assert upstream.connections_accepted == 1


def test_closed_spares_open_no_more(
    client: Origin, spares: Spares, upstream: FaultUpstream
) -> None:
    expected(client, spares, upstream, 3)
    spares.close()
    wait_until(lambda: not upstream.connections_open, "the end of the connections")
    spares.expect(client.host, 3)
    ask(client)
    assert upstream.connections_accepted == 4


def test_opening_that_ends_after_the_close_is_closed(
    upstream: FaultUpstream, spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, release = opening(upstream, spares, monkeypatch)
    spares.close()
    release.set()
    wait_until(lambda: upstream.connections_accepted == 1, "the opening")
    wait_until(lambda: not upstream.connections_open, "the end of the connection")


def test_drain_closes_spare_connections(upstream: FaultUpstream) -> None:
    draining = threading.Event()
    spares = Spares(1, 15.0, draining.is_set)
    client = origin(upstream.url, spares=spares)
    expected(client, spares, upstream)
    spares.tick()
    assert upstream.connections_open == 1
    draining.set()
    spares.tick()
    wait_until(lambda: not upstream.connections_open, "the end of the connection")
    ask(client)
    assert upstream.connections_accepted == 2


def test_slow_upstream_never_gets_a_request_on_an_old_connection(
    client: Origin, spares: Spares, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spare connection that a slow call has opened is too old for the next call."""
    monkeypatch.setattr(module, "LONGEST_IDLE_S", 0.2)
    upstream.once("/", faults.slow_first_byte(0.5))
    ask(client)
    began = time.monotonic()
    ask(client)
    assert upstream.calls[1].connection == 3
    assert time.monotonic() - began < 10
