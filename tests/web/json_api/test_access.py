"""Access to the JSON API: every 401 and 403 is answered before the store is read."""

from typing import Any

import pytest

from portal.access.tokens import OPERATION_SCOPES
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN, InProcessPortal, pass_through
from tests.web.json_paths import (
    FORBIDDEN,
    QUESTIONS,
    UNAUTHORIZED,
    Question,
    ask,
    expect_message,
    issue,
    no_upstream_call,
    tokens_of,
)

Options = dict[str, Any]

# Credentials that are malformed in every mode of the portal.
MALFORMED: dict[str, Options] = {
    "none": {},
    "empty header": {"headers": {"Authorization": ""}},
    "blank header": {"headers": {"Authorization": " "}},
    "empty at": {"query_string": "at="},
    "bearer prefix": {"headers": {"Authorization": f"Bearer {PORTAL_TOKEN}"}},
    "basic": {"headers": {"Authorization": "Basic ZGVtbzpkZW1v"}},
    "non-ASCII header": {"headers": {"Authorization": "sénha"}},
    "non-ASCII at": {"query_string": "at=s%C3%A9nha"},
    "invalid UTF-8 at": {"query_string": "at=%FF%FE"},
    "two that differ": {"headers": {"Authorization": PORTAL_TOKEN}, "query_string": "at=outro"},
    "good header, empty at": {"headers": {"Authorization": PORTAL_TOKEN}, "query_string": "at="},
    "empty header, good at": {
        "headers": {"Authorization": ""},
        "query_string": f"at={PORTAL_TOKEN}",
    },
    "at twice, the same": {"query_string": f"at={PORTAL_TOKEN}&at={PORTAL_TOKEN}"},
    "at twice, different": {"query_string": f"at={PORTAL_TOKEN}&at=outro"},
    "two headers": {"headers": [("Authorization", PORTAL_TOKEN), ("Authorization", "outro")]},
    "two equal headers": {
        "headers": [("Authorization", PORTAL_TOKEN), ("Authorization", PORTAL_TOKEN)]
    },
    "headers joined by the server": {
        "headers": {"Authorization": f"{PORTAL_TOKEN},{PORTAL_TOKEN}"}
    },
    "8 KiB": {"headers": {"Authorization": "a" * 8192}},
    "control character": {"query_string": "at=abc%0Ad"},
    "NUL": {"query_string": "at=%00"},
    "cookie": {"headers": {"Cookie": f"at={PORTAL_TOKEN}; Authorization={PORTAL_TOKEN}"}},
    "other header": {"headers": {"X-Api-Key": PORTAL_TOKEN, "Proxy-Authorization": PORTAL_TOKEN}},
    "other parameter": {"query_string": f"token={PORTAL_TOKEN}&AT={PORTAL_TOKEN}"},
}

UNKNOWN: dict[str, Options] = {
    "unknown": {"headers": {"Authorization": "nobody-was-given-this"}},
    "unknown at": {"query_string": "at=nobody-was-given-this"},
    "operator's credential": {"headers": {"Authorization": OPERATOR_TOKEN}},
    "other case": {"headers": {"Authorization": PORTAL_TOKEN.upper()}},
    "cut short": {"headers": {"Authorization": PORTAL_TOKEN[:-1]}},
}


@pytest.mark.parametrize("case", [*MALFORMED, *UNKNOWN])
def test_wrong_credential_is_401_in_managed_mode(
    portal: PortalFactory, upstream: FaultUpstream, case: str
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            expect_message(ask(here, question, **{**MALFORMED, **UNKNOWN}[case]), 401, UNAUTHORIZED)


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_credential_is_not_sent_upstream_in_pass_through(
    portal: PortalFactory, upstream: FaultUpstream, case: str
) -> None:
    here = portal(pass_through(upstream.url))
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            expect_message(ask(here, question, **MALFORMED[case]), 401, UNAUTHORIZED)


@pytest.mark.parametrize("case", [*MALFORMED, *UNKNOWN])
def test_demo_mode_rejects_wrong_credentials(portal: PortalFactory, case: str) -> None:
    here = portal({})
    for question in QUESTIONS:
        expect_message(ask(here, question, **{**MALFORMED, **UNKNOWN}[case]), 401, UNAUTHORIZED)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"Authorization": PORTAL_TOKEN}},
        {"query_string": f"at={PORTAL_TOKEN}"},
        {"query_string": f"at={PORTAL_TOKEN}", "headers": {"Authorization": PORTAL_TOKEN}},
    ],
    ids=["header", "at", "both"],
)
def test_valid_credential_is_accepted_by_header_and_query(
    portal: PortalFactory, question: Question, options: Options
) -> None:
    assert ask(portal(), question, **options).status_code == 200


def test_demo_mode_accepts_demo_issued_and_configured_tokens(
    portal: PortalFactory,
) -> None:
    here = portal({}, ACCESS_TOKENS="mine,yours")
    for token in ("demo", "mine", "yours", issue(here, "script")):
        for question in QUESTIONS:
            assert ask(here, question, headers={"Authorization": token}).status_code == 200


