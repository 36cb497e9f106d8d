"""Successful responses: the upstream's bytes, Cache-Status and Age."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, encode
from tests.fakes import FaultUpstream, faults, odd_bodies
from tests.fakes.answers import good_body
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.fakes.wire import Fault
from tests.web.json_paths import (
    PLATE,
    QUESTIONS,
    Question,
    ask,
    expect_message,
    issue,
    no_upstream_call,
)

AUTH = {"Authorization": PORTAL_TOKEN}
DECODE = QUESTIONS[0]
NO_STORE = "no-store, private"


def cache_status(here: InProcessPortal, question: Question = DECODE, /, **headers: str) -> str:
    response = ask(here, question, headers={**AUTH, **headers})
    assert response.status_code == 200
    return str(response.headers["Cache-Status"])


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_body_is_the_upstreams_bytes_on_miss_and_hit(
    portal: PortalFactory, upstream: FaultUpstream, question: Question
) -> None:
    here = portal()
    first, second = (ask(here, question, headers=AUTH) for _ in range(2))
    expected = good_body(upstream.calls[0])
    assert first.data == second.data == expected
    assert upstream.count() == 1


ODD_BUT_VALID = (
    # Unusual key order, blanks, escapes and number spellings; unknown and wrongly typed members.
    b'\n{ "result" : {"zzz": 1.50e+1, "placa":"", "marca": null, "\\u00e9": "\\/", "n": 1E2},\t'
    b'"extra": [], "status":"DONE" } \r\n',
    b'{"status":"DONE","result":{"placa":"ABC1D23","marca":"\xc3\x89","a":-0.0,"b":[{}, [ ]]}}',
)


@pytest.mark.parametrize("body", ODD_BUT_VALID)
def test_odd_bytes_of_a_valid_answer_are_unchanged(
    portal: PortalFactory, upstream: FaultUpstream, body: bytes
) -> None:
    here = portal()
    upstream.default(faults.answer("odd", body, content_type="text/plain; charset=latin-1"))
    for _ in range(2):
        response = ask(here, DECODE, headers=AUTH)
        assert response.data == body
        assert response.content_type == "application/json"


def test_body_is_decoded_and_upstream_headers_are_dropped(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    for fault in (faults.gzipped(), faults.cookies(), faults.chunked()):
        upstream.once(DECODE.path, fault)
        response = ask(here, DECODE, headers={**AUTH, "Cache-Control": "no-cache"})
        assert response.data == decode_body(PLATE)
        for name in ("Set-Cookie", "Content-Encoding", "Transfer-Encoding", "Server", "Date"):
            assert name not in response.headers


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_success_has_cache_status_age_and_request_id(
    portal: PortalFactory, question: Question
) -> None:
    here = portal()
    miss, hit = (ask(here, question, headers=AUTH) for _ in range(2))
    assert miss.headers["Cache-Status"] == "portal; fwd=miss; stored"
    assert re.fullmatch(r"portal; hit; ttl=[1-9][0-9]*", hit.headers["Cache-Status"])
    for response in (miss, hit):
        assert re.fullmatch(r"[0-9]+", response.headers["Age"])
        assert response.headers["Cache-Control"] == NO_STORE
        assert response.headers["Vary"] == "Authorization, Cookie, Accept-Encoding"
        assert re.fullmatch(r"[0-9a-f]{16}", response.headers["X-Request-Id"])
    assert miss.headers["X-Request-Id"] != hit.headers["X-Request-Id"]


def test_cache_status_of_expired_and_stale_answers(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(FRESH_DECODE="0")
    assert cache_status(here) == "portal; fwd=miss; stored"
    assert cache_status(here) == "portal; fwd=miss; stored"
    upstream.default(faults.status(500))
    assert cache_status(here) == "portal; fwd=stale"


def test_no_cache_requires_the_scope_refresh(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    narrow = issue(here, "reader", frozenset({"decode"}))
    assert cache_status(here) == "portal; fwd=miss; stored"
    with no_upstream_call(upstream):
        status = cache_status(here, Authorization=narrow, **{"Cache-Control": "no-cache"})
        assert status.startswith("portal; hit")
    for directive in ("no-cache", "max-age=0, No-Cache"):
        assert cache_status(here, **{"Cache-Control": directive}) == "portal; fwd=request; stored"
    upstream.default(faults.status(500))
    assert cache_status(here, **{"Cache-Control": "no-cache"}) == "portal; fwd=stale"


def test_only_if_cached_never_calls_the_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    directive = {"Cache-Control": "only-if-cached"}
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            expect_message(ask(here, question, headers={**AUTH, **directive}), 504)
    for question in QUESTIONS:
        assert ask(here, question, headers=AUTH).status_code == 200
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            assert cache_status(here, question, **directive).startswith("portal; hit")
        both = {"Cache-Control": "no-cache, only-if-cached"}
        assert cache_status(here, **both).startswith("portal; hit")


def test_head_behaves_as_only_if_cached(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    questions = [question for question in QUESTIONS if question.method == "GET"]
    with no_upstream_call(upstream):
        for question in questions:
            assert ask(here, question, method="HEAD").status_code == 401
            assert ask(here, question, method="HEAD", headers=AUTH).status_code == 504
    for question in questions:
        got = ask(here, question, headers=AUTH)
        with no_upstream_call(upstream):
            for headers in (AUTH, {**AUTH, "Cache-Control": "no-cache"}):
                head = ask(here, question, method="HEAD", headers=headers)
                assert head.status_code == 200
                assert head.data == b""
                assert head.headers["Content-Length"] == str(len(got.data))
                assert head.headers["Cache-Status"].startswith("portal; hit")


def test_options_returns_allow_without_authentication(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            for headers in ({}, AUTH):
                response = ask(here, question, method="OPTIONS", headers=headers)
                assert response.status_code == 204
                assert response.data == b""
                first = "POST" if question.method == "POST" else "GET, HEAD"
                assert response.headers["Allow"] == f"{first}, OPTIONS"


def test_concurrent_equal_requests_are_one_upstream_call(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    gate = threading.Event()
    upstream.default(faults.held(gate))

    def one(_: int) -> str:
        client = here.app.test_client()
        return str(client.get(DECODE.path, headers=AUTH).headers["Cache-Status"])

    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(one, range(8))
        upstream.wait_for_calls(1)
        gate.set()
        seen = sorted(answers)
    assert upstream.count() == 1
    assert seen.count("portal; fwd=miss; stored") == 1
    assert {re.sub(r"ttl=\d+", "ttl", status) for status in seen} <= {
        "portal; fwd=miss; stored",
        "portal; fwd=miss; collapsed",
        "portal; hit; ttl",
    }


@pytest.mark.parametrize(
    "fault",
    [
        odd_bodies.message_in_200(),
        odd_bodies.duplicate_key(),
        odd_bodies.html(),
        odd_bodies.result_null(),
        odd_bodies.other_plate(),
        faults.redirect(),
        faults.partial_content(),
    ],
    ids=str,
)
def test_invalid_upstream_answer_is_502_and_not_stored(
    portal: PortalFactory, upstream: FaultUpstream, fault: Fault
) -> None:
    here = portal()
    upstream.once(DECODE.path, fault)
    expect_message(ask(here, DECODE, headers=AUTH), 502)
    with no_upstream_call(upstream):  # the failure is cached, so it is charged once
        expect_message(ask(here, DECODE, headers=AUTH), 502)
        expect_message(ask(here, DECODE, headers={**AUTH, "Cache-Control": "only-if-cached"}), 504)
    other = decode_body("ABC1D24")
    assert here.get("/detran/v1/decode/ABC1D24").data == other


def test_empty_result_is_a_valid_answer(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    upstream.default(odd_bodies.empty_result())
    response = ask(here, QUESTIONS[1], headers=AUTH)
    assert response.get_json() == {"status": "SUCCESS", "result": []}
    assert response.data != encode({})
