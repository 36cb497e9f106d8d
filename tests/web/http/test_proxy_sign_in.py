"""Sign-in by the proxy's header: who is believed, and what the person may do."""

import json
from collections.abc import Mapping

import pytest

from portal.system.sight import SignInRefusal, SignInSeen
from portal.web.http.proxy_sign_in import ProxySignIn, SignInMemory
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.web.page_client import PageClient

SECRET = "secret-of-the-proxy"
SIGN_IN = ProxySignIn("Remote-User", "Remote-Groups", 1, SECRET)
OPEN = ProxySignIn("Remote-User", "Remote-Groups", 1)
TWO_HOPS = ProxySignIn("Remote-User", "Remote-Groups", 2, SECRET)
GOOD = {
    "HTTP_REMOTE_USER": "ana",
    "HTTP_REMOTE_GROUPS": "vendas, chefia",
    "HTTP_X_FORWARDED_FOR": "192.0.2.7",
    "HTTP_X_SIGN_IN_SECRET": SECRET,
}


def test_person_of_the_proxy_is_believed() -> None:
    for sign_in, environ in [
        (SIGN_IN, GOOD),
        (OPEN, {**GOOD, "HTTP_X_SIGN_IN_SECRET": ""}),
        (TWO_HOPS, {**GOOD, "HTTP_X_FORWARDED_FOR": "192.0.2.7, 10.0.0.1"}),
        (SIGN_IN, {**GOOD, "HTTP_X_FORWARDED_FOR": "203.0.113.9, 192.0.2.7"}),
    ]:
        found = sign_in.person_in(environ)
        assert found is not None
        assert (found.subject, found.groups) == ("ana", ["vendas", "chefia"])


def test_name_is_utf_8() -> None:
    found = SIGN_IN.person_in({**GOOD, "HTTP_REMOTE_USER": "José".encode().decode("latin-1")})
    assert found is not None
    assert found.name == "José"


# Each: what differs from a request that is believed. None leaves the header out.
FORGED: list[tuple[ProxySignIn, Mapping[str, str | None]]] = [
    (SIGN_IN, {"HTTP_X_SIGN_IN_SECRET": each})
    for each in (
        *(None, "", " ", SECRET.upper(), SECRET[:-1], SECRET + "x", f" {SECRET}", f"{SECRET} "),
        *(f"{SECRET},{SECRET}", f"x,{SECRET}", "\0", SECRET.encode().hex(), "ç" * 19, "x" * 9000),
    )
]
FORGED += [
    (each, {"HTTP_X_FORWARDED_FOR": through})
    for each, through in [
        *((sign_in, None) for sign_in in (SIGN_IN, OPEN, TWO_HOPS)),
        *((sign_in, "") for sign_in in (SIGN_IN, OPEN, TWO_HOPS)),
        *((sign_in, ",") for sign_in in (SIGN_IN, OPEN, TWO_HOPS)),
        *((sign_in, " , ,") for sign_in in (SIGN_IN, OPEN, TWO_HOPS)),
        (TWO_HOPS, "192.0.2.7"),
        (TWO_HOPS, "192.0.2.7,"),
        (TWO_HOPS, ",192.0.2.7, "),
    ]
]
FORGED += [
    (sign_in, {"HTTP_REMOTE_USER": name})
    for sign_in in (SIGN_IN, OPEN)
    for name in (
        *(None, "", "  ", "ana,bia", "ana,", ",ana", "ana\nbia", "a\tb", "\x7f", "x" * 201),
        "\xff\xfe",  # no UTF-8
        "\xe2\x80\xaeana",  # turns the direction of the text
    )
]
FORGED += [  # the right person by other names of the header
    (SIGN_IN, {"HTTP_REMOTE_USER": None, other: "ana"})
    for other in ("REMOTE_USER", "HTTP_X_REMOTE_USER", "HTTP_X_FORWARDED_USER", "HTTP_REMOTEUSER")
]