def test_revoked_token_is_403_even_for_stored_answers(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    token = issue(here, "leaver")
    tokens_of(here).revoke("leaver")
    for question in QUESTIONS:
        assert ask(here, question, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
        with no_upstream_call(upstream):
            expect_message(ask(here, question, headers={"Authorization": token}), 403, FORBIDDEN)


def test_expired_token_is_403_even_for_stored_answers(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    token = issue(here, "trial", lifetime_s=0)
    for question in QUESTIONS:
        assert ask(here, question, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
        with no_upstream_call(upstream):
            expect_message(ask(here, question, headers={"Authorization": token}), 403, FORBIDDEN)


@pytest.mark.parametrize("scope", sorted(OPERATION_SCOPES))
def test_scope_allows_only_its_operation(
    portal: PortalFactory, upstream: FaultUpstream, scope: str
) -> None:
    here = portal()
    token = issue(here, "narrow", frozenset({scope, "refresh", "admin"}))
    for question in QUESTIONS:
        assert ask(here, question, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
        with no_upstream_call(upstream):
            response = ask(here, question, headers={"Authorization": token})
        if question.operation == scope:
            assert response.status_code == 200
        else:
            expect_message(response, 403, FORBIDDEN)


def test_unauthorised_request_reveals_no_other_error(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """The credential and its scopes are checked before plate, state (UF) and body."""
    here = portal()
    narrow = issue(here, "narrow", frozenset({"decode"}))
    wrong_plate = "/detran/v1/restrictions/renainf/XX"
    wrong_uf = "/detran/v1/restrictions/renainf/ABC1D23/ZZ"
    report = "/detran/v1/analytical-reports"
    with no_upstream_call(upstream):
        for path in (wrong_plate, wrong_uf):
            expect_message(here.get(path, None), 401, UNAUTHORIZED)
            expect_message(here.get(path, narrow), 403, FORBIDDEN)
        for body in (b"", b"not json", b"x" * 300_000):
            for token, status in ((None, 401), (narrow, 403)):
                headers = {"Authorization": token} if token else {}
                response = here.client.post(
                    report, data=body, content_type="text/plain", headers=headers
                )
                expect_message(response, status)


def test_revocation_ends_hits_of_a_running_process(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "leaver")
    question = QUESTIONS[0]
    assert ask(here, question, headers={"Authorization": token}).status_code == 200
    revoked = here.app.test_cli_runner().invoke(args=["token", "revoke", "leaver"])
    assert revoked.exit_code == 0
    expect_message(ask(here, question, headers={"Authorization": token}), 403, FORBIDDEN)


@pytest.mark.parametrize("status", [401, 403])
def test_upstream_rejecting_operator_credential_is_503(
    portal: PortalFactory, upstream: FaultUpstream, status: int
) -> None:
    here = portal()
    upstream.default(faults.status(status))
    for question in QUESTIONS:
        response = ask(here, question, headers={"Authorization": PORTAL_TOKEN})
        expect_message(response, 503)
        assert int(response.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(("status", "message"), [(401, UNAUTHORIZED), (403, FORBIDDEN)])
def test_pass_through_relays_upstream_401_and_403(
    portal: PortalFactory, upstream: FaultUpstream, status: int, message: str
) -> None:
    """The upstream's refusal of one credential does not affect other credentials."""
    here = portal(pass_through(upstream.url))
    question = QUESTIONS[0]
    upstream.once(question.path, faults.status(status))
    expect_message(ask(here, question, headers={"Authorization": "worse"}), status, message)
    assert ask(here, question, headers={"Authorization": "better"}).status_code == 200


def test_pass_through_sends_the_callers_credential_by_header_only(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(pass_through(upstream.url))
    for question in QUESTIONS:
        assert ask(here, question, query_string="at=callers-own").status_code == 200
    for call in upstream.calls:
        assert call.header("authorization") == "callers-own"
        assert call.query == {}
        assert call.header("cookie") is None


def test_managed_mode_sends_only_the_operators_credential(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    headers = {"Authorization": PORTAL_TOKEN, "Cookie": "a=b", "X-Forwarded-For": "1.2.3.4"}
    for question in QUESTIONS:
        assert ask(here, question, headers=headers).status_code == 200
    for call in upstream.calls:
        assert call.header("authorization") == OPERATOR_TOKEN
        assert PORTAL_TOKEN not in str(call)
        assert call.header("cookie") is None
        assert call.header("x-forwarded-for") is None


def add_session(here: InProcessPortal) -> None:
    with here.client.session_transaction() as session:
        session["token"] = "0" * 64


def test_page_session_does_not_authenticate_the_json_api(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    add_session(here)
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            response = ask(here, question)
            expect_message(response, 401, UNAUTHORIZED)
            assert "Set-Cookie" not in response.headers
