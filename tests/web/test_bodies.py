"""Slow bodies take few threads: the rest of the portal goes on."""

import socket
import threading
from collections.abc import Iterator

import pytest
from werkzeug.exceptions import ServiceUnavailable

from portal.web.bodies import MOST_AT_ONCE, BodyGate
from tests.fakes.processes import PortalProcess


def test_a_full_gate_sends_the_next_one_away_and_opens_again() -> None:
    gate = BodyGate(1)
    with gate.reading(), pytest.raises(ServiceUnavailable) as refused, gate.reading():
        pass
    assert refused.value.retry_after == 1
    with gate.reading():
        pass


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def test_hundreds_of_bodies_that_never_come_stop_nobody_else(portal: PortalProcess) -> None:
    cookie = portal.get("/entrar").headers["Set-Cookie"].split(";")[0]
    head = (
        "POST /entrar HTTP/1.1\r\nHost: portal\r\n"
        f"Cookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 1000\r\n\r\nt"
    )
    held: list[socket.socket] = []
    lock = threading.Lock()

    def hold() -> None:
        for _ in range(100):
            one = socket.create_connection(("127.0.0.1", portal.port), timeout=10)
            one.sendall(head.encode())
            with lock:
                held.append(one)

    holders = [threading.Thread(target=hold) for _ in range(7)]
    for each in holders:
        each.start()
    for each in holders:
        each.join()
    try:
        assert len(held) == 700 > 600 > MOST_AT_ONCE
        for _ in range(20):
            assert portal.get("/healthz", timeout=10).status_code == 200
            assert portal.get("/detran/v1/decode/ABC1D23?at=demo", timeout=10).status_code == 200
    finally:
        for each in held:
            each.close()
