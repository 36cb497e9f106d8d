"""Every code of an error under ``/api/v1`` is reached, and says what the table says."""

import sqlite3
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest

from portal.access.tokens import SCOPES
from portal.batch.model import MOST_DRAFTS
from portal.pdf.process import PdfProcess, RenderingInterrupted
from portal.pdf.renderer import PDFUnavailable
from portal.phrasebook.api_errors import API_ERRORS
from portal.web.json_api.openapi import as_document
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, managed, pass_through
from tests.fakes.ports import free_port
from tests.web.json_paths import PLATE, expect_message, issue, tokens_of

VEHICLE = f"/api/v1/vehicles/{PLATE}"
PRICES = f"{VEHICLE}/prices.csv"
FINES = f"{VEHICLE}/fines.csv"
BATCHES = "/api/v1/batches"
AUTH = {"Authorization": PORTAL_TOKEN}


class Scene:
    """What an error needs: the functions that build a portal and script its upstream."""

    def __init__(
        self, portal: PortalFactory, upstream: FaultUpstream, patch: pytest.MonkeyPatch
    ) -> None:
        self.portal = portal
        self.upstream = upstream
        self.patch = patch

    def prices(self, fault: Any, *, own: bool = False, **settings: str) -> Any:
        """Export prices while the upstream has a fault. ``own``: with a credential of its own."""
        self.upstream.default(fault)
        here = self.portal(pass_through(self.upstream.url) if own else None, **settings)
        return here.get(PRICES)

    def posted(self, body: object, **settings: str) -> Any:
        return self.portal(**settings).client.post(BATCHES, json=body, headers=AUTH)

    def sent(self, **options: Any) -> Any:
        headers = AUTH | options.pop("headers", {})
        return self.portal().client.post(BATCHES, headers=headers, **options)

    def with_token(self, path: str, **more: Any) -> Any:
        here = self.portal()
        token = issue(here, "ana", **more)
        here.get(FINES, token=token)
        return here.get(path, token=token)

    def ended_token(self) -> Any:
        here = self.portal()
        token = issue(here, "ana")
        tokens_of(here).revoke("ana")
        return here.get(PRICES, token=token)

    def draft(self) -> tuple[InProcessPortal, str]:
        here = self.portal()
        created = here.client.post(BATCHES, json={"plates": [PLATE]}, headers=AUTH)
        return here, f"{BATCHES}/{created.get_json()['id']}"

    def paused_draft(self) -> Any:
        here, batch = self.draft()
        return here.client.post(f"{batch}/pause", headers=AUTH)

    def keyed(self, *keys: str) -> Any:
        """Send a batch of another plate with each key. Return the last response."""
        here = self.portal()
        return [
            here.client.post(
                BATCHES,
                json={"plates": [f"ABC1D2{number}"]},
                headers={**AUTH, "Idempotency-Key": key},
            )
            for number, key in enumerate(keys)
        ][-1]

    def one_draft_too_many(self) -> Any:
        here, _ = self.draft()
        body = {"plates": [PLATE]}
        return [here.client.post(BATCHES, json=body, headers=AUTH) for _ in range(MOST_DRAFTS)][-1]

    def fines_not_asked(self) -> Any:
        here = self.portal()
        body = {"plates": [PLATE], "ask": ["decode"]}
        created = here.client.post(BATCHES, json=body, headers=AUTH)
        return here.get(f"{BATCHES}/{created.get_json()['id']}/fines.csv")

    def limited_at_unknown_price(self) -> Any:
        here = self.portal(PRICE_DECODE="0.30")
        created = here.client.post(BATCHES, json={"plates": [PLATE]}, headers=AUTH)
        start = f"{BATCHES}/{created.get_json()['id']}/start"
        return here.client.post(start, json={"max_cost": 60}, headers=AUTH)

    def moment_at_unknown_price(self) -> Any:
        path = f"/api/v1/vehicles/{PLATE}/moment"
        return self.portal().client.post(path, json={"max_cost": 60}, headers=AUTH)

    def archive(self, error: Exception) -> Any:
        def fail(_: PdfProcess) -> None:
            raise error

        self.patch.setattr(PdfProcess, "check", fail)
        here, batch = self.draft()
        return here.get(f"{batch}/results.zip")

    def second_archive(self) -> Any:
        self.patch.setattr(PdfProcess, "check", lambda _: None)
        here, batch = self.draft()
        with here.client.get(f"{batch}/results.zip", headers=AUTH, buffered=False):
            return here.app.test_client().get(f"{batch}/results.zip", headers=AUTH)

    def second_call(self, **settings: str) -> Any:
        here = self.portal(**settings)
        here.get(FINES)
        return here.get(PRICES)

    def without(self, table: str, token: str = PORTAL_TOKEN) -> Any:
        here = self.portal()
        with sqlite3.connect(here.settings.data_dir / "portal.sqlite") as database:
            database.execute(f"DROP TABLE {table}")
        database.close()
        return here.get(PRICES, token=token)

    def declared_against_a_record(self) -> Any:
        here = self.portal()
        here.get(VEHICLE)
        # The answers have a fine, so "nothing" contradicts them.
        body = {"lines": [{"line": "multas", "state": "nothing"}]}
        return here.client.put(f"{VEHICLE}/declared", json=body, headers=AUTH)

    def exploded(self) -> Any:
        def explode(*_: object) -> None:
            raise RuntimeError

        self.patch.setattr("portal.web.json_api.calls.read_credential", explode)
        return self.portal().get(VEHICLE)

    def text_without_records(self) -> Any:
        body = b'{"status": "SUCCESS", "result": [], "mensagem": "Frase sem sentido"}'
        self.upstream.default(faults.answer("text", body))
        return self.portal().get(FINES)

    def slow(self) -> Any:
        gate = threading.Event()
        try:
            return self.prices(faults.held(gate), FIRST_BYTE_TIMEOUT="0.2", DEADLINE="0.3")
        finally:
            gate.set()


