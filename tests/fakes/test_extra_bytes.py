"""Each fault in ``extra_bytes`` sends the bytes that its name promises."""

import http.client
import socket
from contextlib import suppress

import pytest

from tests import factories
from tests.fakes import Fault, FaultUpstream
from tests.fakes import extra_bytes as extra
from tests.fakes.answers import path_of
from tests.fakes.plain_client import PlainClient

pytestmark = pytest.mark.long  # tests of what the tests use

PATH = path_of("decode")
CLEAN = factories.decode_body("ABC1D23")


def received(upstream: FaultUpstream, fault: Fault, patience_s: float = 2.0) -> bytes:
    """Return all bytes received before ``patience_s`` seconds of silence."""
    upstream.once(PATH, fault)
    data = b""
    with socket.create_connection(("127.0.0.1", upstream.port), 5) as wire:
        wire.sendall(f"GET {PATH} HTTP/1.1\r\nHost: fake\r\n\r\n".encode())
        wire.settimeout(patience_s)
        with suppress(TimeoutError):
            while part := wire.recv(65_536):
                data += part
    return data


@pytest.mark.parametrize(
    "fault", [extra.interim_with_answer(), extra.interim_then_late_answer(0.05)], ids=str
)
def test_interim_response_precedes_complete_answer(upstream: FaultUpstream, fault: Fault) -> None:
    early, _, final = received(upstream, fault).partition(b"\r\n\r\n")
    assert early == b"HTTP/1.1 103 Early Hints"
    assert final == extra.whole(CLEAN)


def test_trailing_bytes_follow_complete_answer(upstream: FaultUpstream) -> None:
    assert received(upstream, extra.trailing_bytes(b"\r\n")) == extra.whole(CLEAN) + b"\r\n"


def test_unrequested_answer_follows_complete_answer(upstream: FaultUpstream) -> None:
    assert received(upstream, extra.unasked_answer()) == extra.whole(CLEAN) * 2
    assert upstream.count() == 1


def test_started_answer_is_reset_and_counted(upstream: FaultUpstream) -> None:
    with pytest.raises(ConnectionResetError):
        received(upstream, extra.started_then_reset())
    assert upstream.count() == 1


def test_closed_connection_does_not_count_next_request(upstream: FaultUpstream) -> None:
    with PlainClient(upstream) as client:
        upstream.once(PATH, extra.closed_after())
        assert client.ask()[1] == CLEAN
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            client.ask()
    assert upstream.count() == 1
