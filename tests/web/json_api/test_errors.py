"""Errors of the JSON API: Portuguese messages, and the order of checks."""

import pytest

from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, pass_through
from tests.fakes.wire import Fault
from tests.web.json_paths import (
    INVALID_PLATE,
    PLATE,
    QUESTIONS,
    RENAVAM,
    UNAUTHORIZED,
    ask,
    expect_message,
    issue,
    no_upstream_call,
)

AUTH = {"Authorization": PORTAL_TOKEN}

UNKNOWN_PATHS = (
    "/detran",
    "/detran/",
    "/detran/v1",
    "/detran/v1/decode",
    "/detran/v1/decode/",
    f"/detran/v1/decode/{PLATE}/",
    f"/detran/v1/decode/{PLATE}/MG",
    f"/detran/v1/decode//{PLATE}",
    f"//detran/v1/decode/{PLATE}",
    f"/detran/v2/decode/{PLATE}",
    f"/DETRAN/v1/decode/{PLATE}",
    f"/detran/v1/restrictions/renajud/{PLATE}/MG",
    f"/detran/v1/restrictions/renainf/{PLATE}/MG/",
    f"/detran/v1/restrictions/renainf/{PLATE}/MG/x",
    "/detran/v1/analytical-reports/",
    f"/detran/v1/analytical-reports/{PLATE}",
    "/detran/v1/decode/ABC%2F1D23",
)

WRONG_PLATES = (
    "ABC123",
    "ABC12345",
    "1234567",
    "ABCD123",
    "ABC1DD3",
    "ABC--1D23",
    "A-BC1D23",
    "ABC1-D23",
    " ABC1D23",
    "ABC1D23 ",
    "ABC1D23%0A",
    "ABC1D23%00",
    "ßBC1D23",
    "ÀBC1D23",
    "ABC١٢٣٤",
    "ABC①D23",
    "ＡBC1D23",
    "..%5Cetc",
    "ABC1D23;x=1",
    "%",
    "%FF%FE",
    "ABC1D2\u0130",
    "a" * 5000,
)

WRONG_RENAVAMS = (
    *("1234567890", "123456789012", "0012345678٩", "00123456789 ", "-0012345678"),
    *("0012345678-9", "0012345678–9", "'00123456789"),
)
WRONG_STATES = ("XX", "M", "MGG", "mg ", "ＭG", "%20", "0", "ı", "MG%0A", "BR")


@pytest.mark.parametrize("path", UNKNOWN_PATHS)
def test_unknown_path_is_404(portal: PortalFactory, upstream: FaultUpstream, path: str) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            response = here.client.open(path, method=method, headers=AUTH)
            assert response.status_code == 404, response.headers
            if path.startswith("/detran"):
                expect_message(response, 404)


