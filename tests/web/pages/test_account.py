"""``/conta`` and ``/operacao/pessoas``: own tokens, own sessions, people, hand-overs."""

import re
import time

import pytest

from portal.access.people import Claims
from tests.conftest import PortalFactory
from tests.fakes.in_process import PRICED, InProcessPortal, managed, pass_through
from tests.web.page_client import Page, PageClient
from tests.web.signed_in import visitor

DAY = 86_400.0


def company(portal: PortalFactory, **named: str) -> InProcessPortal:
    settings = {
        "SIGN_IN_HEADER": "Remote-User",
        "TRUSTED_PROXIES": "1",
        "ROLES": "vendas=decode,renainf,renajud; chefia=admin,decode",
    }
    return portal(**settings | named)


def as_person(name: str = "ana", groups: str = "vendas") -> dict[str, str]:
    return {"Remote-User": name, "Remote-Groups": groups, "X-Forwarded-For": "192.0.2.7"}


BOSS = as_person("caio", "chefia")


def fields(page: Page, **typed: object) -> dict[str, object]:
    return {"csrf_token": page.csrf_token(), **typed}


def issued(pages: PageClient, **typed: object) -> Page:
    form = pages.get("/conta", headers=as_person())
    values = {"nome": "planilha", "permissao": ["decode"], "dias": "30", "limite": "5"}
    found = pages.post(
        "/conta/tokens", 200, data=fields(form, **values | typed), headers=as_person()
    )
    assert isinstance(found, Page)
    return found


def token_on(page: Page) -> str:
    return str(page.by_id("link").get("value"))


def test_person_issues_and_revokes_a_token_for_a_script(portal: PortalFactory) -> None:
    here = company(portal)
    pages = PageClient(here.client)
    token = token_on(issued(pages))
    assert here.get("/detran/v1/decode/ABC1D23", token).status_code == 200
    assert here.get("/detran/v1/restrictions/renainf/ABC1D23", token).status_code == 403
    account = pages.get("/conta", headers=as_person())
    assert "planilha" in account.text
    assert token not in account.html
    revoked = pages.post(
        "/conta/tokens/revogar", data=fields(account, nome="planilha"), headers=as_person()
    )
    assert revoked == "/conta"
    here.parts.tokens._forget_cached()
    assert here.get("/detran/v1/decode/ABC1D23", token).status_code == 403


def test_script_and_pages_of_a_person_share_what_is_stored(portal: PortalFactory) -> None:
    here = company(portal)
    pages = PageClient(here.client)
    token = token_on(issued(pages))
    batch = here.client.post(
        "/api/v1/batches",
        json={"plates": ["ABC1D23"], "ask": ["decode"]},
        headers={"Authorization": token},
    )
    assert batch.status_code == 201
    pages.get(f"/lote/{batch.get_json()['id']}", headers=as_person())
    pages.get(f"/lote/{batch.get_json()['id']}", 404, headers=as_person("bia"))


@pytest.mark.parametrize(
    "typed",
    [
        {"permissao": ["admin"]},
        {"permissao": ["decode", "report"]},
        {"permissao": ["stored"]},
        {"permissao": []},
        {"permissao": ["root"]},
        {"nome": "a b"},
        {"nome": "person:caio"},
        {"dias": ""},
        {"dias": "367"},
        {"dias": "0"},
        {"limite": ""},
        {"limite": "0"},
        {"limite": "11"},
    ],
)
def test_own_token_has_at_most_what_its_person_has(
    portal: PortalFactory, typed: dict[str, object]
) -> None:
    here = company(portal, PERSON_DAILY_LIMIT="10")
    pages = PageClient(here.client)
    form = pages.get("/conta", headers=as_person())
    values = {"nome": "planilha", "permissao": ["decode"], "dias": "30", "limite": "10", **typed}
    pages.post("/conta/tokens", 400, data=fields(form, **values), headers=as_person())
    assert here.parts.tokens.listed() == []


