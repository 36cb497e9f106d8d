"""A client with a refused body gets the answer, even if it sends before it reads."""

import io
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from portal.web.http.refused_bodies import MAX_BYTES, MAX_S, RefusedBodies
from portal.web.http.slot_limits import SlotLimiter
from tests.fakes import Clock
from tests.fakes.processes import PortalProcess

REPORT = "/detran/v1/analytical-reports"
MEGABYTE = 1024 * 1024
ATTEMPTS = 5  # even without the discarding of bodies, a single attempt may succeed
PATIENCE_S = 60.0

AUTHORISED = ("Authorization: demo", "Content-Type: application/json")
FORM = ("Content-Type: application/x-www-form-urlencoded",)


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def connected(portal: PortalProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", portal.port), timeout=PATIENCE_S)


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: portal", *lines, "", ""]).encode()


def length(size: int) -> str:
    return f"Content-Length: {size}"


def received(wire: socket.socket) -> bytes:
    """Return all bytes until the server closes; a reset raises ConnectionResetError."""
    found = b""
    while part := wire.recv(65_536):
        found += part
    return found


def is_complete(answer: bytes) -> bool:
    lines, _, body = answer.partition(b"\r\n\r\n")
    return f"content-length: {len(body)}".encode() in lines.lower()


def sent_then_read(portal: PortalProcess, request: bytes, body: bytes) -> bytes:
    """Send the whole request, then read until the server closes the connection."""
    with connected(portal) as wire:
        wire.sendall(request)
        wire.sendall(body)
        return received(wire)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "lines", "status"),
    [
        ("POST", REPORT, AUTHORISED, 413),
        ("POST", REPORT, (), 401),
        ("POST", "/detran/v1/decode/ABC1D23", (), 405),
        ("PUT", "/placa/ABC1D23", (), 405),
        ("POST", "/detran/v1/nothing", (), 404),
        ("POST", "/nothing", (), 404),
        ("POST", "/entrar", FORM, 400),
    ],
)
@pytest.mark.parametrize("size", [300_000, 5 * MEGABYTE, MAX_BYTES])
def test_refused_body_is_answered(
    portal: PortalProcess, method: str, path: str, lines: tuple[str, ...], status: int, size: int
) -> None:
    for _ in range(ATTEMPTS):
        answer = sent_then_read(portal, head(method, path, *lines, length(size)), bytes(size))
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert is_complete(answer)
        assert b"connection: close" in answer.lower()


@pytest.mark.slow
def test_refused_chunked_body_is_answered(portal: PortalProcess) -> None:
    chunks = (b"10000\r\n" + bytes(0x10000) + b"\r\n") * 80 + b"0\r\n\r\n"
    for lines, status in ((AUTHORISED, 413), ((), 401)):
        request = head("POST", REPORT, *lines, "Transfer-Encoding: chunked")
        answer = sent_then_read(portal, request, chunks)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert is_complete(answer)


@pytest.mark.slow
def test_kept_connection_is_answered_until_the_refused_body(portal: PortalProcess) -> None:
    with connected(portal) as wire:
        for _ in range(2):
            wire.sendall(head("GET", "/detran/v1/decode/ABC1D23", "Authorization: demo"))
            answer = b""
            while not is_complete(answer):
                answer += wire.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200 ")
        wire.sendall(head("POST", REPORT, *AUTHORISED, length(5 * MEGABYTE)))
        wire.sendall(bytes(5 * MEGABYTE))
        answer = received(wire)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.slow
def test_refused_body_hides_no_second_request(portal: PortalProcess) -> None:
    body = head("GET", "/healthz")
    answer = sent_then_read(portal, head("POST", "/nothing", length(len(body))), body * 2)
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.slow
def test_expect_is_answered_without_the_body(portal: PortalProcess) -> None:
    lines = (*AUTHORISED, length(5 * MEGABYTE), "Expect: 100-continue")
    answer = sent_then_read(portal, head("POST", REPORT, *lines), b"")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert is_complete(answer)


@pytest.mark.slow
def test_answer_does_not_wait_for_the_body(portal: PortalProcess) -> None:
    with connected(portal) as wire:
        wire.sendall(head("POST", "/nothing", length(5 * MEGABYTE)) + b"x")
        answer = b""
        while not is_complete(answer):
            answer += wire.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 404 ")


@pytest.mark.slow
def test_slow_sender_is_cut_off(portal: PortalProcess) -> None:
    """The server cuts off a client that still sends slowly after the time limit."""
    with connected(portal) as wire:
        wire.sendall(head("POST", "/nothing", length(MAX_BYTES)))
        ends_at, sent = time.monotonic() + PATIENCE_S, 0
        with pytest.raises(ConnectionError):
            while time.monotonic() < ends_at and sent < MAX_BYTES:
                wire.sendall(bytes(20_000))
                sent += 20_000
                time.sleep(0.05)
        assert sent < MAX_BYTES


