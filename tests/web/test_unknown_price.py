"""A price that the operator has not set is unknown on every face, and never 0."""

import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from portal import startup
from portal.settings import Settings
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, managed
from tests.web.person import Person

PLATE = "ABC1D23"
UNKNOWN = "preço não informado"
BATCHES = "/api/v1/batches"
AUTH = {"Authorization": PORTAL_TOKEN}
FREE = {f"PRICE_{name}": "0" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}


def post(here: InProcessPortal, path: str, body: object = None) -> Any:
    return here.client.post(path, headers=AUTH, json=body)


def created(here: InProcessPortal, *ask: str) -> dict[str, Any]:
    body = {"plates": [PLATE, "LMP0A01"], **({"ask": ask} if ask else {})}
    found: dict[str, Any] = post(here, BATCHES, body).get_json()
    return found


def ended(here: InProcessPortal, batch: str) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        here.parts.scheduler.run_all()
        found: dict[str, Any] = here.get(f"{BATCHES}/{batch}").get_json()
        if found["state"] != "running":
            return found
        time.sleep(0.01)
    raise AssertionError(found)


def test_unset_is_unknown_and_zero_is_free() -> None:
    unset = Settings.from_environment(managed("http://up.invalid"))
    assert unset.price("decode") is None
    free = managed("http://up.invalid") | {"PORTAL_PRICE_DECODE": "0"}
    assert Settings.from_environment(free).price("decode") == 0
    assert Settings.from_environment({}).price("decode") == 0  # the demonstration


def test_json_says_null(portal: PortalFactory) -> None:
    here = portal()
    document = here.get(f"/api/v1/vehicles/{PLATE}").get_json()
    assert {each["price"] for each in document["lookups"].values()} == {None}
    usage = here.get("/api/v1/usage").get_json()
    assert set(usage["prices"].values()) == {None}
    assert (usage["calls"], usage["spent"]) == (3, None)
    here.get(f"/api/v1/vehicles/{PLATE}")
    here.parts.scheduler.run_all()
    usage = here.get("/api/v1/usage").get_json()
    assert (usage["hits"], usage["saved"]) == (3, None)


def test_one_operation_left_out_is_unknown_for_it_alone(portal: PortalFactory) -> None:
    here = portal(**FREE | {"PRICE_DECODE": "0.30", "PRICE_RENAINF": ""})
    lookups = here.get(f"/api/v1/vehicles/{PLATE}").get_json()["lookups"]
    assert {name: each["price"] for name, each in lookups.items()} == {
        "decode": 0.3,
        "renainf": None,
        "renajud": 0,
    }
    assert created(here, "decode")["cost"] == {"spent": 0, "at_most": 0.3}
    assert created(here, "decode", "renainf")["cost"] == {"spent": 0, "at_most": None}


@pytest.mark.parametrize("max_cost", [0, 60.5])
def test_limit_is_refused_and_nothing_asked(
    portal: PortalFactory, upstream: FaultUpstream, max_cost: float
) -> None:
    here = portal(PRICE_DECODE="0.30")
    batch = created(here)["id"]
    refused = post(here, f"{BATCHES}/{batch}/start", {"max_cost": max_cost})
    assert (refused.status_code, refused.get_json()["code"]) == (409, "cost_unknown")
    assert here.get(f"{BATCHES}/{batch}").get_json()["state"] == "draft"
    here.parts.scheduler.run_all()
    assert upstream.count() == 0


def test_stored_answers_alone_may_have_a_limit(portal: PortalFactory) -> None:
    here = portal()
    for plate in (PLATE, "LMP0A01"):
        here.get(f"/api/v1/vehicles/{plate}")
    batch = created(here)
    assert batch["cost"] == {"spent": 0, "at_most": 0}
    assert post(here, f"{BATCHES}/{batch['id']}/start", {"max_cost": 0}).status_code == 200
    assert ended(here, batch["id"])["cost"] == {"spent": 0, "at_most": 0}