def test_unknown_method_is_405_with_allow(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for question in QUESTIONS:
            allowed = {"POST", "OPTIONS"} if question.method == "POST" else {"GET", "HEAD"}
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY"):
                if method in allowed:
                    continue
                # The router rejects the method before the credential is read.
                response = here.client.open(question.path, method=method)
                expect_message(response, 405)
                assert set(response.headers["Allow"].split(", ")) == allowed | {"OPTIONS"}


@pytest.mark.parametrize("text", WRONG_PLATES)
def test_invalid_plate_is_400_with_the_contracts_message(
    portal: PortalFactory, upstream: FaultUpstream, text: str
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for operation in ("decode", "restrictions/renainf", "restrictions/renajud"):
            path = f"/detran/v1/{operation}/{text}"
            expect_message(here.client.get(path, headers=AUTH), 400, INVALID_PLATE)
            expect_message(here.client.get(path), 401, UNAUTHORIZED)
        path = f"/detran/v1/restrictions/renainf/{text}/MG"
        expect_message(here.client.get(path, headers=AUTH), 400, INVALID_PLATE)


def test_renavam_is_accepted_only_on_restriction_paths(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    for operation in ("renainf", "renajud"):
        assert here.get(f"/detran/v1/restrictions/{operation}/{RENAVAM}").status_code == 200
    assert here.get(f"/detran/v1/restrictions/renainf/{RENAVAM}/mg").status_code == 200
    with no_upstream_call(upstream):
        expect_message(here.get(f"/detran/v1/decode/{RENAVAM}"), 400, INVALID_PLATE)
        for text in WRONG_RENAVAMS:
            for operation in ("renainf", "renajud"):
                path = f"/detran/v1/restrictions/{operation}/{text}"
                expect_message(here.get(path), 400, INVALID_PLATE)


def test_renavam_check_digit_is_not_verified(portal: PortalFactory) -> None:
    here = portal()
    for renavam in ("12345678910", "00000000000"):
        assert here.get(f"/detran/v1/restrictions/renajud/{renavam}").status_code == 200


def test_invalid_uf_is_400_and_mentions_the_uf(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        for state in WRONG_STATES:
            path = f"/detran/v1/restrictions/renainf/{PLATE}/{state}"
            message = expect_message(here.get(path), 400)
            assert "UF" in message


@pytest.mark.parametrize("spelling", ["abc1d23", "ABC-1D23", "aBc-1d23"])
def test_spellings_of_a_plate_share_one_lookup(
    portal: PortalFactory, upstream: FaultUpstream, spelling: str
) -> None:
    here = portal()
    assert here.get(f"/detran/v1/decode/{PLATE}").status_code == 200
    assert upstream.calls[0].path == f"/detran/v1/decode/{PLATE}"
    with no_upstream_call(upstream):
        assert here.get(f"/detran/v1/decode/{spelling}?junk=1&cb=2").status_code == 200


def test_spellings_of_a_uf_share_one_lookup(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    base = f"/detran/v1/restrictions/renainf/{PLATE}"
    for path, calls in ((base, 1), (f"{base}/mg", 2), (f"{base}/MG", 2), (f"{base}/Sp", 3)):
        assert here.get(path).status_code == 200
        assert upstream.count() == calls
    assert [call.path for call in upstream.calls] == [base, f"{base}/MG", f"{base}/SP"]


def test_old_and_mercosul_plates_are_separate_lookups(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    for plate in ("ABC1234", "ABC1C34"):
        assert here.get(f"/detran/v1/decode/{plate}").status_code == 200
    assert upstream.count() == 2


@pytest.mark.parametrize(
    ("fault", "managed_status", "own_status"),
    [
        (faults.status(404), 404, 404),
        (faults.status(429, retry_after="7"), 503, 429),
        (faults.status(402), 502, 502),
        (faults.status(418), 502, 502),
        (faults.status(500), 502, 502),
        (faults.html_error(503), 502, 502),
    ],
    ids=str,
)
def test_upstream_errors_map_to_our_status_and_message(
    portal: PortalFactory,
    upstream: FaultUpstream,
    fault: Fault,
    managed_status: int,
    own_status: int,
) -> None:
    upstream.default(fault)
    for here, status in (
        (portal(), managed_status),
        (portal(pass_through(upstream.url)), own_status),
    ):
        response = ask(here, QUESTIONS[0], headers=AUTH)
        message = expect_message(response, status)
        assert "origem" not in message  # the upstream's text is not relayed
        assert ("Retry-After" in response.headers) == (status in (429, 503))


def test_upstream_400_is_relayed_with_its_message(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    upstream.default(faults.status(400))
    response = ask(here, QUESTIONS[0], headers=AUTH)
    expect_message(response, 400, INVALID_PLATE)
    assert response.data == factories.message_body(INVALID_PLATE)
    assert "Age" not in response.headers
    with no_upstream_call(upstream):
        expect_message(ask(here, QUESTIONS[0], headers=AUTH), 400, INVALID_PLATE)


def test_token_daily_limit_is_429_and_does_not_affect_hits(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    token = {"Authorization": issue(here, "small", daily_limit=2)}
    decode, renainf = QUESTIONS[0], QUESTIONS[1]
    for question in (decode, renainf, decode, renainf):
        assert ask(here, question, headers=token).status_code == 200
    with no_upstream_call(upstream):
        response = ask(here, QUESTIONS[2], headers=token)
        expect_message(response, 429)
        assert 1 <= int(response.headers["Retry-After"]) <= 86_400
        assert ask(here, decode, headers=token).status_code == 200
    assert ask(here, QUESTIONS[2], headers=AUTH).status_code == 200  # other tokens are not limited


def test_portal_daily_limit_is_503_with_retry_after(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(DAILY_CALL_LIMIT="1")
    assert ask(here, QUESTIONS[0], headers=AUTH).status_code == 200
    with no_upstream_call(upstream):
        response = ask(here, QUESTIONS[1], headers=AUTH)
        expect_message(response, 503)
        assert 1 <= int(response.headers["Retry-After"]) <= 86_400


def test_internal_error_message_has_no_details(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here = portal()

    def explode(*_: object, **__: object) -> None:
        raise RuntimeError(f"at={PORTAL_TOKEN} {PLATE}")

    monkeypatch.setattr("portal.web.json_api.routes.read_credential", explode)
    message = expect_message(ask(here, QUESTIONS[0], headers=AUTH), 500)
    assert PLATE not in message
    assert "RuntimeError" in caplog.text
    assert PLATE not in caplog.text
    assert PORTAL_TOKEN not in caplog.text
