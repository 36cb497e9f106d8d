"""One base address: every fault of the matrix becomes one of our errors, within its time."""

import socket
import time
import tracemalloc

import pytest

from portal.upstream import (
    Broken,
    CircuitOpen,
    NotSent,
    TimedOut,
    Uncertain,
    Unusable,
)
from tests import factories
from tests.fakes import UNKNOWN_NAME_URL, Blackhole, FaultUpstream, faults, refused_url
from tests.fakes.answers import OPERATIONS
from tests.fakes.matrix import BROKEN, GOOD, REFUSED, SLOW, Row
from tests.upstream.asking import Notes, origin, resource, soon

CHARGED = {"maybe": Uncertain, "charged": Unusable}


@pytest.mark.parametrize(
    ("row", "operation"),
    [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in BROKEN
        for operation in row.operations
    ],
)
def test_a_broken_answer_raises_by_its_charge_class_and_the_next_call_is_clean(
    upstream, row: Row, operation
):
    """Nothing of a fault stays behind in a connection."""
    asked, notes = origin(upstream.url), Notes()
    upstream.once("/", row.fault)
    with pytest.raises(CHARGED[row.charge]):
        asked.send(resource(operation), notes, soon(5))
    assert asked.send(resource(operation), notes, soon(5)).status == 200
    assert notes.outcomes[1] == "answered"
    assert notes.outcomes[0] not in ("answered", "not_sent")
    assert upstream.count() == notes.announced == 2


@pytest.mark.parametrize("row", SLOW, ids=str)
def test_a_slow_answer_ends_with_the_deadline_and_the_next_call_is_clean(upstream, row: Row):
    """A peer that drips byte by byte outlasts a timeout per read, never the deadline."""
    asked, notes = origin(upstream.url, first_byte_s=0.2), Notes()
    upstream.once("/", row.fault)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        asked.send(resource(), notes, soon(0.4))
    assert time.monotonic() - started < 2
    assert notes.outcomes == ["timed_out"]
    assert asked.send(resource(), notes, soon(5)).status == 200


def test_slow_headers_end_with_their_own_limit_long_before_the_deadline(upstream):
    """The wait for the headers is one limit for all of them, not one a byte."""
    upstream.once("/", faults.slow_headers(0.01))
    started = time.monotonic()
    with pytest.raises(TimedOut):
        origin(upstream.url, connect_s=0.2, first_byte_s=0.2).send(resource(), Notes(), soon(30))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("row", "operation"),
    [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in GOOD
        for operation in row.operations
    ],
)
def test_an_odd_answer_is_an_answer_and_comes_byte_for_byte(upstream, row: Row, operation):
    asked, notes = origin(upstream.url), Notes()
    upstream.once("/", row.fault)
    response = asked.send(resource(operation), notes, soon(5))
    assert response.status == 200
    if row.name in ("good", "stale keep-alive", "chunked", "gzipped", "cookies"):
        assert response.body == asked.send(resource(operation), notes, soon(5)).body
    assert set(notes.outcomes) <= {"answered", "stale_connection"}


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_a_4xx_is_an_answer(upstream, row: Row):
    upstream.once("/", row.fault)
    notes = Notes()
    response = origin(upstream.url).send(resource(), notes, soon(5))
    assert 400 <= response.status < 500
    assert notes.sends == [("primary", "answered", response.status)]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_connection_closed_while_idle_costs_nothing(upstream, operation):
    """GET: once more on a fresh connection, and the send that nobody read is no call. POST never
    travels on a used connection, because a close in mid-send could not be told from a charge."""
    asked, notes = origin(upstream.url), Notes()
    upstream.script("/", faults.stale_keep_alive())
    for _ in range(3):
        assert asked.send(resource(operation), notes, soon(5)).status == 200
    assert upstream.count() == 3
    assert notes.outcomes.count("answered") == 3
    assert set(notes.outcomes) <= {"answered", "stale_connection"}
    assert notes.announced == len(notes.sends)


def test_when_the_fresh_connection_dies_too_both_sends_are_told_and_nothing_is_tried_again(
    upstream,
):
    """An outage, not an idle connection's end: later calls are sent once each."""
    asked, notes = origin(upstream.url), Notes()
    asked.send(resource(), notes, soon(5))
    upstream.default(faults.reset_before_a_byte())
    with pytest.raises(Broken):
        asked.send(resource(), notes, soon(5))
    assert upstream.count() == notes.announced == 3
    assert notes.outcomes == ["answered", "broken", "broken"]
    for _ in range(3):
        with pytest.raises(Broken):
            asked.send(resource(), notes, soon(5))
    assert upstream.count() == notes.announced == 6


