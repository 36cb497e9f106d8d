"""Pass-through mode: each credential sees only its own answers."""

from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, encode
from tests.fakes import Call, Fault, FaultUpstream, faults
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.web.json_paths import PLATE, QUESTIONS, Question, ask, expect_message, no_upstream_call


def personal() -> Fault:
    """An answer that contains the credential of its request."""

    def body(call: Call) -> bytes:
        mine = {"placa": PLATE, "de": call.header("authorization")}
        if "restrictions" in call.path:
            return encode({"status": "SUCCESS", "result": [{"descricao": mine["de"]}]})
        return encode({"status": "DONE", "result": mine})

    return faults.answer("personal", body)


@pytest.fixture
def here(portal: PortalFactory, upstream: FaultUpstream) -> InProcessPortal:
    upstream.default(personal())
    return portal(pass_through(upstream.url))


def as_(here: InProcessPortal, credential: str, question: Question, **headers: str) -> Any:
    return ask(here, question, headers={"Authorization": credential, **headers})


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_stored_answers_are_separate_per_credential(
    here: InProcessPortal, upstream: FaultUpstream, question: Question
) -> None:
    for _ in range(2):
        for credential in ("ana", "bia"):
            assert credential in as_(here, credential, question).get_data(as_text=True)
    assert upstream.count() == 2
    with no_upstream_call(upstream):
        expect_message(as_(here, "caio", question, **{"Cache-Control": "only-if-cached"}), 504)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_stale_answers_are_separate_per_credential(
    portal: PortalFactory, upstream: FaultUpstream, question: Question
) -> None:
    here = portal(
        pass_through(upstream.url),
        FRESH_DECODE="0",
        FRESH_RENAINF="0",
        FRESH_RENAJUD="0",
        FRESH_REPORT="0",
        STALE_REPORT="60",
    )
    upstream.default(personal())
    assert as_(here, "ana", question).status_code == 200
    upstream.default(faults.status(500))
    mine = as_(here, "ana", question)
    assert mine.headers["Cache-Status"] == "portal; fwd=stale"
    assert "ana" in mine.get_data(as_text=True)
    expect_message(as_(here, "bia", question), 502)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_failure_is_not_shared_between_credentials(
    here: InProcessPortal, upstream: FaultUpstream, status: int
) -> None:
    question = QUESTIONS[0]
    upstream.once(question.path, faults.status(status, retry_after="60"))
    assert as_(here, "ana", question).status_code != 200
    assert as_(here, "bia", question).status_code == 200


@pytest.mark.parametrize("status", [401, 403])
def test_credential_rejected_by_upstream_gets_no_stale_answer(
    portal: PortalFactory, upstream: FaultUpstream, status: int
) -> None:
    here = portal(pass_through(upstream.url), FRESH_DECODE="0")
    question = QUESTIONS[0]
    assert as_(here, "ana", question).data == decode_body(PLATE)
    upstream.default(faults.status(status))
    expect_message(as_(here, "ana", question), status)


def test_credentials_are_case_sensitive(here: InProcessPortal, upstream: FaultUpstream) -> None:
    for credential in ("Ana", "ana", "ANA"):
        answer = as_(here, credential, QUESTIONS[0])
        assert answer.get_json()["result"]["de"] == credential
    assert upstream.count() == 3
