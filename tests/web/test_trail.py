"""What each face writes in the trail, and the operator's page of it."""

import csv
import io
import json
import random
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from portal.access.tokens import SCOPES
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.http.test_proxy_sign_in import as_person, behind_a_proxy
from tests.web.json_paths import issue as issue_token
from tests.web.page_client import PageClient
from tests.web.pages.test_issued import issue, link_of, quick_pdf
from tests.web.person import Person

__all__ = ["quick_pdf"]  # an autouse fixture
PLATE = "ABC1D23"
ME = "settings:1"


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def rows_of(here: InProcessPortal) -> Sequence[Any]:
    here.parts.trail.flush()
    assert here.parts.trail.verify().fault is None
    return [*here.parts.trail.rows()]


def acts(here: InProcessPortal) -> list[tuple[str, str, str]]:
    return [(row.act, row.face, row.vehicle) for row in rows_of(here)]


def test_script_asks_and_then_sees_once_an_hour(here: InProcessPortal) -> None:
    for _ in range(4):
        assert here.get(f"/detran/v1/decode/{PLATE}").status_code == 200
    assert acts(here) == [("asked", "api", PLATE), ("saw", "api", PLATE)]
    assert {row.who for row in rows_of(here)} == {ME}


def test_request_without_an_answer_leaves_no_row(here: InProcessPortal) -> None:
    stored = {"Cache-Control": "only-if-cached"}
    assert here.get(f"/detran/v1/decode/{PLATE}", headers=stored).status_code == 504
    assert here.get(f"/detran/v1/decode/{PLATE}", token="wrong").status_code == 401
    assert acts(here) == []


