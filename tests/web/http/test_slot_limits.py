"""Stalled request bodies do not block other senders or other requests."""

import re
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest
from werkzeug.exceptions import ServiceUnavailable

from portal.web.http.slot_limits import (
    MAX_FORMS,
    MAX_FORMS_PER_NETWORK,
    MAX_JSON_BODIES,
    MAX_JSON_BODIES_PER_SENDER,
    MAX_REFUSED,
    MAX_REFUSED_PER_NETWORK,
    MAX_STREAMS,
    MAX_STREAMS_PER_SENDER,
    SlotLimiter,
    SlotLimits,
)
from tests import factories
from tests.fakes import FaultUpstream
from tests.fakes.in_process import managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess
from tests.web.json_paths import PLATE

THREADS = 600
REPORT = "/detran/v1/analytical-reports"
ONE, OTHER = "the-one-token", "the-other-token"
HOLDER, STRANGER = "192.0.2.1", "198.51.100.7"
CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')


def test_full_limiter_rejects_until_a_slot_is_free() -> None:
    limiter = SlotLimiter(2, 2)
    with limiter.slot("a"), limiter.slot("b"):
        for sender in ("a", "b", "c"):
            with pytest.raises(ServiceUnavailable) as refused, limiter.slot(sender):
                pass
            assert refused.value.retry_after == 1
    with limiter.slot("c"):
        pass


def test_one_sender_cannot_take_all_slots() -> None:
    limiter = SlotLimiter(4, 2)
    with limiter.slot("a"), limiter.slot("a"):
        with pytest.raises(ServiceUnavailable), limiter.slot("a"):
            pass
        with limiter.slot("b"), limiter.slot("b"):
            pass
    with limiter.slot("a"), limiter.slot("a"):
        pass


def test_aborted_body_releases_its_slot() -> None:
    limiter = SlotLimiter(1, 1)
    with pytest.raises(ConnectionError), limiter.slot("a"):
        raise ConnectionError
    with limiter.slot("a"):
        pass


@pytest.mark.parametrize("threads", [4, 5, 8, 16, 72, THREADS])
def test_limits_leave_threads_for_other_requests(threads: int) -> None:
    limits = SlotLimits.of(threads)
    assert sum(total for total, _ in limits) < threads
    needed = [limits.forms, limits.json_bodies, limits.streams, *[limits.refused][: threads - 4]]
    assert all(1 <= per_sender <= total for total, per_sender in needed)


def test_limits_of_all_threads() -> None:
    assert SlotLimits.of(THREADS) == (
        (MAX_FORMS, MAX_FORMS_PER_NETWORK),
        (MAX_JSON_BODIES, MAX_JSON_BODIES_PER_SENDER),
        (MAX_REFUSED, MAX_REFUSED_PER_NETWORK),
        (MAX_STREAMS, MAX_STREAMS_PER_SENDER),
    )
    assert MAX_FORMS_PER_NETWORK < MAX_FORMS
    assert MAX_JSON_BODIES_PER_SENDER < MAX_JSON_BODIES
    assert MAX_REFUSED_PER_NETWORK < MAX_REFUSED


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def proxied() -> Iterator[PortalProcess]:
    """A portal behind one proxy; the tests act as that proxy and set X-Forwarded-For."""
    with FaultUpstream() as upstream:
        env = managed(upstream.url) | {
            "PORTAL_ACCESS_TOKENS": f"{ONE},{OTHER}",
            "PORTAL_TRUSTED_PROXIES": "1",
        }
        with PortalProcess(env, workers=1) as running:
            yield running


@contextmanager
def stalled(portal: PortalProcess, count: int, held: int, lines: Sequence[str]) -> Iterator[None]:
    """Open ``count`` requests with stalled bodies; the server keeps ``held`` open.

    The block starts when the server has answered the other requests with 503.
    """
    head = "\r\n".join([*lines, "Host: portal", "Content-Length: 1000", "", "t"]).encode()
    with ExitStack() as sockets:
        waiting = []
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", portal.port), timeout=10)
            waiting.append(sockets.enter_context(one))
            one.sendall(head)
        deadline = time.monotonic() + 30
        while len(waiting) > held and time.monotonic() < deadline:
            for one in select.select(waiting, [], [], 1)[0]:
                assert one.recv(65_536).startswith(b"HTTP/1.1 503 ")
                waiting.remove(one)
        assert len(waiting) == held
        yield
        assert not select.select(waiting, [], [], 0)[0], "a stalled request was answered"


