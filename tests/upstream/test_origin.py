"""Calls to one base address: each simulated fault gives its error in time."""

import socket
import threading
import time
import tracemalloc
from email.utils import formatdate
from pathlib import Path

import pytest
import requests
from requests.adapters import HTTPAdapter

from portal.upstream.errors import (
    Broken,
    NotSent,
    TimedOut,
    Uncertain,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.spares import Spares
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
from tests.fakes.matrix import BROKEN, GOOD, REFUSED, SLOW, Row, by_each_method
from tests.fakes.wire import After, Call, Fault, Wire
from tests.upstream.lookups import RecordedAttempt, RecordingAccount, deadline_in, origin, resource

# The faults of GOOD that change the answer. All others only wrap it.
CHANGED = ("wrong content type", "nesting", "new field", "missing", "oddly", "empty", "own", "body")
CHARGED = {"maybe": Uncertain, "charged": Unusable}


@pytest.mark.parametrize(
    ("row", "operation", "upstream"), by_each_method(BROKEN), indirect=["upstream"]
)
def test_broken_answer_raises_error_of_its_charge_class(
    upstream: FaultUpstream, row: Row, operation: str
) -> None:
    """A fault must not affect the next call."""
    client, account = origin(upstream.url), RecordingAccount()
    upstream.once("/", row.fault)
    with pytest.raises(CHARGED[row.charge]):
        client.send(resource(operation), account, deadline_in(30))
    assert client.send(resource(operation), account, deadline_in(30)).status == 200
    assert account.outcomes[1] == "answered"
    assert account.outcomes[0] not in ("answered", "not_sent")
    assert upstream.count() == account.begun == 2


def test_accepted_request_is_charged_and_no_fault_of_the_address(upstream: FaultUpstream) -> None:
    client, account = origin(upstream.url), RecordingAccount()
    upstream.once("/", faults.accepted())
    with pytest.raises(Unfit) as raised:
        client.send(resource(), account, deadline_in(30))
    assert raised.value.may_differ
    assert account.outcomes == ["unusable"]


@pytest.mark.parametrize("row", SLOW, ids=str)
def test_slow_answer_ends_at_deadline(upstream: FaultUpstream, row: Row) -> None:
    """A server that sends byte by byte never exceeds a timeout per read."""
    client, account = origin(upstream.url), RecordingAccount()
    upstream.once("/", row.fault)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        client.send(resource(), account, deadline_in(0.5))
    assert time.monotonic() - started < 10
    assert account.outcomes == ["timed_out"]
    upstream.clear()  # an upstream that has not read the request keeps the fault
    assert client.send(resource(), account, deadline_in(30)).status == 200


def test_slow_headers_end_at_first_byte_timeout(upstream: FaultUpstream) -> None:
    """The time-out covers the complete headers, not each byte."""
    upstream.once("/", faults.slow_headers(0.01))
    started = time.monotonic()
    with pytest.raises(TimedOut):
        origin(upstream.url, first_byte_s=0.2).send(resource(), RecordingAccount(), deadline_in(60))
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("row", "operation", "upstream"), by_each_method(GOOD), indirect=["upstream"]
)
def test_unusual_valid_answer_is_returned_unchanged(
    upstream: FaultUpstream, row: Row, operation: str
) -> None:
    client, account = origin(upstream.url), RecordingAccount()
    upstream.once("/", row.fault)
    response = client.send(resource(operation), account, deadline_in(30))
    assert response.status == 200
    if not row.name.startswith(CHANGED):
        assert response.body == client.send(resource(operation), account, deadline_in(30)).body
    assert set(account.outcomes) == {"answered"}


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_4xx_is_returned_as_answer(upstream: FaultUpstream, row: Row) -> None:
    upstream.once("/", row.fault)
    account = RecordingAccount()
    response = origin(upstream.url).send(resource(), account, deadline_in(30))
    assert 400 <= response.status < 500
    assert account.sends == [("primary", "answered", response.status)]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_call_has_its_own_connection(upstream: FaultUpstream, operation: str) -> None:
    """A server that closes a connection after an answer cannot break a call."""
    spares = Spares(1, 15.0)
    client, account = origin(upstream.url, spares=spares), RecordingAccount()
    upstream.script("/", faults.stale_keep_alive())
    for _ in range(3):
        assert client.send(resource(operation), account, deadline_in(30)).status == 200
    assert upstream.connections_made == upstream.count() == 3
    assert account.outcomes == ["answered"] * 3
    wait_until(lambda: upstream.connections_open <= 1, "the end of the used connections")
    spares.close()
    wait_until(lambda: not upstream.connections_open, "the end of the spare connection")