SCENES: dict[str, Callable[[Scene], Any]] = {
    "plate_invalid": lambda here: here.portal().get("/api/v1/vehicles/XX"),
    "parameter_unknown": lambda here: here.portal().get(f"{VEHICLE}?aks=decode"),
    "parameter_invalid": lambda here: here.portal().get(f"{VEHICLE}?ask=fipe"),
    "body_invalid": lambda here: here.posted({"plates": PLATE}),
    "batch_empty": lambda here: here.posted({"plates": ["hello"]}),
    "batch_too_long": lambda here: here.posted({"plates": [PLATE, "ABC1D24"]}, BATCH_LIMIT="1"),
    "idempotency_key_invalid": lambda here: here.keyed("with space"),
    "request_malformed": lambda here: here.sent(
        data=b"{", environ_overrides={"CONTENT_LENGTH": "9"}
    ),
    "credential_missing": lambda here: here.portal().get(VEHICLE, token=None),
    "credential_unknown": lambda here: here.portal().get(VEHICLE, token="unknown"),
    "credential_refused": lambda here: here.prices(faults.status(401), own=True),
    "token_ended": Scene.ended_token,
    "scope_missing": lambda here: here.with_token(PRICES, scopes=SCOPES - {"decode"}),
    "access_refused": lambda here: here.prices(faults.status(403), own=True),
    "path_unknown": lambda here: here.portal().get("/api/v1/nothing"),
    "batch_unknown": lambda here: here.portal().get(f"{BATCHES}/0123456789abcdef01234567"),
    "dossier_unknown": lambda here: here.portal().get("/api/v1/dossiers/7F3K-9QMD-2XHA"),
    "record_not_found": lambda here: here.prices(faults.status(404)),
    "method_not_allowed": lambda here: here.portal().client.delete(VEHICLE),
    "batch_state": Scene.paused_draft,
    "cost_unknown": Scene.limited_at_unknown_price,
    "contradicts_record": lambda here: here.declared_against_a_record(),
    "cost_above_limit": Scene.moment_at_unknown_price,
    "too_many_drafts": Scene.one_draft_too_many,
    "lookup_not_asked": Scene.fines_not_asked,
    "body_too_large": lambda here: here.sent(data=b"x" * 300_000),
    "body_type": lambda here: here.sent(data=b"{}", content_type="text/plain"),
    "idempotency_mismatch": lambda here: here.keyed("one", "one"),
    "budget_spent": lambda here: here.with_token(PRICES, monthly_budget=Decimal(60)),
    "daily_limit": lambda here: here.with_token(PRICES, daily_limit=1),
    "too_many_requests": lambda here: here.second_call(RATE_LIMIT_TOKEN="1/minute"),
    "upstream_limit": lambda here: here.prices(faults.status(429, retry_after="7"), own=True),
    "internal_error": Scene.exploded,
    "pdf_unavailable": lambda here: here.archive(PDFUnavailable()),
    "upstream_bad_answer": lambda here: here.prices(faults.status(500)),
    "upstream_no_credit": lambda here: here.prices(faults.status(402)),
    "answer_unconfirmed": Scene.text_without_records,
    "upstream_unreachable": lambda here: here.portal(
        managed(f"http://127.0.0.1:{free_port()}")
    ).get(PRICES),
    "upstream_busy": lambda here: here.prices(faults.status(429, retry_after="7")),
    "upstream_access": lambda here: here.prices(faults.status(401)),
    "portal_daily_limit": lambda here: here.second_call(DAILY_CALL_LIMIT="1"),
    "ledger_unavailable": lambda here: here.without("ledger"),
    "portal_unavailable": lambda here: here.without("access_tokens", token="unknown"),
    "busy": Scene.second_archive,
    "pdf_not_ready": lambda here: here.archive(RenderingInterrupted()),
    "upstream_timeout": Scene.slow,
    "not_stored": lambda here: here.portal().get(
        PRICES, headers={"Cache-Control": "only-if-cached"}
    ),
}