def test_batch_without_a_limit_has_spent_an_unknown_sum(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    batch = created(here, "decode")["id"]
    assert post(here, f"{BATCHES}/{batch}/start").status_code == 200
    found = ended(here, batch)
    assert (found["state"], found["counts"]["done"]) == ("done", 2)
    assert found["cost"] == {"spent": None, "at_most": None}
    assert upstream.count() == 2


@pytest.mark.parametrize(
    ("path", "phrase"),
    [
        ("/", "Preço por placa não informado"),
        ("/lote", UNKNOWN),
        (f"/placa/{PLATE}?completo=1", "preço de consultar de novo não informado"),
        ("/historico", "valor pago não informado"),
        ("/operacao", "Sem preço configurado"),
        ("/api", UNKNOWN),
    ],
)
def test_pages_say_that_a_price_is_not_informed(
    portal: PortalFactory, path: str, phrase: str
) -> None:
    here = portal()
    person = Person.at(here).signed_in()
    person.client.get(f"/placa/{PLATE}?completo=1")
    page = person.pages.get(path)
    assert phrase in page.text
    if path not in ("/operacao", "/api"):  # which say what is free, such as a stored answer
        assert "sem custo" not in page.text.lower()
        assert "R$ 0,00" not in page.text.replace("\u00a0", " ")


def test_batch_pages_say_that_the_price_is_not_informed(portal: PortalFactory) -> None:
    here = portal()
    person = Person.at(here).signed_in()
    fields = {"placas": "LMP0A01", "consulta": "decode"}
    data = {"csrf_token": person.csrf_token(), **fields}
    address = person.client.post("/lote", data=data).headers["Location"]
    draft = person.pages.get(address)
    assert "Consultar 1 placa, com preço não informado" in draft.text
    assert draft.text.count(UNKNOWN) >= 3  # the lookup, the highest cost, the button
    assert not draft.all("input", name="ate")
    person.client.post(f"{address}/iniciar", data={"csrf_token": person.csrf_token()})
    here.parts.scheduler.run_all()
    for path in (address, "/lote"):
        shown = person.pages.get(path).text
        assert "preço não foi informado" in shown or UNKNOWN in shown
        assert "Sem custo." not in shown


def test_llms_txt_says_that_a_price_is_not_informed(portal: PortalFactory) -> None:
    text = portal(PRICE_DECODE="0").client.get("/llms.txt").get_data(as_text=True)
    assert f"decode sem custo; renainf {UNKNOWN}; renajud {UNKNOWN}; report {UNKNOWN}." in text


def test_metrics_have_no_sum_of_an_unknown_price(portal: PortalFactory) -> None:
    here = portal(PRICE_RENAINF="1.20")
    for _ in range(2):
        here.get(f"/api/v1/vehicles/{PLATE}")
    here.parts.scheduler.run_all()
    metrics = here.client.get("/metrics").get_data(as_text=True)
    for name in ("spent", "saved"):
        assert f'portal_{name}_brl_total{{operation="renainf"}} 1.2' in metrics
        assert f'portal_{name}_brl_total{{operation="decode"}}' not in metrics
    assert 'portal_unpriced_calls_total{operation="decode"} 1.0' in metrics
    assert 'portal_unpriced_calls_total{operation="renainf"} 0.0' in metrics


def test_ledger_leaves_an_unknown_price_empty(portal: PortalFactory) -> None:
    here = portal(PRICE_RENAINF="1.20")
    here.get(f"/api/v1/vehicles/{PLATE}?ask=decode,renainf")
    lines = here.app.test_cli_runner().invoke(args=["ledger", "--csv"]).stdout.splitlines()
    prices = {line.split(",")[1]: line.split(",")[4] for line in lines[1:]}
    assert prices == {"decode": "", "renainf": "1.20"}
    summary = here.app.test_cli_runner().invoke(args=["ledger", "--summary", "--csv"]).stdout
    spent = {line.split(",")[0]: line.split(",")[2] for line in summary.splitlines()[1:]}
    assert spent == {"decode": "", "renainf": "1.20", "all": ""}
    assert [row.price for row in here.parts.ledger.rows()].count(Decimal("1.20")) == 1


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, ["DECODE", "RENAINF", "RENAJUD", "REPORT"]),
        (FREE | {"PRICE_RENAJUD": ""}, ["RENAJUD"]),
        (FREE, []),
    ],
)
def test_managed_start_without_prices_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], named: list[str]
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(startup.log, "warning", lambda text, *named: warned.append(text % named))
    environment = managed("http://up.invalid") | {"PORTAL_DATA_DIR": str(tmp_path)}
    environment |= {f"PORTAL_{name}": value for name, value in settings.items()}
    startup.warn_of_settings(Settings.from_environment(environment))
    found = [line for line in warned if "price of a call is unknown" in line]
    assert re.findall("PORTAL_PRICE_([A-Z]+)", "".join(found)) == named


def test_button_of_a_failed_plate_says_that_the_price_is_not_informed(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    person = Person.at(here).signed_in()
    dead = ("LMP0A01", "LMP0A02")
    for plate in dead:
        upstream.script(f"/detran/v1/decode/{plate}", faults.status(500))
    csrf = {"csrf_token": person.csrf_token()}
    fields = {"placas": f"{PLATE} {' '.join(dead)}", "consulta": "decode"}
    address = person.client.post("/lote", data=csrf | fields).headers["Location"]
    person.client.post(f"{address}/iniciar", data=csrf)
    ended(here, address.rpartition("/")[2])
    done = person.pages.get(address)
    assert "1 pronta · 2 falharam, podem ter sido cobradas. O preço não foi informado" in done.text
    assert "LMP0A01 falha desde" in done.text and "e já pode ter sido cobrada" in done.text
    assert f"Tentar LMP0A01, com {UNKNOWN}" in done.text
    assert f"Tentar as 2 que falharam, com {UNKNOWN}" in done.text
    assert "Sem custo" not in done.text and "None" not in done.html
    upstream.clear()
    here.wait_out_failures()
    for button in done.all("button", form="tentar")[:1]:
        chosen = {"placa": str(button.get("value")), **csrf}
        person.client.post(str(button.get("formaction")), data=chosen)
    assert ended(here, address.rpartition("/")[2])["counts"]["done"] == 2