@pytest.mark.slow
def test_stalled_senders_block_neither_answers_nor_a_stop() -> None:
    # A worker that hangs is killed only after this deadline, and ``stop`` fails earlier.
    patient = {"PORTAL_DEADLINE": "110"}
    with PortalProcess(patient, workers=1) as portal, ExitStack() as open_wires:
        for _ in range(100):
            wire = open_wires.enter_context(connected(portal))
            wire.sendall(head("POST", "/nothing", length(5 * MEGABYTE)) + b"x")
            assert wire.recv(65_536).startswith(b"HTTP/1.1 404 ")
        for _ in range(20):
            assert portal.get("/healthz", timeout=PATIENCE_S).status_code == 200
            report = portal.post(REPORT, json={"plate": "ABC1D23"}, timeout=PATIENCE_S)
            assert report.status_code == 401
        time.sleep(MAX_S)  # a body reader past its time limit must not block the stop
        assert portal.stop() == 0


class Stream:
    """A body that arrives in parts of 1 KiB, a second apart."""

    def __init__(self, clock: Clock, size: int) -> None:
        self._clock = clock
        self.remaining = size

    def read(self, size: int) -> bytes:
        self._clock.advance(1)
        part = min(size, 1024, self.remaining)
        self.remaining -= part
        return bytes(part)


def answered(middleware: RefusedBodies, environ: dict[str, Any]) -> bytes:
    return b"".join(middleware(environ, lambda *_: lambda _: None))


def refusing(status: str, clock: Clock, limiter: SlotLimiter | None = None) -> RefusedBodies:
    def application(environ: Any, start_response: Any) -> Any:
        start_response(status, [])
        return io.BytesIO(b"the answer")

    return RefusedBodies(application, limiter or SlotLimiter(1, 1), clock.now)


@pytest.mark.parametrize(
    ("status", "more", "read"),
    [
        ("413 Content Too Large", {"CONTENT_LENGTH": "3000"}, 3000),
        ("500 Internal Server Error", {"HTTP_TRANSFER_ENCODING": "chunked"}, 3000),
        ("200 OK", {"CONTENT_LENGTH": "3000"}, 0),
        ("303 See Other", {"CONTENT_LENGTH": "3000"}, 0),
        ("413 Content Too Large", {"CONTENT_LENGTH": str(MAX_BYTES + 1)}, 0),
        ("413 Content Too Large", {"CONTENT_LENGTH": "3000", "HTTP_EXPECT": "100-continue"}, 0),
        ("401 Unauthorized", {}, 0),
        ("401 Unauthorized", {"CONTENT_LENGTH": ""}, 0),
    ],
)
def test_bodies_that_are_discarded(
    clock: Clock, status: str, more: dict[str, str], read: int
) -> None:
    stream = Stream(clock, 3000)
    assert answered(refusing(status, clock), {"wsgi.input": stream, **more}) == b"the answer"
    assert stream.remaining == 3000 - read


def test_discarding_ends_at_the_time_limit(clock: Clock) -> None:
    stream = Stream(clock, 1_000_000)
    answered(refusing("413", clock), {"wsgi.input": stream, "CONTENT_LENGTH": "1000000"})
    assert stream.remaining == 1_000_000 - MAX_S * 1024


def test_discarding_ends_at_the_limit_of_bytes() -> None:
    class Endless(Stream):
        def read(self, size: int) -> bytes:
            self.remaining -= size
            return bytes(size)

    clock = Clock()
    stream = Endless(clock, 0)
    answered(refusing("413", clock), {"wsgi.input": stream, "HTTP_TRANSFER_ENCODING": "chunked"})
    assert stream.remaining == -MAX_BYTES


def test_full_limiter_leaves_the_body_unread(clock: Clock) -> None:
    limiter = SlotLimiter(1, 1)
    middleware = refusing("413", clock, limiter)
    environ = {"CONTENT_LENGTH": "3000", "REMOTE_ADDR": "192.0.2.1"}
    with limiter.slot("another"):
        stream = Stream(clock, 3000)
        assert answered(middleware, {**environ, "wsgi.input": stream}) == b"the answer"
        assert stream.remaining == 3000
    answered(middleware, {**environ, "wsgi.input": stream})
    assert stream.remaining == 0


def test_senders_of_one_network_share_its_readers(clock: Clock) -> None:
    limiter = SlotLimiter(2, 1)
    middleware = refusing("413", clock, limiter)
    stream = Stream(clock, 3000)
    with limiter.slot("192.0.2.1"):
        environ = {"wsgi.input": stream, "CONTENT_LENGTH": "3000", "REMOTE_ADDR": "192.0.2.1"}
        answered(middleware, environ)
        assert stream.remaining == 3000
        answered(middleware, environ | {"REMOTE_ADDR": "198.51.100.7"})
        assert stream.remaining == 0
