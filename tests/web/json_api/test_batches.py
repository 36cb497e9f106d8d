"""``/api/v1/batches``: objects, states, credentials, results in every format."""

import csv
import io
import json
import re
import threading
import time
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from portal.desk.issuing import NOT_ASKED_IN_BATCH, NOT_STORED_IN_BATCH
from portal.desk.lookups import Lookups
from portal.gateway.gateway import Gateway
from portal.gateway.store import Store
from portal.pdf.process import PdfProcess
from portal.pdf.renderer import PdfRenderer, PDFUnavailable
from portal.web.json_api import batch_files
from portal.web.json_api.batch_files import NO_STORED_ANSWER, NOT_RENDERED, ONLY_FOR_PLATES
from tests import factories
from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, managed
from tests.fakes.ports import wait_until
from tests.web.json_paths import (
    FORBIDDEN,
    UNAUTHORIZED,
    expect_message,
    issue,
    no_upstream_call,
    tokens_of,
)
from tests.web.signed_in import visitor

AUTH = {"Authorization": PORTAL_TOKEN}
BATCHES = "/api/v1/batches"
ONLY_IF_CACHED = {"Cache-Control": "only-if-cached"}
PLATES = ["ABC1D23", "LMP0A01", "MUL0A45"]


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(PRICE_DECODE="0.85", PRICE_RENAINF="0.95", PRICE_RENAJUD="0.65")


def post(here: InProcessPortal, path: str, body: object = None, token: str = PORTAL_TOKEN) -> Any:
    options = {} if body is None else {"json": body}
    return here.client.post(path, headers={"Authorization": token}, **options)


def created(here: InProcessPortal, plates: list[Any] = PLATES, **more: Any) -> dict[str, Any]:
    response = post(here, BATCHES, {"plates": plates, **more})
    assert response.status_code == 201, response.data
    assert response.headers["Location"] == f"{BATCHES}/{response.get_json()['id']}"
    found: dict[str, Any] = response.get_json()
    return found


def test_byte_order_mark_before_a_body_is_ignored(here: InProcessPortal) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"plates": PLATES}).encode()
    headers = AUTH | {"Content-Type": "application/json"}
    assert here.client.post(BATCHES, data=body, headers=headers).status_code == 201


def ended(here: InProcessPortal, batch: str, terms: object = None) -> dict[str, Any]:
    assert post(here, f"{BATCHES}/{batch}/start", terms).status_code == 200
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = here.get(f"{BATCHES}/{batch}").get_json()
        if found["state"] != "running":
            return found
        here.parts.batch_runner.tick()
        time.sleep(0.02)
    raise AssertionError("the batch did not end")


def results(here: InProcessPortal, batch: str, name: str) -> Any:
    response = here.get(f"{BATCHES}/{batch}/results.{name}")
    assert response.status_code == 200, response.data
    return response