def form_lines(portal: PortalProcess, *more: str) -> list[str]:
    cookie = portal.get("/entrar").headers["Set-Cookie"].split(";")[0]
    kind = "Content-Type: application/x-www-form-urlencoded"
    return ["POST /entrar HTTP/1.1", f"Cookie: {cookie}", kind, *more]


def request_report(portal: PortalProcess, token: str, **headers: str) -> int:
    headers = {"Authorization": token, "Content-Type": "application/json", **headers}
    body = factories.report_request(PLATE, {"n": time.monotonic_ns()})
    return portal.post(REPORT, data=body, headers=headers, timeout=30).status_code


def sign_in(portal: PortalProcess, token: str, **headers: str) -> int:
    page = portal.get("/entrar", headers=headers, timeout=30)
    found = CSRF.search(page.text)
    assert found is not None
    form = {"token": token, "csrf_token": found[1], "next": "/"}
    headers |= {"Cookie": page.headers["Set-Cookie"].split(";")[0]}
    return portal.post("/entrar", data=form, headers=headers, timeout=30).status_code


@pytest.mark.slow
def test_stalled_sign_in_forms_do_not_block_reports_or_pages(portal: PortalProcess) -> None:
    with stalled(portal, 100, MAX_FORMS_PER_NETWORK, form_lines(portal)):
        for _ in range(3):
            assert request_report(portal, "demo") == 200
            assert portal.get(f"/placa/{PLATE}?completo=1", timeout=30).status_code == 200
        assert sign_in(portal, "demo") == 503  # from the same network as the stalled forms
    wait_until(lambda: sign_in(portal, "demo") == 303, "the release of the upload slots")


@pytest.mark.slow
def test_stalled_forms_block_sign_ins_of_their_network_only(
    proxied: PortalProcess,
) -> None:
    lines = form_lines(proxied, f"X-Forwarded-For: {HOLDER}")
    with stalled(proxied, 100, MAX_FORMS_PER_NETWORK, lines):
        assert sign_in(proxied, ONE, **{"X-Forwarded-For": HOLDER}) == 503
        assert sign_in(proxied, ONE, **{"X-Forwarded-For": STRANGER}) == 303
        assert request_report(proxied, ONE, **{"X-Forwarded-For": HOLDER}) == 200


@pytest.mark.slow
def test_stalled_forms_of_an_ipv6_64_share_its_slots(proxied: PortalProcess) -> None:
    lines = form_lines(proxied, "X-Forwarded-For: 2001:db8:1:2::7")
    with stalled(proxied, MAX_FORMS_PER_NETWORK + 1, MAX_FORMS_PER_NETWORK, lines):
        assert sign_in(proxied, ONE, **{"X-Forwarded-For": "2001:db8:1:2:9::1"}) == 503
        assert sign_in(proxied, ONE, **{"X-Forwarded-For": "2001:db8:1:3::1"}) == 303


@pytest.mark.slow
def test_stalled_reports_of_one_token_do_not_block_another(proxied: PortalProcess) -> None:
    lines = [f"POST {REPORT} HTTP/1.1", f"Authorization: {ONE}", "Content-Type: application/json"]
    with stalled(proxied, MAX_JSON_BODIES_PER_SENDER + 10, MAX_JSON_BODIES_PER_SENDER, lines):
        assert request_report(proxied, ONE) == 503
        assert request_report(proxied, OTHER) == 200
        assert sign_in(proxied, ONE) == 303


@pytest.mark.slow
def test_more_stalled_forms_than_threads_block_no_other_request(portal: PortalProcess) -> None:
    head = "\r\n".join([*form_lines(portal), "Host: portal", "Content-Length: 1000", "", "t"])
    held: list[socket.socket] = []
    lock = threading.Lock()

    def hold() -> None:
        for _ in range(100):
            one = socket.create_connection(("127.0.0.1", portal.port), timeout=10)
            one.sendall(head.encode())
            with lock:
                held.append(one)

    holders = [threading.Thread(target=hold) for _ in range(7)]
    for holder in holders:
        holder.start()
    for holder in holders:
        holder.join()
    try:
        assert len(held) == 700 > THREADS
        for _ in range(20):
            assert portal.get("/healthz", timeout=10).status_code == 200
            assert portal.get("/detran/v1/decode/ABC1D23?at=demo", timeout=10).status_code == 200
    finally:
        for each in held:
            each.close()
