"""A spent budget of a month: JSON, pages, batches, commands, the operator's page."""

from decimal import Decimal
from typing import Any

import pytest

from portal.access.tokens import SCOPES
from portal.settings import Settings, SettingsError
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PRICED, InProcessPortal, managed
from tests.web.html_checker import text_of
from tests.web.json_paths import expect_message, tokens_of
from tests.web.page_client import PageClient
from tests.web.person import Person

PRICES = {name.removeprefix("PORTAL_"): price for name, price in PRICED.items()}


def token_of(here: InProcessPortal, budget: str, name: str = "ana") -> str:
    return tokens_of(here).issue(name, SCOPES, None, 0, Decimal(budget))


def used(here: InProcessPortal, token: str) -> Any:
    return here.get("/api/v1/usage", token=token).get_json()


def test_spent_budget_of_a_token_is_429_and_stored_answers_are_served(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(**PRICES)
    token = token_of(here, "0.40")
    assert here.get(path_of("decode"), token=token).status_code == 200
    refused = here.get(path_of("decode", "LMP0A01"), token=token)
    expect_message(refused, 429)
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.get_json()["message"] == "O orçamento do mês do seu acesso acabou."
    assert here.get(path_of("decode"), token=token).status_code == 200
    assert upstream.count() == 1
    found = used(here, token)
    assert (found["monthly_budget"], found["budget_left"]) == (0.4, 0.1)
    (limit,) = found["limits"]
    assert limit["ends_at"].startswith("20") and limit.pop("ends_at")
    assert limit == {"scope": "token", "period": "month", "unit": "brl", "most": 0.4, "used": 0.3}


def test_spent_budget_of_the_portal_is_503(portal: PortalFactory) -> None:
    here = portal(**PRICES, MONTHLY_BUDGET="0.30")
    assert here.get(path_of("decode")).status_code == 200
    refused = here.get("/api/v1/vehicles/LMP0A01/prices.csv")
    assert refused.status_code == 503
    assert refused.get_json()["code"] == "budget_spent"
    assert refused.get_json()["message"] == "O orçamento do mês deste portal acabou."
    assert refused.headers["Retry-After"]


def test_pages_say_until_when(portal: PortalFactory) -> None:
    here = portal(**PRICES, MONTHLY_BUDGET="0.20")
    page = Person.at(here).signed_in().pages.get("/placa/ABC1D23?completo=1")
    assert "O orçamento do mês deste portal acabou. Volta em 01/" in page.text


def stopped(here: InProcessPortal, batch: str, token: str) -> Any:
    """Return a batch once it does not run, however slow the machine is."""
    path = f"/api/v1/batches/{batch}?wait=5"
    for _ in range(24):
        found = here.get(path, token=token).get_json()
        if found["state"] != "running":
            return found
    raise AssertionError(found)


def test_batch_pauses_with_the_reason_budget(portal: PortalFactory) -> None:
    here = portal(**PRICES, BATCH_CONCURRENCY="1")
    headers = {"Authorization": token_of(here, "0.70")}
    body = {"plates": ["AAA0A01", "AAA0A02", "AAA0A03"], "ask": ["decode"]}
    batch = here.client.post("/api/v1/batches", json=body, headers=headers).get_json()["id"]
    here.client.post(f"/api/v1/batches/{batch}/start", headers=headers)
    here.parts.batch_runner.tick()
    found = stopped(here, batch, headers["Authorization"])
    assert (found["state"], found["reason"]) == ("paused", "budget")
    assert found["counts"]["done"] == 2
    assert found["resumes_at"]


def test_usage_names_the_sum_of_each_batch_under_way(portal: PortalFactory) -> None:
    here = portal(**PRICES, BATCH_CONCURRENCY="1")
    headers = {"Authorization": token_of(here, "9")}
    body = {"plates": ["AAA0A01", "AAA0A02", "AAA0A03"], "ask": ["decode"]}
    batch = here.client.post("/api/v1/batches", json=body, headers=headers).get_json()["id"]

    def limits() -> list[dict[str, Any]]:
        return [*used(here, headers["Authorization"])["limits"]]

    assert [each["scope"] for each in limits()] == ["token"]
    start = f"/api/v1/batches/{batch}/start"
    here.client.post(start, json={"max_cost": 0.7}, headers=headers)
    here.parts.batch_runner.tick()
    assert stopped(here, batch, headers["Authorization"])["reason"] == "price"
    of_token, of_batch = limits()
    assert of_batch == {
        "scope": "batch",
        "period": "total",
        "unit": "brl",
        "most": 0.7,
        "used": 0.6,
        "ends_at": None,
    }
    assert of_token["used"] == 0.6
    assert used(here, token_of(here, "0", "bia"))["limits"] == []


def test_operator_sees_the_budget_and_its_forecast(portal: PortalFactory) -> None:
    here = portal(**PRICES, MONTHLY_BUDGET="60")
    assert here.get(path_of("decode")).status_code == 200
    page = Person.at(here).signed_in().pages.get("/operacao")
    assert "0,30 de R$" in page.text
    assert "No ritmo dos últimos 7 dias dura até o fim do mês." in page.text


def needs(here: InProcessPortal) -> list[str]:
    """Return what the operator's page says needs a hand."""
    page = Person.at(here).signed_in().pages.get("/operacao")
    return [text_of(line) for each in page.all("ul", class_="op-needs") for line in each]


def test_operator_sees_which_budgets_need_a_hand(portal: PortalFactory) -> None:
    """Calls cost R$ 0.30: at 80 %, where the rest does not suffice, and when nothing is left."""
    here = portal(**PRICES, MONTHLY_BUDGET="1.50")
    budgets = {"ana": "0.40", "bia": "0.30", "eva": "0.30", "leo": "9", "ivo": "0.20"}
    tokens = {name: token_of(here, budget, name) for name, budget in budgets.items()}
    assert needs(here) == [
        "Do orçamento do mês do token ivo, de R$ 0,20, restam R$ 0,20: já não paga toda consulta"
    ]
    for number, name in enumerate(("ana", "bia", "leo")):
        here.get(path_of("decode", f"AAA0A0{number}"), token=tokens[name])
    tokens_of(here).revoke("ivo")
    assert needs(here) == [
        "Do orçamento do mês do token ana, de R$ 0,40, restam R$ 0,10: já não paga toda consulta",
        "O orçamento do mês do token bia acabou: R$ 0,30",
    ]
    here.get(path_of("decode", "AAA0A07"), token=tokens["leo"])
    assert needs(here)[0] == "Do orçamento do mês do portal, de R$ 1,50, restam R$ 0,30"
    here.get(path_of("decode", "AAA0A08"), token=tokens["eva"])
    assert needs(here)[0] == "O orçamento do mês do portal acabou: R$ 1,50"
    assert "O orçamento do mês do token eva acabou: R$ 0,30" in needs(here)


def test_operator_sees_limits_of_a_day_from_80_percent(portal: PortalFactory) -> None:
    here = portal(DAILY_CALL_LIMIT="10")
    token = tokens_of(here).issue("ana", SCOPES, None, 5)
    for number in range(4):
        assert needs(here) == []
        here.get(path_of("decode", f"AAA0A0{number}"), token=token)
    assert needs(here) == ["1 chamada resta no limite do dia do token ana, de 5"]
    here.get(path_of("decode", "AAA0A04"), token=token)
    assert needs(here) == ["O token ana usou as 5 chamadas de hoje"]
    for number in range(5, 8):
        here.get(path_of("decode", f"AAA0A0{number}"))
    assert needs(here)[0] == "2 chamadas restam no limite do dia do portal, de 10"


def test_operator_issues_a_token_with_a_budget(portal: PortalFactory) -> None:
    here = portal(**PRICES)
    person = Person.at(here).signed_in()
    form: dict[str, Any] = {"nome": "loja", "permissao": ["decode"], "dias": "30", "limite": "5"}
    wrong = person.post("/operacao/tokens/emitir", **form, orcamento="sessenta")
    assert wrong.status_code == 400
    done = person.post("/operacao/tokens/emitir", **form, orcamento="60,50")
    assert "O orçamento é de R$\u00a060,50 por mês." in done.get_data(as_text=True)
    assert [each.monthly_budget for each in tokens_of(here).listed()] == [Decimal("60.50")]


def test_budget_needs_every_price(upstream: FaultUpstream, portal: PortalFactory) -> None:
    env = managed(upstream.url) | PRICED | {"PORTAL_MONTHLY_BUDGET": "60"}
    assert Settings.from_environment(env).monthly_budget == 60
    del env["PORTAL_PRICE_REPORT"]
    with pytest.raises(SettingsError, match="MONTHLY_BUDGET needs PORTAL_PRICE_REPORT"):
        Settings.from_environment(env)
    command = portal().app.test_cli_runner()
    refused = command.invoke(args=["token", "issue", "ana", "--monthly-budget", "60"])
    assert refused.exit_code == 1
    assert "PORTAL_PRICE_DECODE" in refused.output


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"MONTHLY_BUDGET": "0.30"},
            "O orçamento do mês da pessoa bia acabou: R$ 0,30",
        ),
        (
            {"MONTHLY_BUDGET": "0.55"},
            "da pessoa bia, de R$ 0,55, restam R$ 0,25: já não",
        ),
        ({"DAILY_LIMIT": "1"}, "O limite do dia da pessoa bia foi usado"),
        ({"MONTHLY_BUDGET": "60"}, "Precisa de você Nada agora."),
    ],
)
def test_operator_is_told_of_a_persons_limits(
    portal: PortalFactory, upstream: FaultUpstream, limits: dict[str, str], words: str
) -> None:
    settings = {
        **managed("http://127.0.0.1:9"),
        **PRICED,
        "PORTAL_SIGN_IN_HEADER": "Remote-User",
        "PORTAL_TRUSTED_PROXIES": "1",
        "PORTAL_ROLES": "vendas=decode;chefia=admin",
    }
    settings |= {f"PORTAL_PERSON_{name}": most for name, most in limits.items()}
    here = portal(settings, UPSTREAM_URL=upstream.url)
    for name, group, path in (("bia", "vendas", "/placa/ABC1D23"), ("leo", "chefia", "/operacao")):
        headers = {"Remote-User": name, "Remote-Groups": group, "X-Forwarded-For": "192.0.2.7"}
        page = PageClient(here.client).get(f"{path}?completo=1", headers=headers)
    assert words in page.text.replace("\u00a0", " ")


def test_test_message_without_an_address_is_not_said_to_be_on_its_way(
    portal: PortalFactory,
) -> None:
    here = portal()
    person = Person.at(here).signed_in()
    assert "Enviar um teste" not in person.pages.get("/operacao").text
    assert person.post("/operacao/avisos/teste").status_code == 303
    text = person.pages.get("/operacao").text
    assert "Nenhum teste foi enviado: falta para onde." in text
    assert "a caminho" not in text and "Nenhum aviso enviado" in text