def test_person_reaches_no_token_of_another(portal: PortalFactory) -> None:
    here = company(portal)
    pages = PageClient(here.client)
    here.parts.tokens.issue("alheio", frozenset({"decode"}), None, 0)
    token = token_on(issued(pages))
    form = pages.get("/conta", headers=as_person("bia"))
    assert not form.all("form", action="/conta/tokens/revogar")
    for name in ("planilha", "alheio"):
        pages.post("/conta/tokens/revogar", data=fields(form, nome=name), headers=as_person("bia"))
    assert [each.revoked_at for each in here.parts.tokens.listed()] == [None, None]
    assert here.get("/detran/v1/decode/ABC1D23", token).status_code == 200


def test_limits_of_the_person_stand_on_the_page_and_in_json(portal: PortalFactory) -> None:
    here = portal(
        {
            **managed("http://127.0.0.1:9"),
            **PRICED,
            "PORTAL_SIGN_IN_HEADER": "Remote-User",
            "PORTAL_TRUSTED_PROXIES": "1",
            "PORTAL_ROLES": "vendas=decode",
            "PORTAL_PERSON_DAILY_LIMIT": "50",
            "PORTAL_PERSON_MONTHLY_BUDGET": "60",
        }
    )
    text = PageClient(here.client).get("/conta", headers=as_person()).text
    assert "0 de 50 chamadas" in text
    assert re.search(r"R\$\s0,00 de R\$\s60,00", text)
    usage = here.client.get("/api/v1/usage", headers=as_person()).get_json()
    assert (usage["daily_limit"], usage["monthly_budget"], usage["budget_left"]) == (50, 60, 60)
    kinds = [(each["scope"], each["period"], each["most"]) for each in usage["limits"]]
    assert kinds == [("person", "day", 50), ("person", "month", 60)]


def test_holder_of_a_token_is_told_before_it_ends(portal: PortalFactory) -> None:
    here = portal()
    for name, days, is_told in (("longe", 15, False), ("perto", 13, True)):
        token = here.parts.tokens.issue(name, frozenset({"decode"}), days * DAY, 0)
        pages = PageClient(here.app.test_client())
        form = pages.get("/entrar")
        pages.post("/entrar", data=fields(form, token=token))
        assert ("O seu token vale até" in pages.get("/historico").text) == is_told
        assert "vale até" in pages.get("/conta").text
    account = visitor(here).get("/conta")
    assert "sem data de fim" in account.text
    assert not account.all("form", action="/conta/tokens")


def test_holder_of_a_token_has_no_own_tokens(portal: PortalFactory) -> None:
    pages = visitor(company(portal))
    form = pages.get("/conta")
    for path in ("/conta/tokens", "/conta/tokens/revogar", "/conta/sessoes"):
        pages.post(path, 404, data=fields(form, nome="planilha"))


def test_page_is_there_in_every_mode(portal: PortalFactory) -> None:
    demo = PageClient(portal({}).client)
    assert "Minha conta" in demo.get("/conta").text
    callers = visitor(portal(pass_through("http://127.0.0.1:9")))
    assert "sem data de fim" in callers.get("/conta").text


# The operator


def test_people_are_for_operators_alone(portal: PortalFactory) -> None:
    here = company(portal)
    assert here.client.get("/operacao/pessoas", headers=as_person()).status_code == 403
    assert here.client.get("/operacao/pessoas").status_code == 303
    pages = PageClient(here.client)
    text = pages.get("/operacao/pessoas", headers=BOSS).text
    assert "ana" in text
    assert "caio" in text
    assert here.client.post("/operacao/pessoas", headers=BOSS).status_code == 400


def test_operator_ends_the_sessions_of_a_person(portal: PortalFactory) -> None:
    here = company(portal)
    pages = PageClient(here.client)
    token = token_on(issued(pages))
    assert here.parts.people is not None
    (ana,) = here.parts.people.listed()
    form = pages.get("/operacao/pessoas", headers=BOSS)
    data = fields(form, encerrar=ana.id)
    assert pages.post("/operacao/pessoas", data=data, headers=BOSS) == "/operacao/pessoas"
    here.parts.people._cached.clear()
    assert here.get("/detran/v1/decode/ABC1D23", token).status_code == 403
    pages.post("/operacao/pessoas", 404, data=data | {"encerrar": "f" * 64}, headers=BOSS)


