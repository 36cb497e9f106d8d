"""What never spends: the parameter ``cached``, and a token with the scope ``stored``."""

from typing import Any

import pytest

from portal.access.tokens import ISSUABLE_SCOPES, are_issuable
from portal.web.json_api.openapi import as_document
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.fakes.ports import wait_until
from tests.web.html_checker import text_of
from tests.web.json_paths import issue
from tests.web.person import Person

PLATE = "ABC1D23"
VEHICLE = f"/api/v1/vehicles/{PLATE}"
FILES = [f"{VEHICLE}/{name}.{kind}" for name in ("fines", "prices") for kind in ("csv", "jsonl")]
CONTRACT = [
    f"/detran/v1/decode/{PLATE}",
    f"/detran/v1/restrictions/renainf/{PLATE}",
    f"/detran/v1/restrictions/renainf/{PLATE}/SP",
    f"/detran/v1/restrictions/renajud/{PLATE}",
]


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(PRICE_DECODE="0.30", PRICE_RENAINF="1.20", PRICE_RENAJUD="0.10")


@pytest.fixture
def reader(here: InProcessPortal) -> str:
    return issue(here, "planilha", scopes=frozenset({"stored"}))


@pytest.mark.parametrize("path", [*FILES, f"{VEHICLE}/deadlines.ics"])
def test_cached_file_is_504_until_it_is_stored(
    here: InProcessPortal, upstream: FaultUpstream, path: str
) -> None:
    missing = here.get(f"{path}?cached=true")
    assert (missing.status_code, missing.get_json()["code"]) == (504, "not_stored")
    assert upstream.count() == 0
    here.get(VEHICLE)
    assert here.get(f"{path}?cached=true").status_code == 200
    assert upstream.count() == 3


