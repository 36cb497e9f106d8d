"""Each fault behaves as its name says."""

import gzip
import http.client
import json
import socket
import zlib
from collections.abc import Iterator

import pytest

from tests import factories
from tests.fakes import (
    Fault,
    FaultUpstream,
)
from tests.fakes import faults as f
from tests.fakes import odd_bodies as odd
from tests.fakes.answers import OPERATIONS, Operation, path_of
from tests.fakes.matrix import BROKEN, BY_NAME, GOOD, REFUSED, ROWS, Row, in_turn
from tests.fakes.plain_client import PlainClient, answered, raw_answer

pytestmark = pytest.mark.long  # tests of what the tests use

PATH = path_of("decode")
CLEAN = factories.decode_body("ABC1D23")


@pytest.fixture
def client(upstream: FaultUpstream) -> Iterator[PlainClient]:
    with PlainClient(upstream) as made:
        yield made


# All faults of the matrix


def test_matrix_names_are_unique() -> None:
    assert len(BY_NAME) == len(ROWS)


UNCHANGED = frozenset(
    {
        *("good", "stale keep-alive", "chunked", "cookies", "wrong length beside chunks"),
        *("2 bytes behind", "40 bytes behind"),
    }
)


@pytest.mark.parametrize(("row", "operation"), in_turn((*BROKEN, *REFUSED, *GOOD), 0))
def test_fault_affects_one_answer_only(
    upstream: FaultUpstream, row: Row, operation: Operation
) -> None:
    """Only the faults in UNCHANGED, and those in headers alone, give the clean bytes.

    The call after a fault always gets the clean bytes.
    """
    clean = answered(upstream, operation)
    upstream.once("/", row.fault)
    try:
        same = answered(upstream, operation) == clean
    except (OSError, http.client.HTTPException):
        assert row.status == 502
    else:
        in_headers = row.name.endswith("in name only") or row.name.startswith("typed as")
        assert same == (row.name in UNCHANGED or in_headers)
    assert upstream.count() == 2
    assert answered(upstream, operation) == clean


@pytest.mark.parametrize("fault", [f.hang(), f.slow_first_byte(60)], ids=str)
def test_silent_fault_sends_nothing(upstream: FaultUpstream, fault: Fault) -> None:
    upstream.script(PATH, fault)
    with pytest.raises(TimeoutError):
        raw_answer(upstream, 0.2)
    upstream.wait_for_calls(1)


def test_slow_headers_never_end_the_headers(upstream: FaultUpstream) -> None:
    upstream.script(PATH, f.slow_headers(0.001))
    with socket.create_connection(("127.0.0.1", upstream.port), 5) as wire:
        wire.sendall(f"GET {PATH} HTTP/1.1\r\n\r\n".encode())
        received = b""
        while len(received) < 60:
            received += wire.recv(10)
    assert received.startswith(b"HTTP/1.1 200 OK\r\nX-Drip: aaaa")
    assert b"\r\n\r\n" not in received


def test_body_drip_sends_headers_then_single_bytes(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.body_drip(0.01))
    client.connection.request("GET", PATH)
    response = client.connection.getresponse()
    assert int(response.headers["Content-Length"]) == len(CLEAN)
    parts = [response.read1(100) for _ in range(5)]
    assert b"".join(parts) == CLEAN[: len(b"".join(parts))]
    assert max(map(len, parts)) < 100


