"""Report requests: which are accepted, and what is sent to the upstream."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import INVALID_PLATE, PLATE, expect_message, no_upstream_call

PATH = "/detran/v1/analytical-reports"
AUTH = {"Authorization": PORTAL_TOKEN}
LIMIT = 256 * 1024


def post(here: InProcessPortal, body: bytes, content_type: str | None = "application/json") -> Any:
    return here.client.post(PATH, data=body, content_type=content_type, headers=AUTH)


def request_body(**members: Any) -> bytes:
    return json.dumps({"plate": PLATE, "data": {}, **members}, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"ABC1D23"',
        b"plate=ABC1D23",
        b"\xff\xfe{}",
        "{}".encode("utf-16"),
        b'{"plate": "ABC1D23", "plate": "ABC1D24", "data": {}}',
        b'{"plate": "ABC1D23", "data": {"a": 1, "a": 2}}',
        b'{"plate": "ABC1D23", "data": {"a": NaN}}',
        b'{"plate": "ABC1D23", "data": {"a": Infinity}}',
        b'{"plate": "ABC1D23", "data": {"a": "\\ud800"}}',
        b'{"plate": "ABC1D23", "data": {"a": 1e999}}',
        b'{"plate": "ABC1D23", "data": {"a": 1e999999999}}',
        b'{"plate": "ABC1D23", "data": {"a": [-1E-999999999999999999999]}}',
        b'{"plate": "ABC1D23", "data": {"a": ' + b"9" * 5000 + b"}}",
        b'{"plate": "ABC1D23", "data": ' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}",
        b'{"plate": "ABC1D23", "data": {}} {}',
        b'{"plate": "ABC1D23"}',
        b'{"plate": "ABC1D23", "data": null}',
        b'{"plate": "ABC1D23", "data": []}',
        b'{"plate": "ABC1D23", "data": "x"}',
    ],
)
def test_invalid_body_is_400_with_our_message(
    portal: PortalFactory, upstream: FaultUpstream, body: bytes
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        assert expect_message(post(here, body), 400) != INVALID_PLATE


@pytest.mark.parametrize(
    "members",
    [
        {"plate": "ABC123"},
        {"plate": ""},
        {"plate": None},
        {"plate": 1234567},
        {"plate": ["ABC1D23"]},
        {"plate": "00123456789"},
        {"plate": "ABC1D23\n"},
        {"plate": "ßBC1D23", "data": []},
    ],
    ids=str,
)
def test_invalid_plate_is_400_with_the_contracts_message(
    portal: PortalFactory, upstream: FaultUpstream, members: dict[str, Any]
) -> None:
    with no_upstream_call(upstream):
        expect_message(post(portal(), request_body(**members)), 400, INVALID_PLATE)


def test_body_without_plate_is_400(portal: PortalFactory, upstream: FaultUpstream) -> None:
    with no_upstream_call(upstream):
        expect_message(post(portal(), b'{"data": {}}'), 400, INVALID_PLATE)


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x"],
)
def test_other_content_type_is_415(
    portal: PortalFactory, upstream: FaultUpstream, content_type: str
) -> None:
    with no_upstream_call(upstream):
        expect_message(post(portal(), request_body(), content_type), 415)


@pytest.mark.parametrize(
    "content_type",
    [None, "application/json", "application/json; charset=utf-8", "Application/JSON"],
)
def test_json_or_absent_content_type_is_accepted(
    portal: PortalFactory, content_type: str | None
) -> None:
    assert post(portal(), request_body(), content_type).status_code == 200


def test_only_plate_and_data_are_sent_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    data = {"ação": "✅", "z": [1, 2.5, None, True], "a": {"plate": "x"}}
    body = request_body(plate="abc-1d23", data=data, at="token", result=1)
    assert post(portal(), body).status_code == 200
    call = upstream.calls[0]
    assert json.loads(call.body) == {"plate": PLATE, "data": data}
    assert call.header("content-type") == "application/json"


def test_equivalent_requests_share_one_report(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    one = b'{"plate":"ABC1D23","data":{"a":1,"b":2}}'
    same = b' {"data": {"b": 2, "a": 1}, "junk": 7, "plate": "abc-1d23"}'
    for body, calls in (
        (one, 1),
        (same, 1),
        (one.replace(b"2}", b"3}"), 2),
        (one.replace(b"1D23", b"1D24"), 3),
        (one.replace(b'"a":1', b'"a":"1"'), 4),
    ):
        assert post(here, body).status_code == 200
        assert upstream.count() == calls


def test_body_over_256_kib_is_413(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    frame = len(request_body(data={"a": ""}))
    fits = request_body(data={"a": "x" * (LIMIT - frame)})
    assert len(fits) == LIMIT
    assert post(here, fits).status_code == 200
    with no_upstream_call(upstream):
        for size in (LIMIT + 1, LIMIT + 2, 4 * LIMIT):
            expect_message(post(here, b"x" * size), 413)
            # The size is checked before the type, the type before the content.
            expect_message(post(here, b"x" * size, "text/plain"), 413)


def test_possibly_charged_report_is_not_retried(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    upstream.once(PATH, faults.reset_before_a_byte())
    expect_message(post(here, request_body()), 502)
    assert upstream.count() == 1


@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [
        ("1234567890123456890.25", "1234567890123456890.75", 2),
        ("1e-400", "0.0", 2),
        ("9007199254740992.0", "9007199254740993.0", 2),
        ("1", "1.0", 1),
        ("1", "1E0", 1),
        ("100", "1E2", 1),
        ("0", "-0.0", 1),
    ],
)
def test_report_key_uses_exact_number_values(
    portal: PortalFactory, upstream: FaultUpstream, first: str, second: str, calls: int
) -> None:
    here = portal()
    for number in (first, second):
        body = f'{{"plate": "ABC1D23", "data": {{"valor": {number}}}}}'.encode()
        assert post(here, body).status_code == 200
    assert upstream.count() == calls
    for call, number in zip(upstream.calls, (first, second), strict=False):
        sent = json.loads(call.body, parse_float=Decimal, parse_int=Decimal)
        assert sent["data"]["valor"] == Decimal(number)