def test_lookup_under_way_during_a_purge_names_no_vehicle(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    """The row of who asked stays. Who asks after the purge is named with the vehicle again."""
    gate = threading.Event()
    upstream.script(path_of("decode", PLATE), faults.held(gate))
    before = upstream.count()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(here.get, f"/detran/v1/decode/{PLATE}")
        wait_until(lambda: upstream.count() > before, "the lookup")
        assert run_command(here, "purge", PLATE).exit_code == 0
        gate.set()
        assert asked.result().status_code == 200
    assert [each for each in acts(here) if each[0] != "purged"] == [("asked", "api", "")]
    assert here.get(f"/detran/v1/decode/{PLATE}").status_code == 200
    assert acts(here)[-1] == ("asked", "api", PLATE)


def test_page_asks_once_and_sees(here: InProcessPortal) -> None:
    ana = Person.at(here).signed_in()
    for _ in range(2):
        ana.pages.get(f"/placa/{PLATE}?completo=1")
    assert acts(here) == [("asked", "page", PLATE), ("saw", "page", PLATE)]


def test_files_of_a_vehicle_are_exports(here: InProcessPortal) -> None:
    for _ in range(2):
        assert here.get(f"/api/v1/vehicles/{PLATE}/fines.csv").status_code == 200
    assert Counter(acts(here)) == {
        ("asked", "api", PLATE): 1,
        ("saw", "api", PLATE): 1,
        ("exported", "api", PLATE): 2,
    }


def test_issuing_opening_and_revoking_name_the_dossier(here: InProcessPortal) -> None:
    ana = Person.at(here).signed_in()
    path = issue(ana)
    stranger = Person.at(here).client
    link = link_of(ana, path)
    for _ in range(2):
        assert stranger.get(link).status_code == 200
    rows_of(here)
    ana.post(f"{path}/revogar")
    number = path.rpartition("/")[2].replace("-", "")
    found = [(row.who, row.act, row.face, row.vehicle) for row in rows_of(here) if row.number]
    assert found == [
        (ME, "issued", "page", PLATE),
        ("link", "opened_by_link", "link", PLATE),
        (ME, "revoked", "page", PLATE),
    ]
    assert {row.number for row in rows_of(here) if row.number} == {number}


def test_declaration_is_an_act(here: InProcessPortal) -> None:
    ana = Person.at(here).signed_in()
    fields = {"line": "gravame", "state": "nothing", "source": "DETRAN"}
    assert ana.post(f"/placa/{PLATE}/declarar", **fields).status_code == 303
    assert ("declared", "page", PLATE) in acts(here)


def test_vehicles_of_a_batch_are_asked_and_exported(here: InProcessPortal) -> None:
    plates = [PLATE, "LMP0A01"]
    body = {"plates": plates, "ask": ["decode"]}
    made = here.client.post("/api/v1/batches", json=body, headers={"Authorization": PORTAL_TOKEN})
    batch = made.get_json()["id"]
    start = f"/api/v1/batches/{batch}/start"
    assert here.client.post(start, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
    here.parts.batch_runner.tick()
    wait_until(
        lambda: here.get(f"/api/v1/batches/{batch}?wait=5").get_json()["state"] == "done",
        "the end of the batch",
    )
    assert here.get(f"/api/v1/batches/{batch}/results.csv").status_code == 200
    found = Counter(acts(here))
    assert all(found["asked", "batch", plate] == 1 for plate in plates)
    assert all(found["exported", "api", plate] == 1 for plate in plates)
    assert {row.number for row in rows_of(here) if row.act == "exported"} == {batch}


def test_changes_of_access_name_the_token(here: InProcessPortal) -> None:
    operator = Person.at(here).signed_in()
    operator.post("/operacao/tokens/emitir", nome="loja", permissao="decode")
    operator.post("/operacao/tokens/loja/revogar")
    run_command(here, "token", "issue", "bia")
    run_command(here, "token", "set", "bia", "--daily-limit", "5")
    run_command(here, "token", "rotate", "bia")
    run_command(here, "token", "revoke", "bia")
    assert run_command(here, "token", "revoke", "nobody").exit_code == 1
    assert [(row.act, row.face, row.number) for row in rows_of(here)] == [
        ("access_changed", "page", "loja"),
        ("revoked", "page", "loja"),
        ("access_changed", "command", "bia"),
        ("access_changed", "command", "bia"),
        ("rotated", "command", "bia"),
        ("revoked", "command", "bia"),
    ]


def test_no_trail_is_kept_for_0_days(portal: PortalFactory) -> None:
    here = portal(AUDIT_DAYS="0")
    here.get(f"/detran/v1/decode/{PLATE}")
    issue(Person.at(here).signed_in())
    assert acts(here) == []


def test_person_is_named_with_the_purpose_that_was_picked(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal, PURPOSES="Compra; Cobrança")
    pages = PageClient(here.client)
    form = pages.get(f"/entrar?next=/placa/{PLATE}", headers=as_person())
    data = {"csrf_token": form.csrf_token(), "next": f"/placa/{PLATE}", "purpose": "Compra"}
    pages.post("/entrar", data=data, headers=as_person())
    pages.get(f"/placa/{PLATE}?completo=1", headers=as_person())
    (row,) = rows_of(here)
    assert (row.who, row.kind, row.act, row.purpose) == ("ana", "person", "asked", "Compra")


# A data subject, against a model of what was done


def test_subject_names_what_500_random_acts_did(here: InProcessPortal) -> None:
    draw = random.Random(53)
    tokens = {name: issue_token(here, name, SCOPES - {"admin"}) for name in ("ana", "bia", "caio")}
    people = {name: Person.at(here).signed_in(token) for name, token in tokens.items()}
    plates = ("ABC1D23", "LMP0A01", "MUL0A45")
    did: dict[str, Counter[tuple[str, str, str]]] = {plate: Counter() for plate in plates}
    asked: set[tuple[str, str]] = set()

    def note(who: str, act: str, face: str, plate: str) -> None:
        done = did[plate]
        done[who, act, face] = 1 if act == "saw" else done[who, act, face] + 1

    for _ in range(500):
        who, plate = draw.choice([*tokens]), draw.choice(plates)
        token = tokens[who]
        match draw.randrange(5):
            case 0 | 1:
                lookup = draw.choice(("decode", "restrictions/renainf", "restrictions/renajud"))
                assert here.get(f"/detran/v1/{lookup}/{plate}", token).status_code == 200
                note(who, "saw" if (lookup, plate) in asked else "asked", "api", plate)
                asked.add((lookup, plate))
            case 2:
                names = ("decode", "restrictions/renainf", "restrictions/renajud")
                is_new = any((name, plate) not in asked for name in names)
                people[who].pages.get(f"/placa/{plate}?completo=1")
                note(who, "asked" if is_new else "saw", "page", plate)
                asked |= {(name, plate) for name in names}
            case 3:
                is_new = ("restrictions/renainf", plate) not in asked
                path = f"/api/v1/vehicles/{plate}/fines.jsonl"
                assert here.get(path, token).status_code == 200
                note(who, "asked" if is_new else "saw", "api", plate)
                note(who, "exported", "api", plate)
                asked.add(("restrictions/renainf", plate))
            case _:
                fields = {"line": "gravame", "state": "nothing", "source": "DETRAN"}
                people[who].post(f"/placa/{plate}/declarar", **fields)
                note(who, "declared", "page", plate)
                if any(each == plate for _, each in asked):  # the page of the lines reads answers
                    note(who, "saw", "page", plate)
    here.parts.trail.flush()
    for plate, expected in did.items():
        rows = json.loads(run_command(here, "subject", plate, "--json").stdout)
        assert Counter((row["who"], row["act"], row["face"]) for row in rows) == expected
        assert {row["plate"] for row in rows} == {plate}


# The operator's page


def test_page_lists_and_filters_the_latest_first(here: InProcessPortal) -> None:
    bia = issue_token(here, "bia", SCOPES - {"admin"})
    here.get(f"/detran/v1/decode/{PLATE}", bia)
    here.get("/detran/v1/decode/LMP0A01")
    here.parts.trail.flush()
    operator = Person.at(here).signed_in()
    text = operator.pages.get("/operacao/trilha").text
    assert text.index("LMP0A01") < text.index(PLATE)
    assert "LMP0A01" not in operator.pages.get("/operacao/trilha?quem=bia").text
    text = operator.pages.get("/operacao/trilha?placa=abc-1d23").text
    assert "bia" in text and "LMP0A01" not in text
    assert "placa-erro" in operator.pages.get("/operacao/trilha?placa=x", 400).html


def test_file_has_the_columns_of_the_command_and_is_an_export(here: InProcessPortal) -> None:
    here.get(f"/detran/v1/decode/{PLATE}")
    here.parts.trail.flush()
    response = Person.at(here).signed_in().client.get("/operacao/trilha.csv?quem=settings:1")
    text = response.get_data(as_text=True).removeprefix("\ufeff")
    (row, export) = csv.DictReader(io.StringIO(text), delimiter=";")
    assert [*row] == ["at", "who", "act", "face", "plate", "purpose", "number"]
    assert (row["act"], row["plate"]) == ("asked", PLATE)
    assert (export["act"], export["number"]) == ("exported", "trail")


@pytest.mark.parametrize("path", ["/operacao/trilha", "/operacao/trilha.csv"])
def test_page_is_for_operators(here: InProcessPortal, path: str) -> None:
    assert here.client.get(path).status_code == 303
    ana = Person.at(here).signed_in(issue_token(here, "ana", SCOPES - {"admin"}))
    assert ana.client.get(path).status_code == 403
