"""One base address: every fault of the matrix becomes one of our errors, within its time."""

import socket
import threading
import time
import tracemalloc
from email.utils import formatdate

import pytest

from portal.upstream import (
    Broken,
    NotSent,
    TimedOut,
    Uncertain,
    Unusable,
)
from tests import factories
from tests.fakes import (
    UNKNOWN_NAME_URL,
    Blackhole,
    FaultUpstream,
    faults,
    refused_url,
    wait_until,
)
from tests.fakes.answers import OPERATIONS
from tests.fakes.matrix import BROKEN, GOOD, REFUSED, SLOW, Row
from tests.fakes.wire import Fault
from tests.upstream.asking import Notes, origin, resource, soon

CHARGED = {"maybe": Uncertain, "charged": Unusable}


@pytest.mark.parametrize(
    ("row", "operation"),
    [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in BROKEN
        for operation in row.tested
    ],
)
def test_a_broken_answer_raises_by_its_charge_class_and_the_next_call_is_clean(
    upstream, row: Row, operation
):
    """Nothing of a fault stays behind in a connection."""
    asked, notes = origin(upstream.url), Notes()
    upstream.once("/", row.fault)
    with pytest.raises(CHARGED[row.charge]):
        asked.send(resource(operation), notes, soon(30))
    assert asked.send(resource(operation), notes, soon(30)).status == 200
    assert notes.outcomes[1] == "answered"
    assert notes.outcomes[0] not in ("answered", "not_sent")
    assert upstream.count() == notes.announced == 2


@pytest.mark.parametrize("row", SLOW, ids=str)
def test_a_slow_answer_ends_with_the_deadline_and_the_next_call_is_clean(upstream, row: Row):
    """A peer that drips byte by byte outlasts a timeout per read, never the deadline."""
    asked, notes = origin(upstream.url), Notes()
    upstream.once("/", row.fault)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        asked.send(resource(), notes, soon(1))
    assert time.monotonic() - started < 10
    assert notes.outcomes == ["timed_out"]
    assert asked.send(resource(), notes, soon(30)).status == 200


def test_slow_headers_end_with_their_own_limit_long_before_the_deadline(upstream):
    """The wait for the headers is one limit for all of them, not one a byte."""
    upstream.once("/", faults.slow_headers(0.01))
    started = time.monotonic()
    with pytest.raises(TimedOut):
        origin(upstream.url, first_byte_s=0.2).send(resource(), Notes(), soon(60))
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("row", "operation"),
    [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in GOOD
        for operation in row.tested
    ],
)
def test_an_odd_answer_is_an_answer_and_comes_byte_for_byte(upstream, row: Row, operation):
    asked, notes = origin(upstream.url), Notes()
    upstream.once("/", row.fault)
    response = asked.send(resource(operation), notes, soon(30))
    assert response.status == 200
    if row.name in ("good", "stale keep-alive", "chunked", "gzipped", "cookies"):
        assert response.body == asked.send(resource(operation), notes, soon(30)).body
    assert set(notes.outcomes) == {"answered"}


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_a_4xx_is_an_answer(upstream, row: Row):
    upstream.once("/", row.fault)
    notes = Notes()
    response = origin(upstream.url).send(resource(), notes, soon(30))
    assert 400 <= response.status < 500
    assert notes.sends == [("primary", "answered", response.status)]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_call_opens_its_own_connection(upstream, operation):
    """So a server that closes idle connections loses no call, and none is sent twice."""
    asked, notes = origin(upstream.url), Notes()
    upstream.script("/", faults.stale_keep_alive())
    for _ in range(3):
        assert asked.send(resource(operation), notes, soon(30)).status == 200
    assert upstream.connections_made == upstream.count() == 3
    assert notes.outcomes == ["answered"] * 3
    wait_until(lambda: not upstream.connections_open, "the end of the connections")