def test_reset_is_not_sent_again(upstream: FaultUpstream) -> None:
    client, account = origin(upstream.url), RecordingAccount()
    client.send(resource(), account, deadline_in(30))
    upstream.default(faults.reset_before_a_byte())
    for _ in range(3):
        with pytest.raises(Broken):
            client.send(resource(), account, deadline_in(30))
    assert upstream.count() == account.begun == 4
    assert account.outcomes == ["answered", "broken", "broken", "broken"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_refused_connect_raises_not_sent(operation: str) -> None:
    account = RecordingAccount()
    with pytest.raises(NotSent):
        origin(refused_url()).send(resource(operation), account, deadline_in(30))
    assert account.outcomes == ["not_sent"]


def test_unknown_host_name_raises_not_sent() -> None:
    with pytest.raises(NotSent):
        origin(UNKNOWN_NAME_URL).send(resource(), RecordingAccount(), deadline_in(30))


def test_hanging_connect_ends_at_connect_timeout() -> None:
    with Blackhole() as hole:
        started = time.monotonic()
        with pytest.raises(NotSent):
            origin(hole.url, connect_s=0.2).send(resource(), RecordingAccount(), deadline_in(30))
        assert time.monotonic() - started < 10


def test_hanging_handshake_raises_not_sent() -> None:
    """The server accepts but sends no TLS record, so no byte of the request is sent."""
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(NotSent):
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        origin(url, connect_s=0.2, first_byte_s=0.2).send(
            resource(), RecordingAccount(), deadline_in(30)
        )


def test_past_deadline_sends_nothing(upstream: FaultUpstream) -> None:
    with pytest.raises(NotSent):
        origin(upstream.url).send(resource(), RecordingAccount(), time.monotonic() - 1)
    assert upstream.count() == 0


def test_gzip_bomb_is_rejected_within_memory_cap(upstream: FaultUpstream) -> None:
    """A 300 kB body that expands to 300 MiB needs little more memory than the cap."""
    upstream.once("/", faults.gzip_bomb(300))
    client = origin(upstream.url)
    tracemalloc.start()
    try:
        with pytest.raises(Unusable):
            client.send(resource(), RecordingAccount(), deadline_in(30))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 * 1024 * 1024


def test_credential_is_sent_by_header_alone(upstream: FaultUpstream) -> None:
    origin(upstream.url).send(resource(credential="s3cret"), RecordingAccount(), deadline_in(30))
    (call,) = upstream.calls
    assert call.header("authorization") == "s3cret"
    assert call.header("host") == upstream.url.partition("//")[2]
    assert "s3cret" not in call.target
    assert {name for name, _ in call.headers} <= {
        *("host", "authorization", "accept", "accept-encoding", "user-agent", "connection")
    }


def test_report_request_is_sent_as_json(upstream: FaultUpstream) -> None:
    origin(upstream.url).send(resource("report"), RecordingAccount(), deadline_in(30))
    (call,) = upstream.calls
    assert call.method == "POST"
    assert call.header("content-type") == "application/json"
    assert call.body == factories.report_request("ABC1D23")


def test_cookies_are_not_sent_back(upstream: FaultUpstream) -> None:
    client = origin(upstream.url)
    upstream.default(faults.cookies())
    for _ in range(3):
        client.send(resource(), RecordingAccount(), deadline_in(30))
    assert [call.header("cookie") for call in upstream.calls] == [None] * 3


def test_netrc_and_proxy_settings_are_ignored(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A .netrc would replace the credential. A proxy would receive the credential."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refused_url())
    origin(upstream.url).send(resource(credential="mine"), RecordingAccount(), deadline_in(30))
    (call,) = upstream.calls
    assert call.header("authorization") == "mine"


def test_redirect_is_not_followed(upstream: FaultUpstream, secondary: FaultUpstream) -> None:
    upstream.once("/", faults.redirect(secondary.url + "/detran/v1/decode/ABC1D23"))
    with pytest.raises(Unusable):
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    assert secondary.count() == 0


def test_retry_after_is_returned_without_sleeping(upstream: FaultUpstream) -> None:
    upstream.once("/", faults.status(429, retry_after="3600"))
    started = time.monotonic()
    response = origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    assert response.retry_after_s == 3600
    assert time.monotonic() - started < 10


def test_undecodable_429_body_keeps_retry_after(upstream: FaultUpstream) -> None:
    upstream.once("/", faults.status_in_bad_gzip(429, retry_after="7"))
    response = origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    assert (response.status, response.retry_after_s) == (429, 7)


def test_late_answer_after_interim_response_is_not_mixed_up(upstream: FaultUpstream) -> None:
    """If the next call read the late answer, it would return another vehicle's fines."""
    client = origin(upstream.url)
    upstream.once("/", faults.interim(0.4))
    first = client.send(resource("renainf", "AAA1A11"), RecordingAccount(), deadline_in(30))
    upstream.once("/", faults.answer("own", factories.renainf_body()))
    second = client.send(resource("renainf", "BBB2B22"), RecordingAccount(), deadline_in(30))
    assert first.body != second.body == factories.renainf_body()


def test_endless_interim_responses_end_at_first_byte_timeout(upstream: FaultUpstream) -> None:
    def play(wire: Wire, call: Call) -> After:
        while True:
            wire.send(b"HTTP/1.1 102 Processing\r\n\r\n")
            wire.pause(0.02)

    upstream.once("/", Fault("endless interim", play))
    with pytest.raises((TimedOut, Unusable)):
        origin(upstream.url, first_byte_s=0.3).send(resource(), RecordingAccount(), deadline_in(30))


def test_early_answer_is_read(upstream: FaultUpstream) -> None:
    """A server may refuse a report before reading the request body (RFC 9112 §9.5)."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"HTTP/1.1 429 Busy\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n")
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass

        refusing = threading.Thread(target=refuse)
        refusing.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        response = origin(url).send(resource("report"), RecordingAccount(), deadline_in(30))
        refusing.join(20)
    assert (response.status, response.retry_after_s) == (429, 3)


def test_retry_after_accepts_http_date(upstream: FaultUpstream) -> None:
    """Retry-After may be a date (RFC 9110 §10.2.3)."""
    at = formatdate(time.time() + 1000, usegmt=True)
    upstream.once("/", faults.status(429, retry_after=at))
    waits_s = (
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30)).retry_after_s
    )
    assert waits_s is not None
    assert 900 < waits_s <= 1000


def test_past_retry_after_date_is_zero(upstream: FaultUpstream) -> None:
    upstream.once("/", faults.status(429, retry_after="Sun, 06 Nov 1994 08:49:37 GMT"))
    assert (
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30)).retry_after_s
        == 0
    )


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "²", "Sun, 99 Nov 1994 08:49:37"])
def test_invalid_retry_after_is_none(upstream: FaultUpstream, text: str) -> None:
    upstream.once("/", faults.answer("429", b"{}", 429, headers=[("Retry-After", text)]))
    assert (
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30)).retry_after_s
        is None
    )


@pytest.mark.upstream
def test_base_address_path_is_prepended() -> None:
    with FaultUpstream(base_path="/dados/v9") as under:
        assert origin(under.url).send(resource(), RecordingAccount(), deadline_in(30)).status == 200
        (call,) = under.calls
        assert call.target == "/dados/v9/detran/v1/decode/ABC1D23"


def test_refusing_account_prevents_send(upstream: FaultUpstream) -> None:
    class Refused(Exception):
        pass

    class Refusing(RecordingAccount):
        def begin(self, origin: str) -> RecordedAttempt:
            raise Refused

    with pytest.raises(Refused):
        origin(upstream.url).send(resource(), Refusing(), deadline_in(30))
    assert upstream.count() == 0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (requests.ConnectionError(ConnectionResetError()), "broken"),
        (requests.exceptions.ChunkedEncodingError(), "broken"),
        (ConnectionResetError(), "broken"),
        (requests.ConnectTimeout(), "timed_out"),
        (NotSent("could not connect"), "not_sent"),
    ],
    ids=str,
)
def test_only_not_sent_says_that_a_transport_sent_nothing(error: Exception, outcome: str) -> None:
    """Adapters of ``requests`` raise ConnectionError for resets after the request was sent."""

    class Adapter(HTTPAdapter):
        def send(self, *_: object, **__: object) -> requests.Response:
            raise error

    account = RecordingAccount()
    with pytest.raises(UpstreamError) as caught:
        origin("http://127.0.0.1", transport=Adapter()).send(resource(), account, deadline_in(30))
    assert caught.value.outcome == outcome
    assert account.outcomes == [outcome]