def test_slow_answer_is_clean(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script(PATH, f.slow_first_byte(0.01))
    assert client.ask()[1] == CLEAN


def test_close_before_a_byte_is_orderly_and_reset_is_not(upstream: FaultUpstream) -> None:
    upstream.script(PATH, f.closed_before_a_byte())
    assert raw_answer(upstream) == b""
    upstream.script(PATH, f.reset_before_a_byte())
    with pytest.raises(ConnectionResetError):
        raw_answer(upstream)
    upstream.script(PATH, f.reset_mid_body())
    with pytest.raises(ConnectionResetError):
        raw_answer(upstream)


def test_stale_connection_does_not_count_next_request(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.stale_keep_alive())
    assert client.ask()[1] == CLEAN
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        client.ask()
    assert upstream.count() == 1


def test_short_length_announces_more_than_it_sends(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.short_length())
    with pytest.raises(http.client.IncompleteRead) as short:
        client.ask()
    assert short.value.partial == CLEAN[: len(CLEAN) // 2]


def test_truncated_json_is_framed_correctly(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script(PATH, odd.truncated_json())
    assert client.ask()[1] == CLEAN[: len(CLEAN) // 2]


@pytest.mark.parametrize("fault", [f.bad_chunk_framing(), f.chunks_without_end()], ids=str)
def test_bad_chunks_are_unreadable(
    upstream: FaultUpstream, client: PlainClient, fault: Fault
) -> None:
    upstream.script(PATH, fault)
    with pytest.raises(http.client.IncompleteRead):
        client.ask()


def test_gzip_body_contains_the_clean_body(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script(PATH, f.gzipped())
    response, body = client.ask()
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == CLEAN


def test_gzip_bomb_is_small_and_expands_to_valid_json(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.gzip_bomb(3))
    body = client.ask()[1]
    assert len(body) < 10_000
    blown = gzip.decompress(body)  # also verifies the checksum and the length
    assert len(blown) == len(CLEAN) + 3 * f.MIB
    assert json.loads(blown) == json.loads(CLEAN)


def test_gzip_bomb_of_the_matrix_is_300_mib(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script(PATH, BY_NAME["gzip bomb of 300 MiB"].fault)
    body = client.ask()[1]
    assert int.from_bytes(body[-4:], "little") == len(CLEAN) + 300 * f.MIB
    assert len(body) < 400_000
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert len(unpack.decompress(body, 5 * f.MIB)) == 5 * f.MIB


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 418, 429, 500, 502, 503])
def test_status_has_the_contract_error_body(
    upstream: FaultUpstream, client: PlainClient, code: int
) -> None:
    upstream.script(PATH, f.status(code, retry_after="9"))
    response, body = client.ask()
    assert (response.status, response.headers["Retry-After"]) == (code, "9")
    assert list(json.loads(body)) == ["message"]
    if code in factories.MESSAGES:
        assert json.loads(body)["message"] == factories.MESSAGES[code]


def test_statuses_without_an_answer_are_framed_correctly(
    upstream: FaultUpstream, client: PlainClient
) -> None:
    upstream.script(PATH, f.redirect("/x"), f.no_content(), f.partial_content(), f.html_error(503))
    response, body = client.ask()
    assert (response.status, response.headers["Location"], body) == (302, "/x", b"")
    response, body = client.ask()
    assert (response.status, body) == (204, b"")
    response, body = client.ask()
    assert response.status == 206
    assert response.headers["Content-Range"].startswith("bytes 0-")
    response, _ = client.ask()
    assert (response.status, response.headers["Content-Type"]) == (503, "text/html")


def test_cookie_fault_sets_two_cookies(upstream: FaultUpstream, client: PlainClient) -> None:
    upstream.script(PATH, f.cookies())
    assert len(client.ask()[0].headers.get_all("Set-Cookie") or []) == 2


def body_of(upstream: FaultUpstream, fault: Fault, operation: Operation = "decode") -> bytes:
    upstream.once(path_of(operation), fault)
    return answered(upstream, operation)[1]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_odd_bodies_match_their_names(upstream: FaultUpstream, operation: Operation) -> None:
    def body(fault: Fault) -> bytes:
        return body_of(upstream, fault, operation)

    for fault in (odd.latin_1(), odd.invalid_utf_8()):
        with pytest.raises(UnicodeDecodeError):
            body(fault).decode()
    for fault in (odd.html(), odd.html_as_json(), odd.empty_body(), odd.wrong_type_bad_body()):
        with pytest.raises(json.JSONDecodeError):
            json.loads(body(fault))
    assert len(body(odd.over_size())) == 2 * f.MIB + 1
    assert isinstance(json.loads(body(odd.over_size())), dict)
    with pytest.raises(ValueError, match="digits"):
        json.loads(body(odd.long_number()))
    with pytest.raises(RecursionError):
        json.loads(body(odd.nested(100_000)))
    with pytest.raises(UnicodeEncodeError):
        json.dumps(json.loads(body(odd.lone_surrogate())), ensure_ascii=False).encode()
    assert b"NaN" in body(odd.nan())
    assert body(odd.nested(65)).count(b"[") >= 65
    for fault in (odd.duplicate_key(), odd.duplicate_key_inside()):
        assert _has_a_duplicate_key(body(fault))
    assert not _has_a_duplicate_key(body(odd.new_field()))
    assert "message" in json.loads(body(odd.message_in_200()))
    assert json.loads(body(odd.wrong_status_word()))["status"] == "ERROR"
    assert "result" not in json.loads(body(odd.result_missing()))
    assert json.loads(body(odd.result_null()))["result"] is None
    is_list = operation in ("renainf", "renajud")
    assert isinstance(json.loads(body(odd.result_of_wrong_type()))["result"], dict) == is_list
    assert json.loads(body(odd.empty_result()))["result"] == ([] if is_list else {})
    assert b"campoNovo" in body(odd.new_field())
    clean = _first_record(body(f.good()))
    assert len(_first_record(body(odd.missing_field()))) == len(clean) - 1
    assert [2014] in _first_record(body(odd.oddly_typed_field())).values()


def test_other_plate_fault_names_another_plate(upstream: FaultUpstream) -> None:
    assert _first_record(body_of(upstream, odd.other_plate()))["placa"] == odd.OTHER_PLATE
    court = _first_record(body_of(upstream, odd.other_plate(), "renajud"))
    assert court["placa"] == odd.OTHER_PLATE


def _first_record(body: bytes) -> dict[str, object]:
    result = json.loads(body)["result"]
    record: dict[str, object] = result[0] if isinstance(result, list) else result
    return record


def _has_a_duplicate_key(body: bytes) -> bool:
    found = []

    def check(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found.append(len({name for name, _ in pairs}) < len(pairs))
        return dict(pairs)

    json.loads(body, object_pairs_hook=check)
    return any(found)