@pytest.mark.parametrize(("sign_in", "changed"), FORGED)
def test_forged_header_is_not_believed(
    sign_in: ProxySignIn, changed: Mapping[str, str | None]
) -> None:
    through = "192.0.2.7, 10.0.0.1" if sign_in is TWO_HOPS else "192.0.2.7"
    sent = {**GOOD, "HTTP_X_FORWARDED_FOR": through, **changed}
    environ = {name: text for name, text in sent.items() if text is not None}
    assert sign_in.person_in(environ) is None


def test_forgeries_are_at_least_forty() -> None:
    assert len(FORGED) >= 40


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({}, ""),
        ({"HTTP_X_SIGN_IN_SECRET": f"{SECRET}x"}, "other secret"),
        ({"HTTP_X_SIGN_IN_SECRET": ""}, "no secret"),
        ({"HTTP_X_FORWARDED_FOR": ""}, "proxies"),
        ({"HTTP_REMOTE_USER": "ana,bia"}, "name"),
    ],
)
def test_refusal_is_remembered_and_logged_once_without_the_headers(
    changed: dict[str, str], refusal: SignInRefusal, caplog: pytest.LogCaptureFixture
) -> None:
    memory = SignInMemory(lambda: 12.0)
    sign_in = ProxySignIn("Remote-User", "Remote-Groups", 1, SECRET, memory)
    for _ in range(3):
        sign_in.person_in({**GOOD, **changed})
    assert memory.last() == SignInSeen(12.0, refusal)
    assert len(caplog.records) == (1 if refusal else 0)
    for told in (SECRET, "ana", "192.0.2.7"):
        assert told not in caplog.text


def test_request_that_names_nobody_is_not_remembered() -> None:
    memory = SignInMemory()
    sign_in = ProxySignIn("Remote-User", "Remote-Groups", 1, SECRET, memory)
    assert sign_in.person_in({**GOOD, "HTTP_REMOTE_USER": " "}) is None
    assert memory.last() is None


# In the portal


def behind_a_proxy(portal: PortalFactory, **named: str) -> InProcessPortal:
    settings = {
        "SIGN_IN_HEADER": "Remote-User",
        "SIGN_IN_SECRET": SECRET,
        "TRUSTED_PROXIES": "1",
        "ROLES": "vendas=decode,renainf,renajud; chefia=admin,decode",
        "ISSUER_NAME": "Loja Central",
        "ISSUER_CONTACT": "(11) 5555-0100",
    }
    return portal(**settings | named)


def as_person(name: str = "ana", groups: str = "vendas", **changed: str) -> dict[str, str]:
    return {
        "Remote-User": name,
        "Remote-Groups": groups,
        "X-Forwarded-For": "192.0.2.7",
        "X-Sign-In-Secret": SECRET,
        **changed,
    }


def test_person_sees_pages_without_a_token_and_only_own_history(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    ana, bia = (PageClient(here.app.test_client()) for _ in range(2))
    page = ana.get("/placa/ABC1D23?completo=1", headers=as_person())
    assert "ana" in page.text
    assert "ABC1D23" in ana.get("/historico", headers=as_person()).text
    assert "ABC1D23" not in bia.get("/historico", headers=as_person("bia")).text
    # Another person at the same browser, with the same cookie.
    assert "ABC1D23" not in ana.get("/historico", headers=as_person("bia")).text
    usage = here.client.get("/api/v1/usage", headers=as_person())
    assert (usage.status_code, usage.get_json()["calls"]) == (200, 3)
    assert here.client.get("/detran/v1/decode/ABC1D23", headers=as_person()).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        as_person(**{"X-Sign-In-Secret": "x"}),
        as_person(**{"X-Forwarded-For": ""}),
        as_person("ana,admin"),
        as_person(""),
    ],
)
def test_forged_header_meets_the_sign_in_page(
    portal: PortalFactory, headers: dict[str, str]
) -> None:
    here = behind_a_proxy(portal)
    found = here.client.get("/placa/ABC1D23", headers=headers)
    assert (found.status_code, found.headers["Location"]) == (
        *(303, "/entrar?next=/placa/ABC1D23"),
    )
    assert here.client.get("/operacao", headers=headers).status_code == 303
    assert here.client.get("/api/v1/usage", headers=headers).status_code == 401
    assert here.parts.people is not None
    assert here.parts.people.listed() == []


