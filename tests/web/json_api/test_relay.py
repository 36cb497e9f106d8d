"""What a success looks like: the upstream's own bytes, and headers that tell where they were."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, encode
from tests.fakes import FaultUpstream, faults, odd_bodies
from tests.fakes.answers import good_body
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
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


def cache_status(here: InProcessPortal, question: Question = DECODE, **headers: str) -> str:
    response = ask(here, question, headers={**AUTH, **headers})
    assert response.status_code == 200
    return str(response.headers["Cache-Status"])


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_a_body_is_the_upstreams_byte_for_byte_when_asked_and_when_stored(
    portal: PortalFactory, upstream: FaultUpstream, question: Question
) -> None:
    here = portal()
    first, second = (ask(here, question, headers=AUTH) for _ in range(2))
    expected = good_body(upstream.calls[0])
    assert first.data == second.data == expected
    assert upstream.count() == 1


ODD_BUT_VALID = (
    # Key order, blanks, escapes, unknown and oddly typed members, numbers as they were written.
    b'\n{ "result" : {"zzz": 1.50e+1, "placa":"", "marca": null, "\\u00e9": "\\/", "n": 1E2},\t'
    b'"extra": [], "status":"DONE" } \r\n',
    b'{"status":"DONE","result":{"placa":"ABC1D23","marca":"\xc3\x89","a":-0.0,"b":[{}, [ ]]}}',
)


@pytest.mark.parametrize("body", ODD_BUT_VALID)
def test_odd_bytes_of_a_valid_answer_are_not_touched(
    portal: PortalFactory, upstream: FaultUpstream, body: bytes
) -> None:
    here = portal()
    upstream.default(faults.answer("odd", body, content_type="text/plain; charset=latin-1"))
    for _ in range(2):
        response = ask(here, DECODE, headers=AUTH)
        assert response.data == body
        assert response.content_type == "application/json"


def test_the_content_coding_is_undone_and_nothing_of_the_upstreams_headers_comes_along(
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
def test_a_success_says_where_it_was_and_how_old_it_is(
    portal: PortalFactory, question: Question
) -> None:
    here = portal()
    miss, hit = (ask(here, question, headers=AUTH) for _ in range(2))
    assert miss.headers["Cache-Status"] == "portal; fwd=miss; stored"
    assert re.fullmatch(r"portal; hit; ttl=[1-9][0-9]*", hit.headers["Cache-Status"])
    for response in (miss, hit):
        assert re.fullmatch(r"[0-9]+", response.headers["Age"])
        assert response.headers["Cache-Control"] == NO_STORE
        assert response.headers["Vary"] == "Authorization, Cookie"
        assert re.fullmatch(r"[0-9a-f]{16}", response.headers["X-Request-Id"])
    assert miss.headers["X-Request-Id"] != hit.headers["X-Request-Id"]


def test_an_expired_answer_is_a_miss_again_and_a_stale_one_says_so(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(FRESH_DECODE="0")
    assert cache_status(here) == "portal; fwd=miss; stored"
    assert cache_status(here) == "portal; fwd=miss; stored"
    upstream.default(faults.status(500))
    assert cache_status(here) == "portal; fwd=stale"


def test_asking_again_is_for_the_scope_refresh(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    narrow = issue(here, "reader", frozenset({"decode"}))
    assert cache_status(here) == "portal; fwd=miss; stored"
    with no_upstream_call(upstream):
        status = cache_status(here, Authorization=narrow, **{"Cache-Control": "no-cache"})
        assert status.startswith("portal; hit")
    for wish in ("no-cache", "max-age=0, No-Cache"):
        assert cache_status(here, **{"Cache-Control": wish}) == "portal; fwd=request; stored"
    upstream.default(faults.status(500))
    assert cache_status(here, **{"Cache-Control": "no-cache"}) == "portal; fwd=stale"


def test_only_if_cached_never_asks(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    wish = {"Cache-Control": "only-if-cached"}
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            expect_message(ask(here, question, headers={**AUTH, **wish}), 504)
    for question in QUESTIONS:
        assert ask(here, question, headers=AUTH).status_code == 200
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            assert cache_status(here, question, **wish).startswith("portal; hit")
        both = {"Cache-Control": "no-cache, only-if-cached"}
        assert cache_status(here, **both).startswith("portal; hit")


def test_head_answers_as_only_if_cached_would_and_never_asks(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
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


def test_options_says_what_is_allowed_to_anybody_and_never_asks(
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


def test_equal_questions_at_one_time_are_one_call(
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
def test_what_is_no_answer_is_502_is_not_stored_and_the_next_is_good(
    portal: PortalFactory, upstream: FaultUpstream, fault: faults.Fault
) -> None:
    here = portal()
    upstream.once(DECODE.path, fault)
    expect_message(ask(here, DECODE, headers=AUTH), 502)
    with no_upstream_call(upstream):  # nobody pays for the same failure in turn
        expect_message(ask(here, DECODE, headers=AUTH), 502)
        expect_message(ask(here, DECODE, headers={**AUTH, "Cache-Control": "only-if-cached"}), 504)
    other = decode_body("ABC1D24")
    assert here.get("/detran/v1/decode/ABC1D24").data == other


def test_an_empty_list_is_an_answer(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    upstream.default(odd_bodies.empty_result())
    response = ask(here, QUESTIONS[1], headers=AUTH)
    assert response.get_json() == {"status": "SUCCESS", "result": []}
    assert response.data != encode({})
