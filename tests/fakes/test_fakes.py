"""Tests of the fakes: counting, scripting, addresses and the network guard."""

import http.client
import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from tests import factories
from tests.fakes import (
    UNKNOWN_NAME_URL,
    Blackhole,
    Clock,
    FaultUpstream,
    hanging_names,
    refused_url,
)
from tests.fakes import faults as f
from tests.fakes.answers import OPERATIONS, Operation, path_of
from tests.fakes.plain_client import PlainClient, answered
from tests.fakes.ports import free_port

pytestmark = pytest.mark.long  # tests of what the tests use

PATH = path_of("decode")
CLEAN = factories.decode_body("ABC1D23")


@pytest.fixture
def client(upstream: FaultUpstream) -> Iterator[PlainClient]:
    with PlainClient(upstream) as made:
        yield made


# Clean answers


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_answers_any_subject(client: PlainClient, operation: Operation) -> None:
    response, body = client.ask(operation, "XYZ9A87")
    assert response.status == 200
    word = "DONE" if operation in ("decode", "report") else "SUCCESS"
    assert json.loads(body)["status"] == word


def test_answer_names_the_requested_vehicle(client: PlainClient) -> None:
    assert json.loads(client.ask("decode", "XYZ9A87")[1])["result"]["placa"] == "XYZ9A87"
    assert json.loads(client.ask("renajud", "XYZ9A87")[1])["result"][0]["placa"] == "XYZ9A87"
    by_renavam = json.loads(client.ask("renajud", "12345678910")[1])["result"][0]
    assert (by_renavam["placa"], by_renavam["renavam"]) == ("", "12345678910")


def test_state_code_narrows_the_fines(client: PlainClient) -> None:
    body = client.ask("renainf", uf="SP")[1]
    assert {fine["ufOrgaoAutuador"] for fine in json.loads(body)["result"]} == {"SP"}


def test_unknown_path_is_404(client: PlainClient) -> None:
    client.connection.request("GET", "/detran/v1/decode/ABC1D23/SP")
    assert client.connection.getresponse().status == 404


def test_fields_have_the_order_of_the_contract() -> None:
    assert list(factories.decoded("ABC1D23"))[:3] == ["marca", "descricao", "placa"]
    assert list(factories.decoded("ABC1D23"))[-1] == "informacoesFipe"
    assert list(factories.fine())[:4] == ["cnhCondutor", "cnhInfrator", "pagamento", "autoInfracao"]
    assert list(factories.fine())[-2:] == ["ufOrgaoAutuador", "valor"]
    assert list(factories.restriction())[-2:] == ["detalheRenajud", "constaRenajud"]


def test_price_history_is_consecutive_with_predictions_last() -> None:
    history = factories.price_history(months=30, predicted=3, start=(2023, 11))
    months = [int(point["ano"]) * 12 + int(point["mes"]) for point in history]
    assert all(later == earlier + 1 for earlier, later in pairwise(months))
    assert [point["predicao"] for point in history] == [False] * 27 + [True] * 3


def test_factories_reject_unknown_field() -> None:
    with pytest.raises(TypeError, match="marcas"):
        factories.decode_body("ABC1D23", marcas="AUDI")


# Counting and scripting