def test_cached_vehicle_says_what_is_missing(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    here.get(f"{VEHICLE}?ask=renainf")
    lookups = here.get(f"{VEHICLE}?cached=true").get_json()["lookups"]
    assert lookups["renainf"]["state"] == "fresh"
    assert {lookups[name]["state"] for name in ("decode", "renajud")} == {"unasked"}
    assert upstream.count() == 1
    here.get(f"{VEHICLE}?cached=false&ask=decode")
    assert upstream.count() == 2


def test_every_get_of_the_own_api_takes_the_parameter(here: InProcessPortal) -> None:
    paths = [path for path, item in as_document()["paths"].items() if "get" in item]
    own = [path for path in paths if path.startswith("/api/v1/")]
    assert len(own) > 15
    for path in own:
        filled = path.replace("{plate}", PLATE).replace("{batch}", "0" * 24)
        filled = filled.replace("{number}", "7F3K9QMD2XHA").replace("{code}", "7F3K9QMD2XHA")
        for word, code in (("true", None), ("false", None), ("yes", "parameter_invalid")):
            needed = f"&sha256={'0' * 64}" if path.endswith("/verify") else ""
            answer = here.get(f"{filled}?cached={word}{needed}")
            found = (answer.get_json(silent=True) or {}).get("code")
            if code is not None:
                assert (answer.status_code, found) == (400, code), filled
            else:
                assert found not in ("parameter_unknown", "parameter_invalid"), filled


@pytest.mark.parametrize("path", [*CONTRACT, *FILES])
def test_reader_gets_504_where_nothing_is_stored(
    here: InProcessPortal, upstream: FaultUpstream, reader: str, path: str
) -> None:
    assert here.get(path, token=reader).status_code == 504
    assert upstream.count() == 0
    here.get(path)
    calls = upstream.count()
    assert here.get(path, token=reader).status_code == 200
    assert upstream.count() == calls


def test_reader_never_spends_on_any_face(
    here: InProcessPortal, upstream: FaultUpstream, reader: str
) -> None:
    headers = {"Authorization": reader}
    report: dict[str, Any] = {"plate": PLATE, "data": {"decode": {}}}
    answer = here.client.post("/detran/v1/analytical-reports", json=report, headers=headers)
    assert answer.status_code == 504
    refresh = {**headers, "Cache-Control": "no-cache"}
    assert here.client.get(CONTRACT[0], headers=refresh).status_code == 504
    batch = here.client.post("/api/v1/batches", json={"plates": [PLATE]}, headers=headers)
    assert batch.get_json()["cost"] == {"spent": 0, "at_most": 0}
    start = f"/api/v1/batches/{batch.get_json()['id']}/start"
    assert here.client.post(start, headers=headers).status_code == 200
    person = Person.at(here).signed_in(reader)
    for path in (f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie", "/", "/historico"):
        person.client.get(path)
    csrf = {"csrf_token": person.csrf_token()}
    for path, status in (("atualizar", 403), ("laudo", 403), ("dossie/emitir", 409)):
        done = person.client.post(f"/placa/{PLATE}/{path}", data=csrf)
        assert done.status_code == status, path
    retried = here.client.post(start, json={"retry": [PLATE]}, headers=headers)
    assert (retried.status_code, retried.get_json()["code"]) == (403, "scope_missing")
    own = person.client.post("/lote", data={**csrf, "placas": PLATE, "consulta": "renainf"})
    retry = f"{own.headers['Location']}/tentar"
    assert person.client.post(retry, data={**csrf, "placa": PLATE}).status_code == 403
    for _ in range(5):
        here.parts.scheduler.run_all()
    assert upstream.count() == 0
    page = person.pages.get(f"/placa/{PLATE}?completo=1")
    assert "Nada consta" not in page.text
    assert "por placa" not in person.pages.get("/").text  # no price, because there is none


# Words of controls that ask the upstream.
ASKING = ("Tentar", "Consultar", "Atualizar", "Pedir o laudo", "Vou pagar")
PREFETCH = {"Sec-Purpose": "prefetch"}


@pytest.mark.parametrize("headers", [{}, PREFETCH], ids=["visit", "prefetch"])
@pytest.mark.parametrize("stored", [[], [CONTRACT[0]], CONTRACT], ids=len)
def test_reader_is_offered_no_control_that_asks(
    here: InProcessPortal, upstream: FaultUpstream, reader: str, stored: list[str], headers: Any
) -> None:
    for path in stored:
        here.get(path)
    calls = upstream.count()
    person = Person.at(here).signed_in(reader)
    ask = ["decode", "renainf"]
    batch = person.post("/lote", placas=f"{PLATE} LMP0A01", consulta=ask).headers["Location"]
    person.post(f"{batch}/iniciar")
    wait_until(lambda: "falh" in _run(here, person, batch), "the end of the batch")
    of_plate = ("", "?completo=1", "/dossie", "/dossie.pdf", "/folha", "/negociacao")
    pages = [f"/placa/{PLATE}{each}" for each in of_plate]
    for path in (*pages, f"/comparar?placas={PLATE},LMP0A01", "/historico", batch, "/lote"):
        response = person.client.get(path, headers=headers)
        assert response.status_code in (200, 404), path
        if response.mimetype == "text/html":
            page = person.pages.get(path, response.status_code, headers=headers)
            # What a script shows in place of a part that the browser could not load.
            spare = {each for one in page.all("template") for each in one.iter()}
            controls = {*page.all("a"), *page.all("button")} - spare
            words = [text_of(each) for each in controls if each.get("href") != "/"]
            assert not [each for each in words if each.startswith(ASKING)], path
            for wrong in ("não respondeu", "resposta da fonte", "cobrado outra vez"):
                found = page.text.find(wrong)
                assert found < 0, (path, page.text[found - 150 : found + 40])
    assert upstream.count() == calls


def test_reader_is_not_told_to_ask_again_what_is_old(portal: PortalFactory) -> None:
    here = portal(FRESH_DECODE="0", FRESH_RENAINF="0", FRESH_RENAJUD="0")
    reader = issue(here, "planilha", scopes=frozenset({"stored"}))
    here.get(VEHICLE)
    for token, is_told in ((PORTAL_TOKEN, True), (reader, False)):
        page = Person.at(here).signed_in(token).pages.get(f"/placa/{PLATE}/negociacao")
        assert "Algo pode ter mudado desde então." in page.text
        assert ("Consultar de novo" in page.text) is is_told


def _run(here: InProcessPortal, person: Person, batch: str) -> str:
    here.parts.batch_runner.tick()
    return person.pages.get(batch).text


def test_stored_stands_alone() -> None:
    assert are_issuable({"stored"})
    assert not are_issuable({"stored", "decode"})
    assert not are_issuable(())
    assert "stored" in ISSUABLE_SCOPES


def test_command_issues_a_reader(here: InProcessPortal) -> None:
    runner = here.app.test_cli_runner()
    done = runner.invoke(args=["token", "issue", "planilha", "--scopes", "stored"])
    assert done.exit_code == 0, done.output
    assert here.get(VEHICLE, token=done.stdout.split()[-1]).status_code == 200
    refused = runner.invoke(args=["token", "issue", "x", "--scopes", "stored,decode"])
    assert refused.exit_code == 2


def test_plate_is_the_first_column_of_a_vehicles_files(here: InProcessPortal) -> None:
    for path in FILES:
        text = here.get(path).get_data(as_text=True).removeprefix("\ufeff")
        if path.endswith("csv"):
            assert text.startswith("plate;number;")
            assert all(line.startswith(PLATE) for line in text.splitlines()[1:])
        else:
            assert text.startswith(f'{{"plate":"{PLATE}",')