def test_new_batch_is_a_draft_with_its_price(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    here.get("/detran/v1/decode/ABC1D23")
    with no_upstream_call(upstream):
        found = created(here, [*PLATES, "ABC12", "LMPOA01", "abc-1d23", "79831854647"])
    assert found["state"] == "draft"
    assert found["counts"] == {"total": 4, "stored": 0, "done": 0, "failed": 0, "pending": 4}
    assert found["cost"] == {"spent": 0, "at_most": 8.10}  # 3 × 2.45 − 0.85 stored + 1.60 Renavam
    assert [(each["index"], each["value"]) for each in found["wrong"]] == [
        (3, "ABC12"),
        (4, "LMPOA01"),
    ]
    assert "5 dos 7 caracteres" in found["wrong"][0]["message"]
    assert "LMP0A01" in found["wrong"][1]["message"]
    assert here.get(f"{BATCHES}/{found['id']}").get_json() == found
    assert here.get(BATCHES).get_json() == {"batches": [found | {"wrong": []}], "next": None}


def test_draft_whose_answers_have_expired_has_its_present_price(
    here: InProcessPortal, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.get("/detran/v1/decode/ABC1D23")
    draft = created(here, ["ABC1D23"], ask=["decode"])
    assert draft["cost"] == {"spent": 0, "at_most": 0}
    monkeypatch.setattr(Gateway, "get_fresh", lambda *_: None)
    with no_upstream_call(upstream):
        found = here.get(f"{BATCHES}/{draft['id']}").get_json()
        (listed,) = here.get(BATCHES).get_json()["batches"]
    assert found["cost"] == listed["cost"] == {"spent": 0, "at_most": 0.85}


def test_batch_runs_to_its_results(here: InProcessPortal, upstream: FaultUpstream) -> None:
    upstream.script("/detran/v1/decode/LMP0A01", faults.status(500))
    batch = created(here)["id"]
    found = ended(here, batch)
    assert (found["state"], found["counts"]["done"], found["counts"]["failed"]) == ("done", 2, 1)
    assert found["cost"] == {"spent": 7.35, "at_most": 7.35}
    assert upstream.count() == 9

    rows = [json.loads(line) for line in results(here, batch, "jsonl").data.splitlines()]
    assert [row["plate"] for row in rows] == PLATES
    assert [row["state"] for row in rows] == ["done", "failed", "done"]
    assert (rows[1]["verdict"], rows[1]["cause"]) == ("blocked", "bad_answer")
    assert rows[1]["missing"] == "dados do veículo"
    assert rows[0]["fines_amount"] == 130.16

    here.wait_out_failures()
    upstream.clear()
    assert ended(here, batch) == found  # a start asks nothing of the failed plate
    for refused in ([], ["ABC1D24"], ["?"], "LMP0A01", [1]):
        response = post(here, f"{BATCHES}/{batch}/start", {"retry": refused})
        assert (response.status_code, response.get_json()["code"]) == (400, "body_invalid")
    for terms, code, reason in (
        ({"retry": [PLATES[0]]}, "batch_state", "Nenhuma destas placas falhou"),
        (
            {"retry": ["LMP0A01"], "max_cost": 0.84},
            "cost_above_limit",
            "pode custar R$ 0,85, e max_cost é R$ 0,84",
        ),
    ):
        response = post(here, f"{BATCHES}/{batch}/start", terms)
        assert (response.status_code, response.get_json()["code"]) == (409, code)
        assert reason in response.get_json()["message"].replace("\u00a0", " ")
        assert here.get(f"{BATCHES}/{batch}").get_json() == found
    terms = {"retry": ["lmp-0a01", PLATES[0]], "max_cost": 0.85}
    retried = post(here, f"{BATCHES}/{batch}/start", terms).get_json()
    assert retried["cost"] == {"spent": 7.35, "at_most": 8.2}
    assert retried["counts"]["pending"] == 1
    found = ended(here, batch)
    assert found["counts"]["done"] == 3
    assert upstream.count() == 10
    assert round(found["cost"]["spent"], 2) == 8.20


def test_empty_answers_do_not_vouch_for_a_vehicle_after_their_fresh_time(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """An empty answer is fresh for a quarter of the time, and never stale."""
    here = portal(FRESH_RENAJUD="8")
    for lookup, body in (
        ("decode", factories.decode_body("ABC1D23")),
        ("restrictions/renainf", factories.renainf_body()),
        ("restrictions/renajud", factories.renajud_body()),
    ):
        upstream.script(f"/detran/v1/{lookup}/ABC1D23", faults.answer("clean", body))
    batch = created(here, ["ABC1D23"])["id"]
    ended(here, batch)
    (row,) = map(json.loads, results(here, batch, "jsonl").data.splitlines())
    assert (row["verdict"], row["restrictions"]) == ("clear", 0)
    path = "/detran/v1/restrictions/renajud/ABC1D23"
    wait_until(
        lambda: here.get(path, headers=ONLY_IF_CACHED).status_code == 504, "the answer's end"
    )
    time.sleep(0.3)  # the jitter ends the fresh time up to a tenth earlier
    (row,) = map(json.loads, results(here, batch, "jsonl").data.splitlines())
    assert (row["verdict"], row["restrictions"], row["fines_open"]) == ("incomplete", None, 0)
    assert row["expired"] == "restrições judiciais"


def test_results_since_a_moment_and_results_that_are_out_of_date(
    here: InProcessPortal, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both lists have a plate without an answer, because its answer may have changed."""
    upstream.script("/detran/v1/decode/LMP0A01", faults.status(500))
    batch = created(here)["id"]
    ended(here, batch)
    after = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()

    def plates_of(query: str) -> list[str]:
        response = here.get(f"{BATCHES}/{batch}/results.jsonl?{query}")
        assert response.status_code == 200, response.data
        return [json.loads(line)["plate"] for line in response.data.splitlines()]

    assert plates_of("since=2026-01-01T00:00:00Z") == PLATES
    assert plates_of(f"since={after}") == ["LMP0A01"]  # the plus sign arrives as a blank
    assert plates_of("expired=true") == ["LMP0A01"]
    assert plates_of("expired=false") == PLATES
    now_s = time.time()
    monkeypatch.setattr("portal.web.json_api.batch_files.time.time", lambda: now_s + 3601)
    assert plates_of("expired=true") == PLATES
    for wrong in ("since=2026-01-01T00:00:00", "since=ontem", "expired=1", "since=&since="):
        response = here.get(f"{BATCHES}/{batch}/results.csv?{wrong}")
        assert (response.status_code, response.get_json()["code"]) == (400, "parameter_invalid")


def test_calls_charged_at_both_addresses_stay_within_the_confirmed_price(
    portal: PortalFactory, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    upstream.default(faults.answer("application/json", b"garbage"))
    here = portal(managed(upstream.url, secondary.url), PRICE_DECODE="5", BATCH_CONCURRENCY="2")
    batch = created(here, plates(4), ask=["decode"])
    assert batch["cost"]["at_most"] == 20
    found = ended(here, batch["id"])
    assert (found["state"], found["counts"]["failed"]) == ("done", 4)
    assert found["cost"] == {"spent": 20, "at_most": 20}
    assert upstream.count() + secondary.count() == 4


@pytest.mark.parametrize(("max_cost", "whole"), [(2.44, 0), (2.45, 1), (4.9, 2), (6.5, 2)])
def test_given_price_buys_whole_vehicles(
    portal: PortalFactory, upstream: FaultUpstream, max_cost: float, whole: int
) -> None:
    """The rest of 6.50 would hold each further plate's decode."""
    prices = {"PRICE_DECODE": "0.05", "PRICE_RENAINF": "1.20", "PRICE_RENAJUD": "1.20"}
    here = portal(**prices)
    batch = created(here, plates(20))["id"]
    found = ended(here, batch, {"max_cost": max_cost})
    assert (found["reason"], found["counts"]["done"]) == ("price", whole)
    assert (upstream.count(), round(found["cost"]["spent"], 2)) == (3 * whole, 2.45 * whole)
    rows = [json.loads(line) for line in results(here, batch, "jsonl").data.splitlines()]
    assert [row["state"] for row in rows] == ["done"] * whole + ["pending"] * (20 - whole)


def test_batch_spends_at_most_the_given_price(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(PRICE_DECODE="0.85", BATCH_CONCURRENCY="1")
    batch = created(here, plates(4), ask=["decode"])["id"]
    wrong: object
    for wrong in ({"max_cost": -1}, {"max_cost": "2"}, {"max_cost": True}, {"max_cost": 1e10}, []):
        response = post(here, f"{BATCHES}/{batch}/start", wrong)
        assert response.status_code == 400, wrong
    assert here.get(f"{BATCHES}/{batch}").get_json()["state"] == "draft"
    found = ended(here, batch, {"max_cost": 1.8})
    assert (found["state"], found["reason"], found["counts"]["done"]) == ("paused", "price", 2)
    assert (upstream.count(), found["cost"]["spent"]) == (2, 1.7)
    assert found["cost"]["at_most"] == 3.4  # what a start now would confirm
    assert (ended(here, batch)["state"], upstream.count()) == ("done", 4)


def test_csv_has_the_same_cells_in_both_dialects(here: InProcessPortal) -> None:
    batch = created(here)["id"]
    ended(here, batch)
    brazil = results(here, batch, "csv")
    assert brazil.content_type.startswith("text/csv; charset=utf-8")
    assert brazil.data.startswith(b"\xef\xbb\xbfplate;state;verdict;")
    assert f'filename="lote-{batch[:8]}.csv"' in brazil.headers["Content-Disposition"]
    international = results(here, batch, "csv?dialect=rfc4180")
    assert international.data.startswith(b"plate,state,verdict,")
    one = list(csv.DictReader(io.StringIO(brazil.data.decode("utf-8-sig")), delimiter=";"))
    other = list(csv.DictReader(io.StringIO(international.data.decode())))
    assert [row["plate"] for row in one] == [row["plate"] for row in other] == PLATES
    assert one[0]["fines_amount"] == "130,16"
    assert other[0]["fines_amount"] == "130.16"
    assert one[0]["vehicle"] == other[0]["vehicle"]


def test_xlsx_has_typed_cells_and_no_formula(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    evil = factories.decode_body("ABC1D23", descricao="=HYPERLINK(1)", marca="+1")
    upstream.script("/detran/v1/decode/ABC1D23", faults.answer("evil", evil))
    batch = created(here)["id"]
    ended(here, batch)
    book = openpyxl.load_workbook(io.BytesIO(results(here, batch, "xlsx").data))
    (sheet,) = book.worksheets
    names = [cell.value for cell in sheet[1]]
    first = dict(zip(names, sheet[2], strict=True))
    assert first["plate"].value == "ABC1D23"
    assert first["fines_amount"].value == 130.16
    assert first["fines_amount"].data_type == "n"
    assert isinstance(first["fetched_at"].value, datetime)
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    texts = results(here, batch, "csv?dialect=rfc4180").data.decode()
    for row in csv.reader(io.StringIO(texts)):
        assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in row)


def test_zip_holds_a_dossier_for_each_answered_plate(here: InProcessPortal) -> None:
    pytest.importorskip("weasyprint")
    batch = created(here, ["ABC1D23", "79831854647"])["id"]
    ended(here, batch)
    with here.client.get(
        f"{BATCHES}/{batch}/results.zip", headers=AUTH, buffered=False
    ) as response:
        if response.status_code == 501:
            pytest.skip("a library of WeasyPrint is not installed")
        parts = list(response.iter_encoded())
    assert b"placas.txt" in parts[0]
    assert b"%PDF" not in parts[0]  # sent before the first dossier is rendered
    archive = zipfile.ZipFile(io.BytesIO(b"".join(parts)))
    assert archive.testzip() is None
    assert archive.namelist() == ["placas.txt", "dossie-ABC1D23.pdf", "sem-dossie.txt"]
    assert archive.read("dossie-ABC1D23.pdf").startswith(b"%PDF")
    assert b"79831854647" in archive.read("sem-dossie.txt")


@pytest.fixture
def pdfs_are_html(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put HTML instead of PDF into the archive, so that WeasyPrint is not needed."""
    for name, done in (
        ("check", lambda _: None),
        ("render_for_archive", lambda _, html, __: html.encode()),
    ):
        monkeypatch.setattr(PdfProcess, name, done)


def zipped(here: InProcessPortal, batch: str) -> dict[str, str]:
    archive = zipfile.ZipFile(io.BytesIO(results(here, batch, "zip").data))
    return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.usefixtures("pdfs_are_html")
def test_dossier_of_a_narrow_batch_says_what_was_not_asked(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    here.get("/detran/v1/restrictions/renainf/LMP0A01")
    batch = created(here, ["ABC1D23", "LMP0A01"], ask=["decode"])["id"]
    ended(here, batch)
    with no_upstream_call(upstream):
        files = zipped(here, batch)
    assert list(files) == ["placas.txt", "dossie-ABC1D23.pdf", "dossie-LMP0A01.pdf"]
    dossier = files["dossie-ABC1D23.pdf"]
    for missing in ("Multas", "Restrições judiciais"):
        assert f"{missing}: indisponíveis — não significa “nada consta”" in dossier
    assert dossier.count(NOT_ASKED_IN_BATCH) == 2
    assert "Dados do veículo: indisponíveis" not in dossier
    # A dossier contains all stored answers, including those from outside the batch.
    assert files["dossie-LMP0A01.pdf"].count(NOT_ASKED_IN_BATCH) == 1


@pytest.mark.usefixtures("pdfs_are_html")
def test_dossier_says_which_asked_lookup_has_no_answer(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/restrictions/renainf/ABC1D23", faults.status(500))
    batch = created(here, ["ABC1D23"])["id"]
    ended(here, batch)
    dossier = zipped(here, batch)["dossie-ABC1D23.pdf"]
    assert dossier.count(NOT_STORED_IN_BATCH) == 1
    assert NOT_ASKED_IN_BATCH not in dossier


@pytest.mark.usefixtures("pdfs_are_html")
def test_archive_says_why_a_dossier_is_missing(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = created(here, ["ABC1D23", "LMP0A01", "79831854647"])["id"]
    here.get("/detran/v1/decode/LMP0A01")

    def broken(*_: object) -> bytes:
        raise RuntimeError

    monkeypatch.setattr(PdfProcess, "render_for_archive", broken)
    assert zipped(here, batch)["sem-dossie.txt"].splitlines() == [
        f"ABC1D23: {NO_STORED_ANSWER}",
        f"LMP0A01: {NOT_RENDERED}",
        f"79831854647: {ONLY_FOR_PLATES}",
    ]


def test_owner_pauses_and_cancels(here: InProcessPortal, upstream: FaultUpstream) -> None:
    batch = created(here)["id"]
    expect_message(post(here, f"{BATCHES}/{batch}/pause"), 409)
    assert post(here, f"{BATCHES}/{batch}/cancel").get_json()["state"] == "cancelled"
    expect_message(post(here, f"{BATCHES}/{batch}/start"), 409)
    assert upstream.count() == 0


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"plates": "ABC1D23"},
        {"plates": []},
        {"plates": ["ABC12"]},
        {"plates": PLATES, "ask": []},
        {"plates": PLATES, "ask": ["report"]},
        {"plates": PLATES, "ask": "decode"},
        {"plates": PLATES, "ask": [{}]},
        {"plates": plates(501)},
    ],
)
def test_wrong_bodies_are_refused(here: InProcessPortal, body: object) -> None:
    expect_message(post(here, BATCHES, body), 400)


def test_equal_plates_are_merged_before_they_are_counted(here: InProcessPortal) -> None:
    found = created(here, ["ABC1D23"] * 501)
    assert (found["counts"]["total"], found["repeated"]) == (1, 1)


def test_wrong_entries_are_kept_up_to_the_limit(portal: PortalFactory) -> None:
    found = created(portal(BATCH_LIMIT="3"), ["ABC1D23", *"abcde"])
    assert (len(found["wrong"]), found["more_wrong"]) == (3, 2)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "null"), (True, "true"), (79831854647, "79831854647"), ({"a": 1.5}, '{"a":1.5}')],
)
def test_element_that_is_no_text_is_explained(
    here: InProcessPortal, value: object, shown: str
) -> None:
    (wrong,) = created(here, ["ABC1D23", value])["wrong"]
    assert wrong == {
        "index": 1,
        "value": shown,
        "message": "Não é um texto: a placa ou o Renavam vai entre aspas.",
    }


@pytest.mark.parametrize(
    "plate",
    [
        *("ABC1D23", "abc-1d23", "ABC 1234", "00894638273", "ABC12"),
        *("'ABC1D23", "'00894638273", "0089463827–3", "''00894638273", "0000000000–0"),
    ],
)
def test_document_and_server_accept_the_same_lists(here: InProcessPortal, plate: str) -> None:
    schema = here.get("/openapi.json").get_json()["components"]["schemas"]["BatchRequest"]
    pattern = schema["properties"]["plates"]["contains"]["pattern"]
    response = post(here, BATCHES, {"plates": [plate]})
    assert (response.status_code == 201) == bool(re.search(pattern, plate))


@pytest.mark.parametrize("ask", [[], ["report"], "decode", [{}]])
def test_wrong_ask_is_explained_as_a_list(here: InProcessPortal, ask: object) -> None:
    message = expect_message(post(here, BATCHES, {"plates": PLATES, "ask": ask}), 400)
    assert "lista" in message and "vírgula" not in message


def test_body_of_another_type_or_size_is_refused(here: InProcessPortal) -> None:
    expect_message(here.client.post(BATCHES, data=b"x=1", headers=AUTH), 400)
    response = here.client.post(
        BATCHES, data=b"plates=1", headers=AUTH, content_type="application/x-www-form-urlencoded"
    )
    expect_message(response, 415)
    response = here.client.post(BATCHES, data=b" " * (256 * 1024 + 1), headers=AUTH)
    expect_message(response, 413)


def test_credentials_and_scopes(here: InProcessPortal) -> None:
    batch = created(here)["id"]
    narrow = issue(here, "narrow", frozenset({"decode"}))
    none = issue(here, "none", frozenset({"report"}))
    for path in (BATCHES, f"{BATCHES}/{batch}", f"{BATCHES}/{batch}/results.csv"):
        expect_message(here.get(path, token=None), 401, UNAUTHORIZED)
        expect_message(here.get(path, token="wrong"), 401, UNAUTHORIZED)
        expect_message(here.get(path, token=none), 403, FORBIDDEN)
    expect_message(post(here, BATCHES, {"plates": PLATES}, none), 403, FORBIDDEN)
    asked = {"plates": PLATES, "ask": ["decode", "renainf"]}
    expect_message(post(here, BATCHES, asked, narrow), 403, FORBIDDEN)
    mine = post(here, BATCHES, {"plates": PLATES}, narrow).get_json()
    assert mine["ask"] == ["decode"]


def test_another_owners_batch_is_not_found(here: InProcessPortal) -> None:
    batch = created(here)["id"]
    other = issue(here, "other")
    for path in (f"{BATCHES}/{batch}", f"{BATCHES}/{batch}/results.csv"):
        expect_message(here.get(path, token=other), 404)
    for action in ("start", "pause", "cancel"):
        expect_message(post(here, f"{BATCHES}/{batch}/{action}", token=other), 404)
    assert here.get(BATCHES, token=other).get_json() == {"batches": [], "next": None}


def test_session_of_the_pages_reads_but_does_not_write(here: InProcessPortal) -> None:
    batch = created(here)["id"]
    expect_message(here.get(BATCHES, token=None), 401, UNAUTHORIZED)
    visitor(here)
    listed = here.get(BATCHES, token=None).get_json()["batches"]
    assert [each["id"] for each in listed] == [batch]
    expect_message(here.client.post(f"{BATCHES}/{batch}/start"), 401, UNAUTHORIZED)
    expect_message(here.get(BATCHES, token="wrong"), 401, UNAUTHORIZED)


def test_limits_are_told_in_calls(portal: PortalFactory) -> None:
    here = portal(DAILY_CALL_LIMIT="5")
    batch = created(here)
    assert batch["calls_left"] == {"day": 5, "token": None}
    found = ended(here, batch["id"])
    assert (found["state"], found["reason"]) == ("paused", "day_limit")
    assert found["resumes_at"] is not None
    assert found["calls_left"] == {"day": 0, "token": None}


def test_purge_removes_the_plate_from_batches_and_files(here: InProcessPortal) -> None:
    batch = created(here)["id"]
    ended(here, batch)
    done = here.app.test_cli_runner().invoke(args=["purge", "LMP0A01"])
    assert done.exit_code == 0, done.output
    rows = results(here, batch, "jsonl").data.splitlines()
    assert [json.loads(row)["plate"] for row in rows] == ["ABC1D23", "MUL0A45"]


def test_batch_is_kept_as_long_as_the_privacy_page_says(here: InProcessPortal) -> None:
    batch = created(here)
    made, expires = (datetime.fromisoformat(batch[name]) for name in ("created_at", "expires_at"))
    assert expires - made == timedelta(days=1)
    found = ended(here, batch["id"])
    end, expires = (datetime.fromisoformat(found[name]) for name in ("ended_at", "expires_at"))
    assert expires - end == timedelta(days=8)
    assert here.parts.batches.longest_kept_s == timedelta(days=8).total_seconds()


def test_spent_is_the_sum_of_the_ledger(here: InProcessPortal) -> None:
    found = ended(here, created(here)["id"])
    lines = here.app.test_cli_runner().invoke(args=["ledger", "--csv"]).output.splitlines()
    prices = [Decimal(row["price"]) for row in csv.DictReader(lines)]
    assert Decimal(str(found["cost"]["spent"])) == sum(prices)


def test_answers_that_cannot_be_stored_stay_in_the_results(
    here: InProcessPortal, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A paid answer is not lost if the cache cannot store it."""
    batch = created(here, ["LMP0A01"])["id"]
    monkeypatch.setattr(Store, "write", lambda *_given, **_named: False)
    found = ended(here, batch)
    assert found["counts"]["done"] == 1
    assert upstream.count() == 3
    (row,) = [json.loads(line) for line in results(here, batch, "jsonl").data.splitlines()]
    assert (row["state"], row["missing"], row["expired"]) == ("done", None, None)
    assert row["vehicle"]
    assert upstream.count() == 3


def test_repeated_and_unnamed_wrong_entries_are_counted(here: InProcessPortal) -> None:
    found = created(here, ["ABC1D23", "abc-1d23", "LMP0A01", "ABC1D23", "x"])
    assert (found["repeated"], len(found["wrong"]), found["more_wrong"]) == (1, 1, 0)


def test_first_bytes_of_a_zip_are_sent_before_a_dossier_is_rendered(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered = []

    def render(_: PdfProcess, html: str, __: object) -> bytes:
        rendered.append(html)
        return b"%PDF " + html.encode()

    monkeypatch.setattr(batch_files, "batch_dossier", lambda _, __, plate, ___: (plate.text, None))
    for name, done in (("check", lambda _: None), ("render_for_archive", render)):
        monkeypatch.setattr(PdfProcess, name, done)
    here = portal()
    batch = created(here)["id"]
    with here.client.get(
        f"{BATCHES}/{batch}/results.zip", headers=AUTH, buffered=False
    ) as response:
        assert response.status_code == 200
        assert rendered == []
        parts = response.iter_encoded()
        assert b"placas.txt" in next(parts)
        assert rendered == []
        assert b"%PDF ABC1D23" in next(parts)
        assert rendered == ["ABC1D23"]  # the second PDF is not rendered yet
        assert b"%PDF LMP0A01" in b"".join(parts)
    assert rendered == PLATES


def test_archive_ends_without_its_directory_when_the_token_is_revoked(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.access.tokens.REMEMBERED_S", 0.0)
    monkeypatch.setattr(batch_files, "batch_dossier", lambda _, __, plate, ___: (plate.text, None))
    monkeypatch.setattr(PdfProcess, "check", lambda _: None)
    monkeypatch.setattr(
        PdfProcess, "render_for_archive", lambda _, html, __: b"%PDF " + html.encode()
    )
    here = portal()
    token = issue(here, "archivist")
    batch = post(here, BATCHES, {"plates": PLATES}, token).get_json()["id"]
    with here.client.get(
        f"{BATCHES}/{batch}/results.zip", headers={"Authorization": token}, buffered=False
    ) as response:
        parts = response.iter_encoded()
        sent = next(parts) + next(parts)
        assert b"%PDF ABC1D23" in sent
        assert tokens_of(here).revoke("archivist")
        rest = b"".join(parts)
    assert b"%PDF" not in rest
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(sent + rest))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx"])
def test_results_are_complete_before_their_first_byte(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """A slow reader of a file gets nothing that was read after a revocation of its token."""
    batch = created(here)["id"]
    ended(here, batch)
    monkeypatch.setattr("portal.dossier.row._kept", lambda _: None)
    read: list[str] = []
    found = Lookups.panels_of_all

    def panels_of_all(self: Lookups, subjects: Any, *rest: Any) -> Any:
        read.extend(subject.text for subject in subjects)
        return found(self, subjects, *rest)

    monkeypatch.setattr(Lookups, "panels_of_all", panels_of_all)
    with here.client.get(
        f"{BATCHES}/{batch}/results.{ending}", headers=AUTH, buffered=False
    ) as response:
        assert read == PLATES
        assert len(b"".join(response.iter_encoded())) == response.content_length


def test_archive_leaves_weasyprint_out_of_the_worker(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that loads WeasyPrint would use 47 MiB more until its end."""
    pytest.importorskip("weasyprint")
    batch = created(here, ["ABC1D23", "LMP0A01"])["id"]
    ended(here, batch)

    def in_the_worker(*_: object, **__: object) -> bytes:
        raise AssertionError("rendered in the worker")

    monkeypatch.setattr(PdfRenderer, "__init__", in_the_worker)
    with here.client.get(f"{BATCHES}/{batch}/results.zip", headers=AUTH) as response:
        if response.status_code == 501:
            pytest.skip("a library of WeasyPrint is not installed")
        archive = zipfile.ZipFile(io.BytesIO(response.data))
    assert archive.namelist() == ["placas.txt", "dossie-ABC1D23.pdf", "dossie-LMP0A01.pdf"]


def test_archive_is_501_without_weasyprint(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(_: PdfProcess) -> None:
        raise PDFUnavailable("in the child")

    monkeypatch.setattr(PdfProcess, "check", unavailable)
    batch = created(here)["id"]
    expect_message(here.get(f"{BATCHES}/{batch}/results.zip"), 501)


def test_many_polls_at_once_wait_for_no_connection(portal: PortalFactory) -> None:
    """More threads than the pool has connections poll, beside pages and hits."""
    here = portal(PRICE_DECODE="0.85")
    batch = created(here, plates(40), ask=["decode"])["id"]
    for _ in range(5):
        created(here, plates(20), ask=["decode"])
    here.get("/detran/v1/decode/ABC1D23")
    paths = (BATCHES, f"{BATCHES}/{batch}", "/detran/v1/decode/ABC1D23", "/healthz")
    start = threading.Barrier(64)
    statuses: list[int] = []

    def poll(number: int) -> None:
        client = here.app.test_client()
        start.wait(60)
        for each in range(3):
            path = paths[(number + each) % len(paths)] if number % 2 else paths[each % 2]
            statuses.append(client.get(path, headers=AUTH).status_code)

    threads = [threading.Thread(target=poll, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Counter(statuses) == {200: 3 * 64}