def test_a_reset_is_never_sent_again(upstream):
    asked, notes = origin(upstream.url), Notes()
    asked.send(resource(), notes, soon(30))
    upstream.default(faults.reset_before_a_byte())
    for _ in range(3):
        with pytest.raises(Broken):
            asked.send(resource(), notes, soon(30))
    assert upstream.count() == notes.announced == 4
    assert notes.outcomes == ["answered", "broken", "broken", "broken"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_left_when_nobody_listens(operation):
    notes = Notes()
    with pytest.raises(NotSent):
        origin(refused_url()).send(resource(operation), notes, soon(30))
    assert notes.outcomes == ["not_sent"]


def test_nothing_left_when_the_name_does_not_exist():
    with pytest.raises(NotSent):
        origin(UNKNOWN_NAME_URL).send(resource(), Notes(), soon(30))


def test_a_connect_that_hangs_ends_with_its_limit():
    with Blackhole() as hole:
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(hole.url, connect_s=0.2).send(resource(), Notes(), soon(30))
        assert time.monotonic() - started < 10


def test_a_handshake_that_hangs_ends_with_its_limit_and_nothing_left():
    """A server that accepts and says nothing to TLS: no byte of the request has left."""
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(NotSent):
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        origin(url, connect_s=0.2, first_byte_s=0.2).send(resource(), Notes(), soon(30))


def test_a_deadline_in_the_past_sends_nothing(upstream):
    with pytest.raises(NotSent):
        origin(upstream.url).send(resource(), Notes(), time.monotonic() - 1)
    assert upstream.count() == 0


def test_a_bomb_is_never_unpacked_beyond_the_cap(upstream):
    """300 MiB in 300 kB: refused with little more memory than the cap."""
    upstream.once("/", faults.gzip_bomb(300))
    asked = origin(upstream.url)
    tracemalloc.start()
    try:
        with pytest.raises(Unusable):
            asked.send(resource(), Notes(), soon(30))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 * 1024 * 1024


def test_the_credential_travels_by_header_alone_and_nothing_else_of_ours_does(upstream):
    origin(upstream.url).send(resource(credential="s3cret"), Notes(), soon(30))
    (call,) = upstream.calls
    assert call.header("authorization") == "s3cret"
    assert "s3cret" not in call.target
    assert {name for name, _ in call.headers} <= {
        *("host", "authorization", "accept", "accept-encoding", "user-agent", "connection")
    }


def test_the_report_goes_up_as_json(upstream):
    origin(upstream.url).send(resource("report"), Notes(), soon(30))
    (call,) = upstream.calls
    assert call.method == "POST"
    assert call.header("content-type") == "application/json"
    assert call.body == factories.report_request("ABC1D23")


def test_cookies_never_come_back(upstream):
    asked = origin(upstream.url)
    upstream.default(faults.cookies())
    for _ in range(3):
        asked.send(resource(), Notes(), soon(30))
    assert [call.header("cookie") for call in upstream.calls] == [None] * 3


def test_netrc_and_proxies_of_the_machine_are_ignored(upstream, tmp_path, monkeypatch):
    """A .netrc would replace the credential, a proxy would receive it."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refused_url())
    origin(upstream.url).send(resource(credential="mine"), Notes(), soon(30))
    (call,) = upstream.calls
    assert call.header("authorization") == "mine"


def test_a_redirect_is_not_followed_with_the_credential(upstream, secondary):
    upstream.once("/", faults.redirect(secondary.url + "/detran/v1/decode/ABC1D23"))
    with pytest.raises(Unusable):
        origin(upstream.url).send(resource(), Notes(), soon(30))
    assert secondary.count() == 0


def test_retry_after_is_read_and_never_slept(upstream):
    upstream.once("/", faults.status(429, retry_after="3600"))
    started = time.monotonic()
    response = origin(upstream.url).send(resource(), Notes(), soon(30))
    assert response.retry_after_s == 3600
    assert time.monotonic() - started < 10


def test_an_undecodable_body_does_not_hide_a_pause(upstream):
    upstream.once("/", faults.status_in_bad_gzip(429, retry_after="7"))
    response = origin(upstream.url).send(resource(), Notes(), soon(30))
    assert (response.status, response.retry_after_s) == (429, 7)


def test_a_late_answer_after_an_interim_response_reaches_its_own_caller(upstream):
    """Read as the next call's answer, it would show one vehicle's fines as another's."""
    asked = origin(upstream.url)
    upstream.once("/", faults.interim(0.4))
    first = asked.send(resource("renainf", "AAA1A11"), Notes(), soon(30))
    upstream.once("/", faults.answer("own", factories.renainf_body()))
    second = asked.send(resource("renainf", "BBB2B22"), Notes(), soon(30))
    assert first.body != second.body == factories.renainf_body()


def test_interim_responses_without_end_end_with_the_wait_for_the_headers(upstream):
    def play(wire, call):
        while True:
            wire.send(b"HTTP/1.1 102 Processing\r\n\r\n")
            wire.pause(0.02)

    upstream.once("/", Fault("endless interim", play))
    with pytest.raises((TimedOut, Unusable)):
        origin(upstream.url, first_byte_s=0.3).send(resource(), Notes(), soon(30))


def test_an_early_answer_is_read_although_the_request_was_not(upstream):
    """A server may refuse a report before it has read its body (RFC 9112 §9.5)."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse():
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"HTTP/1.1 429 Busy\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n")
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass

        refusing = threading.Thread(target=refuse)
        refusing.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        response = origin(url).send(resource("report"), Notes(), soon(30))
        refusing.join(20)
    assert (response.status, response.retry_after_s) == (429, 3)


def test_retry_after_may_be_a_date(upstream):
    """RFC 9110 §10.2.3."""
    at = formatdate(time.time() + 1000, usegmt=True)
    upstream.once("/", faults.status(429, retry_after=at))
    waits_s = origin(upstream.url).send(resource(), Notes(), soon(30)).retry_after_s
    assert 900 < waits_s <= 1000


def test_a_retry_after_in_the_past_is_over(upstream):
    upstream.once("/", faults.status(429, retry_after="Sun, 06 Nov 1994 08:49:37 GMT"))
    assert origin(upstream.url).send(resource(), Notes(), soon(30)).retry_after_s == 0


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "²", "9" * 50, "Sun, 99 Nov 1994 08:49:37"])
def test_a_retry_after_that_is_neither_seconds_nor_a_date_is_none(upstream, text):
    upstream.once("/", faults.answer("429", b"{}", 429, headers=[("Retry-After", text)]))
    assert origin(upstream.url).send(resource(), Notes(), soon(30)).retry_after_s is None


def test_a_base_address_may_have_a_path():
    with FaultUpstream(base_path="/dados/v9") as under:
        assert origin(under.url).send(resource(), Notes(), soon(30)).status == 200
        (call,) = under.calls
        assert call.target == "/dados/v9/detran/v1/decode/ABC1D23"


def test_a_refusing_account_means_that_nothing_leaves(upstream):
    class Refused(Exception):
        pass

    class Refusing(Notes):
        def announce(self, origin: str):
            raise Refused

    with pytest.raises(Refused):
        origin(upstream.url).send(resource(), Refusing(), soon(30))
    assert upstream.count() == 0