@pytest.mark.parametrize("code", API_ERRORS)
def test_every_code_is_reached(
    portal: PortalFactory, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    response = SCENES[code](Scene(portal, upstream, monkeypatch))
    error = API_ERRORS[code]
    expect_message(response, error.status)
    assert response.get_json()["code"] == code
    schema = as_document()["components"]["schemas"]["Error"]
    jsonschema_rs.Draft202012Validator(schema).validate(response.get_json())
    assert ("retry_after_s" in response.get_json()) == (error.status in (429, 503))


def test_error_as_problem_details(portal: PortalFactory) -> None:
    """RFC 9457, where the client names its media type."""
    here = portal()
    path = "/api/v1/vehicles/X%C3%A3"
    plain = here.get(path).get_json()
    for accept in ("application/problem+json", "application/json, application/problem+json;q=0.9"):
        response = here.get(path, headers={"Accept": accept})
        assert (response.status_code, response.content_type) == (400, "application/problem+json")
        problem = response.get_json()
        request_id = response.headers["X-Request-Id"]
        assert problem == plain | {
            "request_id": request_id,
            "type": "/api#plate_invalid",
            "title": plain["message"],
            "status": 400,
            "detail": plain["message"],
            "instance": path,
        }
    for accept in ("application/json", "*/*", "application/problem+json;q=0"):
        assert here.get(path, headers={"Accept": accept}).content_type == "application/json"


def test_contracts_paths_have_the_message_alone(portal: PortalFactory) -> None:
    here = portal()
    headers = {"Accept": "application/problem+json"}
    expect_message(here.get("/detran/v1/decode/XX", headers=headers), 400)
    expect_message(here.get("/detran/v1/nothing", headers=headers), 404)


def test_reference_and_document_list_every_code(portal: PortalFactory) -> None:
    here = portal()
    page = here.client.get("/api").get_data(as_text=True)
    schemas = here.client.get("/openapi.json").get_json()["components"]["schemas"]
    for code, error in API_ERRORS.items():
        assert f'<tr id="{code}"><th scope="row">{error.status}</th>' in page
    assert schemas["Error"]["properties"]["code"]["enum"] == list(API_ERRORS)
    assert schemas["Problem"]["properties"]["code"]["enum"] == list(API_ERRORS)
