"""The production server: ambiguous framing, half-open sockets, odd credentials."""

import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.fakes import FaultUpstream
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.hostile.smuggling import HIDDEN_PLATE, every_case

PATH = "/detran/v1/decode/ABC1D23"
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})")
CASES = dict(every_case())


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[PortalProcess, FaultUpstream]]:
    with FaultUpstream() as upstream, PortalProcess(managed(upstream.url)) as server:
        yield server, upstream


def exchange(port: int, sent: bytes, patience_s: float = 0.5) -> bytes:
    """Send bytes; return the response until the server closes or is silent."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), 5) as wire:
        wire.sendall(sent)
        wire.settimeout(patience_s)
        with suppress(TimeoutError, ConnectionError):
            while part := wire.recv(65_536):
                received += part
    return received


def test_smuggling_cases_number_at_least_forty() -> None:
    assert len(CASES) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ambiguous_request_is_rejected_or_answered_once(
    running: tuple[PortalProcess, FaultUpstream], name: str
) -> None:
    server, upstream = running
    received = exchange(server.port, CASES[name])
    statuses = [int(each) for each in STATUS_LINE.findall(received)]
    assert len(statuses) <= 1
    assert all(400 <= status < 500 for status in statuses), statuses
    assert b"A3 LM" not in received
    assert not any(HIDDEN_PLATE in call.path for call in upstream.calls)
    assert server.get(PATH, headers={"Authorization": PORTAL_TOKEN}).status_code == 200


@pytest.mark.slow
def test_half_open_connections_do_not_block_requests(
    running: tuple[PortalProcess, FaultUpstream],
) -> None:
    server, _ = running
    with ExitStack() as open_ones:
        for number in range(400):
            wire = open_ones.enter_context(socket.create_connection(("127.0.0.1", server.port), 5))
            wire.sendall(
                b"POST /detran/v1/analytical-reports HTTP/1.1\r\nHost: x\r\nX-Slow: "[: number % 60]
            )
        with ThreadPoolExecutor(10) as pool:
            answers = list(
                pool.map(
                    lambda _: server.get(PATH, headers={"Authorization": PORTAL_TOKEN}, timeout=10),
                    range(50),
                )
            )
    assert [answer.status_code for answer in answers] == [200] * 50


@pytest.mark.slow
@pytest.mark.over_5_s("the connection is idle for 10.5 s")
def test_idle_connection_outlasts_a_poller_of_ten_seconds(
    running: tuple[PortalProcess, FaultUpstream],
) -> None:
    server, _ = running
    wire = HTTPConnection("127.0.0.1", server.port, timeout=5)
    with closing(wire):
        wire.connect()
        connected = wire.sock
        for pause_s in (0, 10.5):
            time.sleep(pause_s)
            wire.request("GET", "/healthz")
            answer = wire.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            assert wire.sock is connected


@pytest.mark.slow
def test_unauthenticated_slow_bodies_hold_no_thread(
    running: tuple[PortalProcess, FaultUpstream],
) -> None:
    """The 401 is sent before the body arrives."""
    server, _ = running
    head = (
        b"POST /detran/v1/analytical-reports HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"
    )
    with socket.create_connection(("127.0.0.1", server.port), 10) as wire:
        wire.sendall(head)
        assert wire.recv(65536).startswith(b"HTTP/1.1 401 ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [
        b"",
        b"Authorization:\r\n",
        b"Authorization: \xc3\xa9\r\n",
        b"Authorization: \xe9\r\n",
        f"Authorization: {PORTAL_TOKEN}\r\nAuthorization: {PORTAL_TOKEN}\r\n".encode(),
        f"Authorization: {PORTAL_TOKEN}\r\nAuthorization: other\r\n".encode(),
        f"Authorization: {PORTAL_TOKEN}, {PORTAL_TOKEN}\r\n".encode(),
        f"Authorization: Bearer {PORTAL_TOKEN}\r\n".encode(),
        b"Authorization: " + b"a" * 8192 + b"\r\n",
        f"Authorization : {PORTAL_TOKEN}\r\n".encode(),
        f"Cookie: at={PORTAL_TOKEN}\r\n".encode(),
        f"Proxy-Authorization: {PORTAL_TOKEN}\r\n".encode(),
    ],
)
def test_malformed_credentials_on_the_wire_are_rejected(
    running: tuple[PortalProcess, FaultUpstream], headers: bytes
) -> None:
    server, upstream = running
    before = upstream.count()
    sent = (
        b"GET /detran/v1/decode/OUT0A00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        + headers
        + b"\r\n"
    )
    (status,) = STATUS_LINE.findall(exchange(server.port, sent, patience_s=60))
    assert status in (b"401", b"400")
    assert upstream.count() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        b"/detran/v1/decode/ABC1D23%0D%0AX-Injected:1",
        b"/buscar?q=%0d%0aSet-Cookie:%20a=b",
        b"/entrar?next=/%0d%0aX-Injected:%201",
        b"/placa/abc1d23?x=%0d%0aX-Injected:1",
        b"/detran/v1/decode/../../../etc/passwd",
        b"/static/../app.py",
        b"/static/..%2f..%2fapp.py",
        b"//evil.example/%2e%2e",
        b"http://evil.example/entrar",
        b"/%ff%fe?%ff",
        b"*",
    ],
)
def test_odd_targets_do_not_split_headers_or_expose_files(
    running: tuple[PortalProcess, FaultUpstream], target: bytes
) -> None:
    server, _ = running
    request = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    received = exchange(server.port, request, patience_s=30)  # the server closes after its response
    head = received.partition(b"\r\n\r\n")[0].lower()
    (status,) = STATUS_LINE.findall(head.upper())
    assert int(status) < 500
    assert b"\r\nx-injected" not in head
    assert b"set-cookie: a=b" not in head
    assert b"location: //" not in head
    assert b"location: http" not in head
    assert b"root:" not in received
    assert b"create_app" not in received


@pytest.mark.slow
def test_netrc_and_proxy_variables_are_ignored(tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login evil password from-netrc\n")
    netrc.chmod(0o600)
    with FaultUpstream() as upstream, FaultUpstream() as proxy:
        names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        hostile = dict.fromkeys(names, proxy.url)
        hostile |= {"HOME": str(tmp_path), "NETRC": str(netrc), "no_proxy": "", "NO_PROXY": ""}
        with PortalProcess(managed(upstream.url) | hostile) as server:
            answer = server.get(PATH, headers={"Authorization": PORTAL_TOKEN})
            assert answer.status_code == 200
        assert proxy.calls == []
        (call,) = upstream.calls
        assert call.header("authorization") == OPERATOR_TOKEN
        assert call.target == PATH