def test_doctor_says_that_the_proxy_sends_another_secret(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    for headers, levels in [
        (as_person(**{"X-Sign-In-Secret": f"{SECRET[:-1]}X"}), ["wrong"]),
        (as_person(), ["ok"]),  # mended
    ]:
        here.client.get("/placa/ABC1D23", headers=headers)
        here.parts.sight.write()
        lines = json.loads(run_command(here, "doctor", "--json").stdout)
        found = [line for line in lines if line["name"] == "sign-in"]
        assert [line["level"] for line in found] == levels
        assert SECRET[:-1] not in str(found)


def test_person_without_a_role_is_told_whom_to_ask(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    pages = PageClient(here.client)
    headers = as_person("bia", "estoque")
    assert here.client.get("/placa/ABC1D23", headers=headers).status_code == 303
    text = pages.get("/entrar", headers=headers).text
    assert "bia, sua empresa reconhece você" in text
    assert "Loja Central, (11) 5555-0100" in text


def test_refused_page_names_whom_to_ask(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    page = PageClient(here.client).get("/operacao", 403, headers=as_person())
    assert "Fale com Loja Central, (11) 5555-0100." in page.text
    assert "avise Loja Central, (11) 5555-0100 e informe o código" in page.text
    assert "quem opera" not in page.text


def test_account_page_of_an_admin_names_the_operators_page(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    page = PageClient(here.client).get("/conta", headers=as_person("caio", "chefia"))
    assert "Operação: ver /operacao" in page.text
    assert "esta página" not in page.text


def test_privacy_page_says_what_is_kept_of_people(portal: PortalFactory) -> None:
    said = [
        "Quem entra pela empresa" in PageClient(here.client).get("/privacidade").text
        for here in (behind_a_proxy(portal), portal())
    ]
    assert said == [True, False]


def test_roles_open_the_operators_page(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    pages = PageClient(here.client)
    assert here.client.get("/operacao", headers=as_person()).status_code == 403
    pages.get("/operacao", headers=as_person("caio", "chefia"))
    form = pages.get("/operacao/tokens/emitir", headers=as_person("caio", "chefia"))
    assert not form.all("input", name="token")  # the proxy has just signed the person in
    assert here.client.get("/operacao", headers=as_person("caio", "vendas")).status_code == 403


def test_post_of_a_person_needs_the_forms_token(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal)
    assert here.client.post("/sair", headers=as_person()).status_code == 400
    assert here.client.post("/placa/ABC1D23/atualizar", headers=as_person()).status_code == 400


def test_purpose_is_picked_before_the_first_vehicle(portal: PortalFactory) -> None:
    here = behind_a_proxy(portal, PURPOSES="Compra; Cobrança")
    pages = PageClient(here.client)
    asked = here.client.get("/placa/ABC1D23", headers=as_person())
    assert here.client.get("/api/v1/usage", headers=as_person()).status_code == 401
    assert asked.headers["Location"] == "/entrar?next=/placa/ABC1D23"
    form = pages.get("/entrar?next=/placa/ABC1D23", headers=as_person())
    assert not form.all("input", name="token")
    data = {"csrf_token": form.csrf_token(), "next": "/placa/ABC1D23"}
    for wrong in ({}, {"purpose": "Curiosidade"}):
        pages.post("/entrar", 400, data=data | wrong, headers=as_person())
    led = pages.post("/entrar", data=data | {"purpose": "Compra"}, headers=as_person())
    assert led == "/placa/ABC1D23"
    pages.get("/placa/ABC1D23", headers=as_person())
    assert here.client.get("/api/v1/usage", headers=as_person()).status_code == 200
    # The purpose is of one person, not of the browser.
    other = here.client.get("/placa/ABC1D23", headers=as_person("bia"))
    assert other.status_code == 303


def test_purpose_stands_in_the_form_of_tokens(portal: PortalFactory) -> None:
    here = portal(PURPOSES="Compra; Cobrança")
    pages = PageClient(here.client)
    form = pages.get("/entrar")
    assert [each.get("value") for each in form.all("input", name="purpose")] == [
        *("Compra", "Cobrança")
    ]