def test_call_records_method_path_headers_and_body(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    body = factories.report_request("ABC1D23", {"multas": []})
    client.connection.request(
        "POST", path_of("report") + "?x=1&x=2", body, {"Authorization": "segredo"}
    )
    client.connection.getresponse().read()
    (call,) = upstream.calls
    assert (call.method, call.path, call.body) == ("POST", path_of("report"), body)
    assert call.target.endswith("?x=1&x=2")
    assert call.query == {"x": ["1", "2"]}
    assert call.header("AUTHORIZATION") == "segredo"
    assert call.header("cookie") is None


def test_200_concurrent_calls_are_all_counted_and_answered(upstream: FaultUpstream) -> None:
    gate = threading.Event()
    upstream.default(f.held(gate))

    def ask(number: int) -> int:
        with PlainClient(upstream, 30) as asking:
            return asking.ask(subject=f"AAA{number:04}")[0].status

    with ThreadPoolExecutor(200) as pool:
        asked = [pool.submit(ask, number) for number in range(200)]
        upstream.wait_for_calls(200, 30)
        gate.set()
        assert [one.result(30) for one in asked] == [200] * 200
    assert upstream.count() == 200
    assert upstream.peak == 200
    assert {call.path for call in upstream.calls} == {
        path_of("decode", f"AAA{number:04}") for number in range(200)
    }
    assert sorted(call.number for call in upstream.calls) == list(range(1, 201))


def test_incomplete_request_is_not_counted(upstream: FaultUpstream) -> None:
    with socket.create_connection(("127.0.0.1", upstream.port)) as wire:
        wire.sendall(b"POST /detran/v1/analytical-reports HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}")
    answered(upstream)
    assert [call.method for call in upstream.calls] == ["GET"]


def test_calls_are_counted_by_prefix_and_method(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    for operation in OPERATIONS:
        client.ask(operation)
    assert upstream.count() == 4
    assert upstream.count("/detran/v1/restrictions") == 2
    assert upstream.count(method="POST") == 1
    upstream.forget_calls()
    assert upstream.count() == 0


def test_single_fault_persists_and_several_are_played_in_turn(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.status(503))
    assert [client.ask()[0].status for _ in range(3)] == [503, 503, 503]
    upstream.script(PATH, f.status(500), f.good(), f.status(429, retry_after="7"))
    assert [client.ask()[0].status for _ in range(5)] == [500, 200, 429, 200, 200]
    upstream.once(PATH, f.status(418))
    assert [client.ask()[0].status for _ in range(2)] == [418, 200]


def test_longest_matching_script_answers(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script("/detran/v1/restrictions", f.status(500))
    upstream.script(path_of("renajud"), f.status(402))
    assert client.ask("renainf")[0].status == 500
    assert client.ask("renajud")[0].status == 402
    assert client.ask("decode")[0].status == 200
    upstream.default(f.status(503))
    assert client.ask("decode")[0].status == 503
    upstream.clear()
    assert client.ask("renainf")[0].status == 200


def test_only_the_configured_credential_is_accepted() -> None:
    with FaultUpstream(credential="certo") as up:
        for sent, status in (("certo", 200), ("errado", 401)):
            connection = http.client.HTTPConnection("127.0.0.1", up.port, timeout=5)
            connection.request("GET", PATH, headers={"Authorization": sent})
            assert connection.getresponse().status == status
            connection.close()


def test_upstream_serves_under_a_base_path() -> None:
    with FaultUpstream(base_path="/api/x") as up:
        assert up.url.endswith("/api/x")
        connection = http.client.HTTPConnection("127.0.0.1", up.port, timeout=5)
        connection.request("GET", "/api/x" + PATH)
        assert connection.getresponse().read() == CLEAN
        connection.close()
        assert up.calls[0].path == PATH


def test_stopped_upstream_refuses_and_restarts_on_its_port() -> None:
    up = FaultUpstream().start()
    answered(up)
    up.script(PATH, f.hang())
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(answered, up)
        up.wait_for_calls(2)
        up.stop()
        with pytest.raises(OSError):
            hanging.result(10)
    with pytest.raises(ConnectionRefusedError):
        answered(up)
    up.clear()
    with up:
        assert answered(up) == (200, CLEAN)
    assert up.count() == 3


# Bad addresses and the guard


def test_refused_url_refuses_connections() -> None:
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection(refused_url().removeprefix("http://"), timeout=5).connect()


def test_blackhole_neither_accepts_nor_refuses_connections() -> None:
    with Blackhole() as hole, socket.socket() as client:
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.connect(("127.0.0.1", hole.port))


def test_unknown_name_does_not_resolve() -> None:
    with pytest.raises(socket.gaierror):
        socket.create_connection((UNKNOWN_NAME_URL.removeprefix("http://"), 80), 5)


def test_hanging_name_hangs_until_the_block_ends() -> None:
    with ThreadPoolExecutor(1) as pool:
        with hanging_names() as url:
            asked = pool.submit(socket.getaddrinfo, url.removeprefix("http://"), 80)
            with pytest.raises(TimeoutError):
                asked.result(0.1)
        with pytest.raises(socket.gaierror):
            asked.result(10)


def test_failed_tls_handshake_is_not_a_call(upstream: FaultUpstream) -> None:
    host = upstream.tls_url.removeprefix("https://")
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        http.client.HTTPSConnection(host, timeout=5).connect()
    assert upstream.count() == 0


def test_network_guard_rejects_outside_connections() -> None:
    with socket.socket() as client, pytest.raises(pytest.fail.Exception, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))  # RFC 5737: documentation only
    with socket.socket() as client, pytest.raises(pytest.fail.Exception):
        client.connect_ex(("192.0.2.1", 80))


def test_clock_advances_only_on_request() -> None:
    clock = Clock(100)
    assert (clock.now(), clock()) == (100, 100)
    clock.advance(5)
    assert clock.now() == 105
    with pytest.raises(ValueError):
        clock.advance(-1)


@pytest.mark.slow
def test_port_is_given_to_one_process_alone() -> None:
    ask = "import sys; from tests.fakes import ports; print(ports._is_ours(int(sys.argv[1])))"
    command = [sys.executable, "-c", ask, str(free_port())]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
