"""``python -m portal.sandbox`` on a real socket."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import requests

from portal.sandbox.example_plates import EXAMPLE_PLATES
from tests.sandbox.requests import DEMO

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def started(port: int | str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "portal.sandbox"],
        cwd=CHECKOUT,
        env={**os.environ, "HOST": "127.0.0.1", "PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_until_open(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the server never listened")


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    port = free_port()
    process = started(port)
    try:
        wait_until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=120)


def send(url: str, method: str = "GET", **options: object) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        options.setdefault("headers", DEMO)
        return session.request(method, url, timeout=20, **options)  # type: ignore[arg-type]


def test_server_answers_over_a_socket(base: str) -> None:
    reply = send(f"{base}/detran/v1/decode/abc1d23")
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "application/json; charset=utf-8"
    assert reply.json()["result"]["placa"] == "ABC1D23"
    assert send(f"{base}/detran/v1/decode/abc1d23", headers={}).status_code == 401
    assert send(f"{base}/detran/v1/decode/abc1d23?at=demo", headers={}).content == reply.content
    assert send(f"{base}/detran/v1/decode/%C3%9FBC1234").status_code == 400


def test_server_writes_reports(base: str) -> None:
    reply = send(
        f"{base}/detran/v1/analytical-reports",
        "POST",
        json={"plate": "ABC1D23", "data": {"leilao": True}},
    )
    assert reply.json()["result"]["topicos"]["leilao"].startswith("⚠️")


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "POST"])
def test_other_methods_are_405(base: str, method: str) -> None:
    reply = send(f"{base}/detran/v1/decode/ABC1D23", method)
    assert reply.status_code == 405
    assert reply.headers["Allow"] == "GET"


def test_large_body_is_413(base: str) -> None:
    body = json.dumps({"plate": "ABC1D23", "data": {"x": "y" * 300_000}})
    reply = send(f"{base}/detran/v1/analytical-reports", "POST", data=body.encode())
    assert reply.status_code == 413
    assert reply.json()["message"]


def test_secondary_has_its_own_base_address(base: str) -> None:
    path = "detran/v1/decode/FOR0A01"
    assert send(f"{base}/{path}").status_code == 503
    assert send(f"{base}/secundario/{path}").status_code == 200
    for prefix in ("", "/secundario"):
        assert send(f"{base}{prefix}/detran/v1/decode/FOR0A02").status_code == 503
    assert send(f"{base}/secundarioX/{path}").status_code == 404


def test_truncated_body_is_framed_correctly(base: str) -> None:
    reply = send(f"{base}/detran/v1/decode/COR0A50")
    assert (reply.status_code, len(reply.content)) == (200, int(reply.headers["Content-Length"]))
    with pytest.raises(ValueError):
        reply.json()


def test_hung_requests_do_not_block_others(base: str) -> None:
    host, port = base.removeprefix("http://").split(":")
    hung = [socket.create_connection((host, int(port))) for _ in range(20)]
    try:
        for connection in hung:
            connection.sendall(
                b"GET /detran/v1/decode/PAR0A30?at=demo HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
        assert send(f"{base}/detran/v1/decode/ABC1D23").status_code == 200
        for connection in hung:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
    finally:
        for connection in hung:
            connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_the_server_during_a_hung_request(number: signal.Signals) -> None:
    port = free_port()
    process = started(port)
    try:
        wait_until_open(port)
        url = f"http://127.0.0.1:{port}/detran/v1/decode/PAR0A30"

        def hang() -> None:
            with pytest.raises(requests.ConnectionError):
                send(url)

        waiting = Thread(target=hang)
        waiting.start()
        time.sleep(0.3)
        process.send_signal(number)
        assert process.wait(timeout=60) == 0
        waiting.join(timeout=60)
        assert not waiting.is_alive()
    finally:
        process.kill()
        process.communicate(timeout=60)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "portal.sandbox", *words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_help_explains_address_token_and_plates() -> None:
    shown = run("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("Usage: python -m portal.sandbox")
    for word in ("HOST", "PORT", "9000", "demo", "/secundario", "--help"):
        assert word in shown.stdout
    lines = [line.split(None, 1) for line in shown.stdout.splitlines()]
    assert all([each.plate, each.title] in lines for each in EXAMPLE_PLATES)


def test_unknown_word_exits_2_and_serves_nothing() -> None:
    refused = run("--port", "9000")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--port" in refused.stderr


@pytest.mark.parametrize("port", ["http", "0", "70000", "-1"])
def test_invalid_port_stops_the_start_with_one_line(port: str) -> None:
    process = started(port)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert output.count("\n") == 1
    assert "PORT" in output


def test_start_prints_one_line_with_address_and_token() -> None:
    port = free_port()
    process = started(port)
    try:
        wait_until_open(port)
    finally:
        process.terminate()
        output, _ = process.communicate(timeout=120)
    assert output.count("\n") == 1, output
    assert all(word in output for word in (f"http://127.0.0.1:{port}", "demo", "fictícios"))
    assert process.returncode == 0


def test_port_in_use_stops_the_start_with_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = started(taken.getsockname()[1])
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert output.count("\n") == 1
    assert "Não é possível atender" in output


def test_worker_exits_after_the_server_is_killed() -> None:
    port = free_port()
    process = started(port)
    try:
        wait_until_open(port)
    finally:
        process.kill()
        process.communicate(timeout=120)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return
        time.sleep(0.1)
    pytest.fail("a worker still listens")