def test_what_a_person_owned_is_handed_to_another(portal: PortalFactory) -> None:
    here = company(portal)
    pages = PageClient(here.client)
    numbers = []
    for person in (as_person(), as_person("bia")):
        page = pages.get("/placa/ABC1D23?completo=1", headers=person)
        led = pages.post("/placa/ABC1D23/dossie/emitir", data=fields(page), headers=person)
        numbers.append(str(led).rpartition("/")[2])
    pages.get("/placa/LMP0A01?completo=1", headers=as_person())
    pages.post(
        "/lote",
        data=fields(page, placas="LMP0A01 ABC1D23", consulta=["decode"]),
        headers=as_person(),
    )
    form = pages.get("/operacao/pessoas", headers=BOSS)
    wrong = [("person:ana", "person:ana"), ("person:ana", "x"), ("", "person:bia")]
    for former, new in wrong:
        data = fields(form, de=former, para=new)
        pages.post("/operacao/pessoas", 400, data=data, headers=BOSS)
    data = fields(form, de="person:ana", para="person:bia", passar="1")
    pages.post("/operacao/pessoas", data=data, headers=BOSS)
    told = pages.get("/operacao/pessoas", headers=BOSS).text
    assert "Agora é de bia: 1 lote, 1 dossiê e 1 veículo do histórico." in told
    assert "LMP0A01" in pages.get("/historico", headers=as_person("bia")).text
    assert "LMP0A01" not in pages.get("/historico", headers=as_person()).text
    assert pages.get("/dossies", headers=as_person("bia")).text.count("ABC1D23") >= 2
    pages.get(f"/dossie/{numbers[0]}", headers=as_person("bia"))
    pages.get(f"/dossie/{numbers[0]}", 404, headers=as_person())


def test_stale_sign_in_at_the_company_is_renewed_before_a_change(
    portal: PortalFactory,
) -> None:
    here = portal(
        OIDC_ISSUER="https://login.example",
        OIDC_CLIENT_ID="portal",
        OIDC_CLIENT_SECRET="secret",
        ROLES="chefia=admin,decode",
    )
    people, provider = here.parts.people, here.parts.oidc_provider
    assert people is not None
    assert provider is not None
    person = people.enter(Claims(provider.issuer, "1", "caio", ["chefia"]), "refresh")
    with here.client.session_transaction() as session:
        session.update({"person": person.id, "began_at": time.time(), "entered_at": 0, "csrf": "x"})
    for path in ("/operacao/pessoas", "/operacao/tokens/emitir"):
        for found in (here.client.get(path), here.client.post(path, data={"csrf_token": "x"})):
            assert (found.status_code, found.headers["Location"]) == (303, f"/entrar?next={path}")
    with here.client.session_transaction() as session:
        session["entered_at"] = int(time.time())
    assert here.client.get("/operacao/pessoas").status_code == 200


def test_trail_names_people_with_their_purpose(portal: PortalFactory) -> None:
    here = company(portal, PURPOSES="Compra; Cobrança")
    pages = PageClient(here.client)
    form = pages.get("/entrar", headers=as_person())
    pages.post("/entrar", data=fields(form, purpose="Compra"), headers=as_person())
    pages.get("/placa/ABC1D23?completo=1", headers=as_person())
    issued(pages)
    account = pages.get("/conta", headers=as_person())
    pages.post("/conta/tokens/revogar", data=fields(account, nome="planilha"), headers=as_person())
    boss = pages.get("/entrar", headers=BOSS)
    pages.post("/entrar", data=fields(boss, purpose="Cobrança"), headers=BOSS)
    people = pages.get("/operacao/pessoas", headers=BOSS)
    data = fields(people, de="person:ana", para="person:caio")
    pages.post("/operacao/pessoas", data=data, headers=BOSS)
    here.parts.trail.flush()
    found = [
        (row.who, row.kind, row.act, row.vehicle, row.purpose, row.number)
        for row in here.parts.trail.rows()
    ]
    assert ("ana", "person", "asked", "ABC1D23", "Compra", "") in found
    assert ("ana", "person", "access_changed", "", "Compra", "planilha") in found
    assert ("ana", "person", "revoked", "", "Compra", "planilha") in found
    assert ("caio", "person", "access_changed", "", "", "person:ana > person:caio") in found
