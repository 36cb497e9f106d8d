"""A rejected caller receives no byte of a record and causes no upstream call.

The cases combine wrong credentials, states of the cache and the upstream (STATES), paths and
methods. After every 50 cases, a valid token must still get its answer.
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.effort import cases
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN, InProcessPortal, pass_through
from tests.web.json_paths import PLATE, QUESTIONS, Question, issue, tokens_of

Options = dict[str, Any]
STATES = ("cold", "hot", "stale", "down")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Texts that appear only in a record.
RECORD_TEXTS = (b'"result"', b"A3 LM", b"TJMG", b"7455", b"laudoFinal")


@dataclass(frozen=True, slots=True)
class Attempt:
    name: str
    options: Options
    status: int


def header(value: str) -> Options:
    return {"headers": {"Authorization": value}}


def attempts(here: InProcessPortal) -> list[Attempt]:
    revoked, expired = issue(here, "revoked"), issue(here, "expired", lifetime_s=0)
    tokens_of(here).revoke("revoked")
    scopeless = issue(here, "scopeless", frozenset({"refresh", "admin"}))
    good = PORTAL_TOKEN
    return [
        Attempt("none", {}, 401),
        Attempt("wrong", header("wrong"), 401),
        Attempt("wrong at", {"query_string": "at=wrong"}, 401),
        Attempt("the operator's", header(OPERATOR_TOKEN), 401),
        Attempt("revoked", header(revoked), 403),
        Attempt("revoked at", {"query_string": f"at={revoked}"}, 403),
        Attempt("expired", header(expired), 403),
        Attempt("wrong scope", header(scopeless), 403),
        Attempt("two that differ", {**header(good), "query_string": "at=wrong"}, 401),
        Attempt("two good ones", {**header(good), "query_string": f"at={revoked}"}, 401),
        Attempt(
            "duplicate header",
            {"headers": [("Authorization", good), ("Authorization", good)]},
            401,
        ),
        Attempt("joined header", header(f"{good},{good}"), 401),
        Attempt("duplicate at", {"query_string": f"at={good}&at={good}"}, 401),
        Attempt("non-ASCII", header("tökén"), 401),
        Attempt("control character", {"query_string": f"at={good}%0A"}, 401),
        Attempt("empty", header(""), 401),
        Attempt("bearer", header(f"Bearer {good}"), 401),
        Attempt("8 KiB", header("a" * 8192), 401),
        Attempt("cookie", {"headers": {"Cookie": f"portal={good}; at={good}"}}, 401),
    ]


def spellings() -> list[Question]:
    """Return the stored lookups, and copies with another spelling or another plate."""
    others = [
        Question(each.operation, each.path.replace(PLATE, plate))
        for each in QUESTIONS
        for plate in ("abc-1d23", "XYZ9A99", "abc1D23")
        if PLATE in each.path
    ]
    return [*QUESTIONS, *others]


def all_cases(everyone: list[Attempt]) -> list[tuple[Attempt, Question, str]]:
    """Return every combination, shuffled in the same way each time."""
    product = list(itertools.product(everyone, spellings(), METHODS))
    random.Random(4).shuffle(product)
    return product


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def here(portal: PortalFactory, upstream: FaultUpstream, state: str) -> Iterator[InProcessPortal]:
    lifetimes = {"cold": "0", "stale": "0"}.get(state, "3600")
    names = ("DECODE", "RENAINF", "RENAJUD", "REPORT")
    settings = {f"FRESH_{name}": lifetimes for name in names}
    settings |= {f"STALE_{name}": "3600" if state in ("stale", "down") else "0" for name in names}
    built = portal(**settings)
    if state != "cold":
        for question in QUESTIONS:
            assert good_answer(built, question).status_code == 200
    if state in ("stale", "down"):
        upstream.default(faults.closed_before_a_byte())
    yield built


def good_answer(here: InProcessPortal, question: Question) -> Any:
    headers = {"Authorization": PORTAL_TOKEN}
    return here.client.open(
        question.path, method=question.method, headers=headers, **question.options
    )


def test_rejected_credential_gets_no_record_and_causes_no_call(
    here: InProcessPortal, upstream: FaultUpstream, state: str
) -> None:
    judged = 0
    for attempt, question, method in all_cases(attempts(here))[: cases(600, 100_000)]:
        calls = upstream.count()
        with_body = question.options if method in ("POST", "PUT", "PATCH") else {}
        response = here.client.open(question.path, method=method, **with_body, **attempt.options)
        allowed = {"POST", "OPTIONS"} if question.method == "POST" else {"GET", "HEAD", "OPTIONS"}
        expected = attempt.status if method in allowed else 405
        expected = 204 if method == "OPTIONS" else expected
        assert response.status_code == expected, (attempt.name, question.path, method)
        assert not any(mark in response.data for mark in RECORD_TEXTS)
        for name in ("Age", "Cache-Status", "Set-Cookie"):
            assert name not in response.headers
        assert upstream.count() == calls
        judged += 1
        if judged % 50 == 0:
            stored = random.Random(judged).choice(QUESTIONS)
            assert good_answer(here, stored).status_code == 200
    assert judged >= 600


def test_pass_through_relays_refusal_and_serves_nothing_stored(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    upstream.credential = "ana"
    here = portal(pass_through(upstream.url))
    for question in QUESTIONS:
        headers = {"Authorization": "ana"}
        mine = here.client.open(
            question.path, method=question.method, headers=headers, **question.options
        )
        assert mine.status_code == 200
        for stranger in ("bia", "ANA", "an", "anaa", "demo", PORTAL_TOKEN):
            response = here.client.open(
                question.path,
                method=question.method,
                headers={"Authorization": stranger},
                **question.options,
            )
            assert response.status_code == 401
            assert not any(mark in response.data for mark in RECORD_TEXTS)
