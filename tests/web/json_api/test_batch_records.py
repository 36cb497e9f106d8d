"""The records of a batch's stored answers as files, and the usage of a token."""

import csv
import io
import json
from typing import Any

import jsonschema_rs
import pytest

from portal.desk.lookups import NOT_FOR_RENAVAM, Lookups
from portal.web.json_api.openapi import as_document
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_api.test_batches import created, ended
from tests.web.json_paths import RENAVAM, expect_message, issue, no_upstream_call, tokens_of

BATCHES = "/api/v1/batches"
PLATES = ["ABC1D23", "LMP0A01"]


def lines(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.data
    return [json.loads(line) for line in response.data.splitlines()]


@pytest.mark.parametrize("name", ["fines", "restrictions", "prices"])
def test_rows_are_those_of_the_vehicles_with_their_plates(
    portal: PortalFactory, upstream: FaultUpstream, name: str
) -> None:
    here = portal()
    batch = created(here, PLATES)["id"]
    ended(here, batch)
    with no_upstream_call(upstream):
        rows = lines(here.get(f"{BATCHES}/{batch}/{name}.jsonl"))
        expected = [
            {"plate": plate, **row, "missing": None, "cause": None}
            for plate in PLATES
            for row in lines(here.get(f"/api/v1/vehicles/{plate}/{name}.jsonl"))
        ]
        table = here.get(f"{BATCHES}/{batch}/{name}.csv?dialect=rfc4180")
    assert rows == expected and rows
    assert list(rows[0]) == list(next(csv.reader(io.StringIO(table.data.decode()))))
    assert f'filename="lote-{batch[:8]}-{name}.csv"' in table.headers["Content-Disposition"]
    assert int(table.headers["Content-Length"]) == len(table.data)


def test_draft_asks_nothing_and_says_that_it_knows_nothing(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        batch = created(here, PLATES)["id"]
        rows = lines(here.get(f"{BATCHES}/{batch}/fines.jsonl"))
        table = here.get(f"{BATCHES}/{batch}/fines.csv").data
    assert [row["plate"] for row in rows] == PLATES
    assert {(row["missing"], row["cause"]) for row in rows} == {
        ("multas: Sem resposta guardada", None)
    }
    assert table.startswith(b"\xef\xbb\xbfplate;number;") and table.count(b"\n") == 3


@pytest.mark.parametrize(
    ("name", "lookup", "words"),
    [
        ("fines", "renainf", "multas"),
        ("restrictions", "renajud", "restrições judiciais"),
        ("prices", "decode", "dados do veículo"),
    ],
)
def test_vehicle_without_an_answer_does_not_read_as_one_without_records(
    portal: PortalFactory, upstream: FaultUpstream, name: str, lookup: Operation, words: str
) -> None:
    """A plate without any row has an answer without records: it is the third one here."""
    broken, clean = "LMP0A01", "MUL0A45"
    nothing = {"renainf": factories.renainf_body(), "renajud": factories.renajud_body()}
    body = nothing.get(lookup, factories.decode_body(clean, informacoesFipe=[]))
    upstream.script(path_of(lookup, broken), faults.status(500))
    upstream.script(path_of(lookup, clean), faults.answer("clean", body))
    here = portal()
    batch = created(here, [*PLATES, clean], ask=[lookup])["id"]
    ended(here, batch)
    path = f"{BATCHES}/{batch}/{name}"
    found, (row,) = [
        [
            each
            for each in lines(here.get(f"{path}.jsonl"))
            if (each["plate"] == broken) is is_broken
        ]
        for is_broken in (False, True)
    ]
    assert {each["plate"] for each in found} == {"ABC1D23"}
    known = {key: value for key, value in row.items() if value is not None}
    reason = "A fonte de dados não deu uma resposta válida."
    assert known == {"plate": broken, "missing": f"{words}: {reason}", "cause": "bad_answer"}
    document = as_document()
    (described,) = document["paths"][f"{BATCHES}/{{batch}}/{name}.jsonl"]["get"]["responses"][
        "200"
    ]["content"].values()
    schema = described["schema"]["contentSchema"] | {"components": document["components"]}
    for each in (*found, row):
        jsonschema_rs.Draft202012Validator(schema).validate(each)
    (line,) = [each for each in here.get(f"{path}.csv").text.splitlines() if broken in each]
    assert line.startswith(f"{broken};;") and line.endswith(f";{words}: {reason};bad_answer")


def test_renavam_has_rows_of_its_own(portal: PortalFactory) -> None:
    here = portal()
    batch = created(here, [RENAVAM], ask=["decode", "renainf"])["id"]
    ended(here, batch)
    (row,) = lines(here.get(f"{BATCHES}/{batch}/fines.jsonl"))
    assert (row["plate"], row["missing"]) == (RENAVAM, None)
    assert f"{RENAVAM[:-1]}-{RENAVAM[-1]};" in here.get(f"{BATCHES}/{batch}/fines.csv").text
    (row,) = lines(here.get(f"{BATCHES}/{batch}/prices.jsonl"))
    assert (row["missing"], row["cause"]) == (f"dados do veículo: {NOT_FOR_RENAVAM}", None)


def test_lookup_that_the_batch_did_not_ask_is_no_empty_file(portal: PortalFactory) -> None:
    """An empty file would read as "no fines"."""
    here = portal()
    batch = created(here, PLATES, ask=["decode"])["id"]
    expect_message(here.get(f"{BATCHES}/{batch}/fines.csv"), 409)
    expect_message(here.get(f"{BATCHES}/{'0' * 24}/fines.csv"), 404)


def test_records_need_their_scope_and_owner(portal: PortalFactory) -> None:
    here = portal()
    batch = created(here, PLATES)["id"]
    narrow = issue(here, "narrow", scopes=frozenset({"decode"}))
    expect_message(here.get(f"{BATCHES}/{batch}/fines.csv", token=narrow), 403)
    expect_message(here.get(f"{BATCHES}/{batch}/prices.csv", token=narrow), 404)


def used(here: InProcessPortal, token: str = PORTAL_TOKEN) -> dict[str, Any]:
    here.app.extensions["portal"].scheduler.run_all()  # writes the counts of hits
    response = here.get("/api/v1/usage", token=token)
    assert response.status_code == 200, response.data
    found: dict[str, Any] = response.get_json()
    return found


@pytest.mark.parametrize("name", ["fines.jsonl", "restrictions.csv", "prices.csv", "deadlines.ics"])
def test_token_that_is_revoked_while_a_file_is_written_gets_nothing(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("portal.access.tokens.REMEMBERED_S", 0.0)
    here = portal()
    token = issue(here, "leaver")
    headers = {"Authorization": token}
    body = {"plates": PLATES, "ask": ["decode", "renainf", "renajud"]}
    batch = here.client.post(BATCHES, json=body, headers=headers).get_json()["id"]
    read: list[str] = []
    found = Lookups.panels_of_all

    def panels_of_all(self: Lookups, subjects: Any, *rest: Any, **named: Any) -> Any:
        read.extend(subject.text for subject in subjects)
        tokens_of(here).revoke("leaver")
        return found(self, subjects, *rest, **named)

    monkeypatch.setattr(Lookups, "panels_of_all", panels_of_all)
    expect_message(here.client.get(f"{BATCHES}/{batch}/{name}", headers=headers), 403)
    assert read == PLATES[:1]


def test_usage_is_the_tokens_own_month(portal: PortalFactory) -> None:
    here = portal(PRICE_DECODE="0.85", PRICE_RENAINF="0.95", PRICE_RENAJUD="0")
    token = issue(here, "ana", daily_limit=5)
    for _ in range(3):
        assert here.get(path_of("decode"), token=token).status_code == 200
    assert here.get(path_of("renainf"), token=token).status_code == 200
    assert here.get(path_of("decode")).status_code == 200  # another token's hit
    mine, others = used(here, token), used(here)
    assert (mine["calls"], mine["hits"], mine["spent"], mine["saved"]) == (2, 2, 1.8, 1.7)
    assert (mine["daily_limit"], mine["calls_left_today"]) == (5, 3)
    assert (others["calls"], others["hits"], others["spent"]) == (0, 1, 0)
    assert (others["daily_limit"], others["calls_left_today"]) == (None, None)


def test_usage_needs_a_credential_and_knows_no_parameter(portal: PortalFactory) -> None:
    here = portal()
    expect_message(here.get("/api/v1/usage", token=None), 401)
    expect_message(here.get("/api/v1/usage?month=2026-11"), 400)