def test_connections_are_kept_and_used_again(upstream):
    asked = origin(upstream.url)
    for number in range(8):
        asked.send(resource(plate=f"ABC1D2{number}"), Notes(), soon(5))
    assert upstream.connections_made == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_left_when_nobody_listens(operation):
    notes = Notes()
    with pytest.raises(NotSent):
        origin(refused_url()).send(resource(operation), notes, soon(5))
    assert notes.outcomes == ["not_sent"]


def test_nothing_left_when_the_name_does_not_exist():
    with pytest.raises(NotSent):
        origin(UNKNOWN_NAME_URL).send(resource(), Notes(), soon(5))


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
        origin(url, connect_s=0.2, first_byte_s=0.2).send(resource(), Notes(), soon(5))


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
    origin(upstream.url).send(resource(credential="s3cret"), Notes(), soon(5))
    (call,) = upstream.calls
    assert call.header("authorization") == "s3cret"
    assert "s3cret" not in call.target
    assert {name for name, _ in call.headers} <= {
        *("host", "authorization", "accept", "accept-encoding", "user-agent", "connection")
    }


def test_the_report_goes_up_as_json(upstream):
    origin(upstream.url).send(resource("report"), Notes(), soon(5))
    (call,) = upstream.calls
    assert call.method == "POST"
    assert call.header("content-type") == "application/json"
    assert call.body == factories.report_request("ABC1D23")


def test_cookies_never_come_back(upstream):
    asked = origin(upstream.url)
    upstream.default(faults.cookies())
    for _ in range(3):
        asked.send(resource(), Notes(), soon(5))
    assert [call.header("cookie") for call in upstream.calls] == [None] * 3


def test_netrc_and_proxies_of_the_machine_are_ignored(upstream, tmp_path, monkeypatch):
    """A .netrc would replace the credential, a proxy would receive it."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refused_url())
    origin(upstream.url).send(resource(credential="mine"), Notes(), soon(5))
    (call,) = upstream.calls
    assert call.header("authorization") == "mine"


def test_a_redirect_is_not_followed_with_the_credential(upstream, secondary):
    upstream.once("/", faults.redirect(secondary.url + "/detran/v1/decode/ABC1D23"))
    with pytest.raises(Unusable):
        origin(upstream.url).send(resource(), Notes(), soon(5))
    assert secondary.count() == 0


def test_retry_after_is_read_and_never_slept(upstream):
    upstream.once("/", faults.status(429, retry_after="3600"))
    started = time.monotonic()
    response = origin(upstream.url).send(resource(), Notes(), soon(30))
    assert response.retry_after_s == 3600
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "²", "9" * 50])
def test_a_retry_after_that_is_no_number_of_seconds_is_none(upstream, text):
    upstream.once("/", faults.answer("429", b"{}", 429, headers=[("Retry-After", text)]))
    assert origin(upstream.url).send(resource(), Notes(), soon(5)).retry_after_s is None


def test_a_base_address_may_have_a_path():
    with FaultUpstream(base_path="/dados/v9") as under:
        assert origin(under.url).send(resource(), Notes(), soon(5)).status == 200
        (call,) = under.calls
        assert call.target == "/dados/v9/detran/v1/decode/ABC1D23"


def test_a_refusing_account_means_that_nothing_leaves(upstream):
    class Refused(Exception):
        pass

    class Refusing(Notes):
        def announce(self, origin: str):
            raise Refused

    with pytest.raises(Refused):
        origin(upstream.url).send(resource(), Refusing(), soon(5))
    assert upstream.count() == 0


class _Refusing(Notes):
    """Announces the first send on a used connection and refuses the one after it."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__()
        self.refusal = refusal

    def announce(self, origin: str):
        if self.announced:
            raise self.refusal
        return super().announce(origin)


@pytest.mark.parametrize(
    ("refusal", "outcome"),
    [(RuntimeError("the limit is spent"), "stale_connection"), (CircuitOpen(5.0), "broken")],
)
def test_a_refused_second_try_closes_the_first_row_by_what_is_known(upstream, refusal, outcome):
    """A limit gives the first call back; an open circuit says that it was no idle end."""
    upstream.default(faults.stale_keep_alive())
    here = origin(upstream.url)
    here.send(resource(), Notes(), soon(5))
    notes = _Refusing(refusal)
    with pytest.raises(type(refusal)):
        here.send(resource(plate="ABC1D24"), notes, soon(5))
    assert notes.outcomes == [outcome]
