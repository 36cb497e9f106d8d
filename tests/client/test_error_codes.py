"""Every error code of openapi.yaml, as the client raises it from a portal that runs."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from dossie_veicular_client import Client, PortalError
from dossie_veicular_client.errors import Busy, error_class
from dossie_veicular_client.transport import Transport

from portal.web.json_api.openapi import as_document
from tests.fakes import Fault, FaultUpstream, faults, free_port
from tests.fakes.in_process import PORTAL_TOKEN, PRICED, managed, pass_through
from tests.fakes.processes import PortalProcess

PLATE = "ABC1D23"
CODES = as_document()["components"]["schemas"]["Error"]["properties"]["code"]["enum"]
BATCHES = "/api/v1/batches"
NO_WAIT: dict[str, Any] = {"sleep": lambda _: None}


class Access(NamedTuple):
    """A portal, and a client and a transport that speak to it. A client cannot send some errors."""

    portal: PortalProcess
    client: Client
    raw: Transport

    @classmethod
    def to(cls, portal: PortalProcess, token: str = PORTAL_TOKEN) -> "Access":
        return cls(
            portal, Client(portal.url, token, **NO_WAIT), Transport(portal.url, token, **NO_WAIT)
        )

    def with_token(self, name: str, *words: str) -> "Access":
        issued = self.portal.command_line("token", "issue", name, *words)
        return Access.to(self.portal, issued.stdout.split()[-1])

    def draft(self, *ask: Any) -> str:
        return self.client.create_batch([PLATE], ask or None)["id"]

    def prices(self) -> object:
        return self.client.table(PLATE, "prices")


def send(method: str, path: str, **options: Any) -> Callable[[Access], object]:
    return lambda here: here.raw.send(method, path, is_free=False, **options)


def revoked(here: Access) -> object:
    ended = here.with_token("ana")
    here.portal.command_line("token", "revoke", "ana")
    return ended.client.usage()


def limited(here: Access) -> object:
    bia = here.with_token("bia", "--daily-limit", "1")
    bia.client.decode("LMP0A01")
    return bia.client.table("MUL0A45", "prices")


def mismatched(here: Access) -> object:
    here.client.create_batch([PLATE], idempotency_key="key")
    return here.client.create_batch(["LMP0A01"], idempotency_key="key")


def one_draft_too_many(here: Access) -> object:
    eva = here.with_token("eva")
    return [eva.draft() for _ in range(21)]


def contradicted(here: Access) -> object:
    here.client.vehicle(PLATE)
    return here.client.declare(PLATE, "multas", "nothing")


PLAIN: dict[str, Callable[[Access], object]] = {
    "plate_invalid": lambda here: here.client.vehicle("XX"),
    "parameter_unknown": send("GET", f"/api/v1/vehicles/{PLATE}", params={"aks": "decode"}),
    "parameter_invalid": send("GET", f"/api/v1/vehicles/{PLATE}", params={"ask": "fipe"}),
    "body_invalid": lambda here: here.client.start_batch(here.draft(), -1),
    "batch_empty": lambda here: here.client.create_batch(["hello"]),
    "batch_too_long": lambda here: here.client.create_batch([PLATE, "LMP0A01", "MUL0A45"]),
    "idempotency_key_invalid": lambda here: here.client.create_batch(
        [PLATE], idempotency_key="with space"
    ),
    "credential_missing": send("GET", "/api/v1/usage", params={"at": "another"}),
    "credential_unknown": lambda here: Access.to(here.portal, "unknown").client.usage(),
    "token_ended": revoked,
    "scope_missing": lambda here: here.with_token("caio", "--scopes", "renainf").prices(),
    "path_unknown": send("GET", "/api/v1/nothing"),
    "batch_unknown": lambda here: here.client.batch("0" * 24),
    "dossier_unknown": lambda here: here.client.issued("7F3K-9QMD-2XHA"),
    "method_not_allowed": send("DELETE", f"/api/v1/vehicles/{PLATE}"),
    "batch_state": lambda here: here.client.pause_batch(here.draft()),
    "cost_unknown": lambda here: here.client.start_batch(here.draft(), 60.0),
    "contradicts_record": contradicted,
    "cost_above_limit": lambda here: here.client.moment(PLATE, max_cost=60.0),
    "too_many_drafts": one_draft_too_many,
    "lookup_not_asked": lambda here: here.client.batch_fines(here.draft("decode")),
    "body_too_large": lambda here: here.client.create_batch(["x" * 300_000]),
    "body_type": send("POST", BATCHES, json={}, headers={"Content-Type": "text/plain"}),
    "idempotency_mismatch": mismatched,
    "daily_limit": limited,
    "not_stored": lambda here: here.client.table("NAO0G00", "prices", reuse="stored"),
}


class Broken(NamedTuple):
    """A portal whose upstream has a fault, or that has these settings. ``own``: pass-through."""

    fault: Fault = faults.good()
    settings: dict[str, str] = {}
    own: bool = False


FAULTY: dict[str, Broken] = {
    "credential_refused": Broken(faults.status(401), own=True),
    "access_refused": Broken(faults.status(403), own=True),
    "upstream_limit": Broken(faults.status(429, retry_after="70"), own=True),
    "record_not_found": Broken(faults.status(404)),
    "upstream_bad_answer": Broken(faults.status(500)),
    "upstream_no_credit": Broken(faults.status(402)),
    "answer_unconfirmed": Broken(
        faults.answer("text", b'{"status": "DONE", "result": {}, "mensagem": "Frase"}')
    ),
    "upstream_busy": Broken(faults.status(429, retry_after="70")),
    "upstream_access": Broken(faults.status(401)),
    "upstream_timeout": Broken(faults.hang(), {"PORTAL_DEADLINE": "1"}),
    "upstream_unreachable": Broken(
        settings={"PORTAL_UPSTREAM_URL": f"http://127.0.0.1:{free_port()}"}
    ),
    "too_many_requests": Broken(settings={"PORTAL_RATE_LIMIT_TOKEN": "1/minute"}),
    "budget_spent": Broken(settings=PRICED | {"PORTAL_MONTHLY_BUDGET": "0.20"}),
    "portal_daily_limit": Broken(settings={"PORTAL_DAILY_CALL_LIMIT": "1"}),
}
# The code by the database table that is lost, and by the library that fails as it is imported.
LOST = {"ledger_unavailable": "ledger", "portal_unavailable": "access_tokens"}
FAILING = {
    "pdf_unavailable": ("weasyprint", "raise OSError", "results.zip"),
    "pdf_not_ready": ("weasyprint", "import os; os._exit(1)", "results.zip"),
    "internal_error": ("icalendar", "raise RuntimeError", "deadlines.ics"),
}
# A client that sends a body sends all of it. A small archive is sent before the client can ask for
# a second one; tests/web/http/test_streams.py has the code.
NEVER = {"request_malformed", "busy"}


def raised(code: str, call: Callable[[], object]) -> None:
    with pytest.raises(PortalError) as found:
        call()
    error = found.value
    assert error.code == code
    assert type(error) is error_class(error.status, code)
    assert error.message and error.request_id
    assert (error.retry_after_s is not None) == (error.status in (429, 503))


def test_every_code_has_a_scene() -> None:
    scenes = [*PLAIN, *FAULTY, *LOST, *FAILING, *NEVER]
    assert sorted(scenes) == sorted(CODES)


def test_busy_portal_has_asked_nothing() -> None:
    assert error_class(503, "busy") is Busy


@pytest.mark.slow
def test_codes_of_requests(upstream: FaultUpstream) -> None:
    with PortalProcess(managed(upstream.url) | {"PORTAL_BATCH_LIMIT": "2"}) as portal:
        for code, scene in PLAIN.items():
            raised(code, lambda scene=scene: scene(Access.to(portal)))  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("code", FAULTY)
def test_codes_of_faults(upstream: FaultUpstream, code: str) -> None:
    fault, settings, own = FAULTY[code]
    upstream.default(fault)
    mode = (pass_through if own else managed)(upstream.url)
    with PortalProcess(mode | settings) as portal:
        here = Access.to(portal)
        if "LIMIT" in "".join(settings):
            here.client.vehicle(PLATE, ["renajud"])
        raised(code, here.prices)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("code", LOST)
def test_codes_of_lost_tables(upstream: FaultUpstream, code: str) -> None:
    with PortalProcess(managed(upstream.url)) as portal:
        here = Access.to(portal, "unknown" if code == "portal_unavailable" else PORTAL_TOKEN)
        with closing(sqlite3.connect(portal.data_dir / "portal.sqlite")) as database, database:
            database.execute(f"DROP TABLE {LOST[code]}")
        raised(code, here.prices)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("code", FAILING)
def test_codes_of_libraries(upstream: FaultUpstream, tmp_path: Path, code: str) -> None:
    library, program, file = FAILING[code]
    (tmp_path / f"{library}.py").write_text(program)
    portal = PortalProcess(managed(upstream.url) | {"PYTHONPATH": str(tmp_path)})
    portal.preloaded = False
    with portal:
        here = Access.to(portal)
        here.client.vehicle(PLATE)
        batch = here.draft()
        raised(code, lambda: here.raw.send("GET", f"{BATCHES}/{batch}/{file}", is_free=True))
