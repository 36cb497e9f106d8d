"""Sign-in at the company's OpenID Connect provider: nothing forged is accepted."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import RSAKey

from portal.access.people import CONFIRMED_S, RENEW_AFTER_S
from portal.oidc import provider as provider_module
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.fakes.oidc import CLIENT_ID, CLIENT_SECRET, FakeOidc, served
from tests.web.html_checker import HTML, text_of
from tests.web.page_client import Page, PageClient

FIRST_KEY = RSAKey.generate_key(2048, {"kid": "first"})
STRANGER = RSAKey.generate_key(2048, {"kid": "first"})


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOidc]:
    with served() as provider:
        yield provider


@pytest.fixture
def oidc(server: FakeOidc) -> FakeOidc:
    """The provider as it is at first."""
    fresh = replace(FakeOidc(keys=[FIRST_KEY]), url=server.url)
    for name, value in vars(fresh).items():
        setattr(server, name, value)
    return server


@dataclass
class Company:
    """A portal whose people sign in at the provider, and one browser."""

    portal: InProcessPortal
    oidc: FakeOidc
    pages: PageClient

    def begin(self, next_path: str = "/placa/ABC1D23") -> str:
        """Go to the provider, and return the path to which it leads back."""
        found = self.pages.client.get(f"/entrar/empresa?next={next_path}")
        assert found.status_code == 303
        return self.oidc.authorize(found.headers["Location"])

    def sign_in(self) -> str:
        found = self.pages.client.get(self.begin())
        assert found.status_code == 303, found.get_data(as_text=True)[:3000]
        return str(found.headers["Location"])

    @property
    def is_signed_in(self) -> bool:
        return bool(self.pages.client.get("/historico").status_code == 200)

    def refused(self, back: str, status: int = 400) -> Page:
        page = self.pages.get(back, status)
        assert page.h1.startswith("Entre")
        assert not self.is_signed_in
        assert self.portal.parts.people is not None
        assert self.portal.parts.people.listed() == []
        return page


@pytest.fixture
def company(portal: PortalFactory, oidc: FakeOidc) -> Company:
    return company_of(portal, oidc)


def company_of(portal: PortalFactory, oidc: FakeOidc, **named: str) -> Company:
    settings = {
        "OIDC_ISSUER": oidc.url,
        "OIDC_CLIENT_ID": CLIENT_ID,
        "OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "ROLES": "vendas=decode,renainf,renajud; chefia=admin,decode",
    }
    here = portal(**settings | named)
    return Company(here, oidc, PageClient(here.client))


def test_person_signs_in_and_out(company: Company) -> None:
    assert company.sign_in() == "/placa/ABC1D23"
    page = company.pages.get("/historico")
    assert "ana@loja.example" in page.text
    out = company.pages.post("/sair", data={"csrf_token": page.csrf_token()})
    assert out == "/entrar/empresa/saida"
    (link,) = (
        each
        for each in company.pages.get(str(out)).all("a")
        if each.text == "Sair também na empresa"
    )
    asked = parse_qs(urlsplit(str(link.get("href"))).query)
    assert asked == {"client_id": [CLIENT_ID], "post_logout_redirect_uri": ["http://localhost/"]}
    assert not company.is_signed_in


def test_groups_may_come_from_userinfo(company: Company) -> None:
    company.oidc.groups_in_userinfo = True
    company.sign_in()
    assert company.is_signed_in


def test_rotated_keys_are_read_again(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    company.sign_in()
    company.oidc.rotate_keys()
    monkeypatch.setattr(provider_module, "KEYS_AGAIN_S", 0)
    company.sign_in()
    assert company.is_signed_in
    assert company.oidc.requests.count("/keys") == 2


def test_tokens_of_unknown_keys_do_not_read_the_keys_each_time(company: Company) -> None:
    company.sign_in()
    company.oidc.rotate_keys()
    for _ in range(3):
        company.pages.get(company.begin(), 400)
    assert company.oidc.requests.count("/keys") == 1


NOW = int(time.time())
FORGED_CLAIMS: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "https://evil.example"},
    "issuer with a slash": {"iss": "{url}/"},
    "issuer missing": {"iss": None},
    "issuer a list": {"iss": ["{url}"]},
    "audience": {"aud": "another"},
    "audience missing": {"aud": None},
    "audience empty": {"aud": []},
    "audience a part": {"aud": "porta"},
    "audience an object": {"aud": {"portal": 1}},
    "two audiences without azp": {"aud": ["portal", "another"]},
    "two audiences for another": {"aud": ["portal", "another"], "azp": "another"},
    "azp of another": {"azp": "another"},
    "nonce of another sign-in": {"nonce": "x" * 43},
    "nonce missing": {"nonce": None},
    "nonce a number": {"nonce": 1},
    "nonce a list": {"nonce": ["x"]},
    "ended": {"exp": NOW - 3600},
    "end missing": {"exp": None},
    "end a text": {"exp": "9999999999"},
    "end true": {"exp": True},
    "issued tomorrow": {"iat": NOW + 86400},
    "issued never": {"iat": None},
    "not yet": {"nbf": NOW + 86400},
    "subject missing": {"sub": None},
    "subject empty": {"sub": ""},
    "subject a number": {"sub": 7},
    "subject too long": {"sub": "x" * 256},
}


@pytest.mark.parametrize("name", FORGED_CLAIMS)
def test_forged_claim_is_refused(company: Company, name: str) -> None:
    def filled(value: object) -> object:
        if isinstance(value, list):
            return [*map(filled, value)]
        return value.format(url=company.oidc.url) if isinstance(value, str) else value

    company.oidc.claims = {key: filled(value) for key, value in FORGED_CLAIMS[name].items()}
    assert "não foi aceita" in company.refused(company.begin()).text


def unsigned(oidc: FakeOidc) -> None:
    oidc.shared, oidc.header = b"", {"alg": "none", "kid": None}


def unsigned_in_other_letters(oidc: FakeOidc) -> None:
    oidc.shared, oidc.header = b"", {"alg": "nOnE"}


def signature_left_out(oidc: FakeOidc) -> None:
    oidc.shared = b""


def signed_with_the_client_secret(oidc: FakeOidc) -> None:
    oidc.shared, oidc.header = CLIENT_SECRET.encode(), {"alg": "HS256"}


def signed_with_the_public_key(oidc: FakeOidc) -> None:
    public = RSAKey.import_key(oidc.keys[0].as_dict(private=False))
    oidc.shared, oidc.header = public.as_pem(private=False), {"alg": "HS256"}


def signed_by_a_stranger(oidc: FakeOidc) -> None:
    oidc.signer = STRANGER


def stranger_brings_the_key(oidc: FakeOidc) -> None:
    oidc.signer, oidc.header = STRANGER, {"jwk": STRANGER.as_dict(private=False)}


def stranger_names_an_address(oidc: FakeOidc) -> None:
    oidc.signer, oidc.header = STRANGER, {"jku": "http://127.0.0.1:9/keys"}


def unknown_key(oidc: FakeOidc) -> None:
    oidc.signer, oidc.header = STRANGER, {"kid": "third"}


def without_signature(oidc: FakeOidc) -> None:
    oidc.raw_token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbmEifQ."


def no_token(oidc: FakeOidc) -> None:
    oidc.raw_token = "nonsense"


def algorithm_that_the_provider_does_not_offer(oidc: FakeOidc) -> None:
    oidc.metadata = {"id_token_signing_alg_values_supported": ["ES256"]}


def endless_token(oidc: FakeOidc) -> None:
    oidc.raw_token = "a" * 100_000


FORGERIES: list[Callable[[FakeOidc], None]] = [
    *(unsigned, unsigned_in_other_letters, signature_left_out),
    *(signed_with_the_client_secret, signed_with_the_public_key, signed_by_a_stranger),
    *(stranger_brings_the_key, stranger_names_an_address, unknown_key, without_signature),
    *(no_token, algorithm_that_the_provider_does_not_offer, endless_token),
]


@pytest.mark.parametrize("forge", FORGERIES)
def test_forged_signature_is_refused(company: Company, forge: Callable[[FakeOidc], None]) -> None:
    forge(company.oidc)
    assert "não foi aceita" in company.refused(company.begin()).text


def state_of(back: str) -> str:
    return parse_qs(urlsplit(back).query)["state"][0]


FORGED_WAYS_BACK: dict[str, Callable[[str], str]] = {
    "no state": lambda back: re.sub(r"&state=[^&]*", "", back),
    "empty state": lambda back: re.sub(r"state=[^&]*", "state=", back),
    "another state": lambda back: re.sub(r"state=[^&]*", "state=" + "x" * 43, back),
    "a part of the state": lambda back: back[:-1],
    "two states": lambda back: f"{back}&state={state_of(back)}",
    "a state that is no ASCII": lambda back: re.sub(r"state=[^&]*", "state=%C3%A7", back),
    "no code": lambda back: re.sub(r"code=[^&]*&", "", back),
    "empty code": lambda back: re.sub(r"code=[^&]*", "code=", back),
    "unknown code": lambda back: re.sub(r"code=[^&]*", "code=abc", back),
    "two codes": lambda back: f"{back}&code=abc",
    "endless code": lambda back: re.sub(r"code=[^&]*", "code=" + "x" * 5000, back),
    "another issuer": lambda back: f"{back}&iss=https://evil.example",
}


@pytest.mark.parametrize("name", FORGED_WAYS_BACK)
def test_forged_way_back_is_refused(company: Company, name: str) -> None:
    company.refused(FORGED_WAYS_BACK[name](company.begin()))


def test_issuer_must_be_named_if_the_provider_says_so(company: Company) -> None:
    company.oidc.metadata = {"authorization_response_iss_parameter_supported": True}
    company.refused(company.begin())
    assert company.pages.client.get(f"{company.begin()}&iss={company.oidc.url}").status_code == 303


def test_way_back_works_once_and_in_one_browser(company: Company) -> None:
    back = company.begin()
    other = replace(company, pages=PageClient(company.portal.app.test_client()))
    other.refused(back)  # somebody sends a victim the way back of their own sign-in
    assert company.pages.client.get(back).status_code == 303
    page = company.pages.get(back, 400)
    assert "não começou neste navegador" in page.text


def test_code_is_bound_to_the_browser_that_began(company: Company) -> None:
    """A stolen code does not fit another browser's state, nonce and verifier."""
    stolen = parse_qs(urlsplit(company.begin()).query)["code"][0]
    other = replace(company, pages=PageClient(company.portal.app.test_client()))
    other.refused(re.sub(r"code=[^&]*", f"code={stolen}", other.begin()))


def test_sign_in_takes_at_most_ten_minutes(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    back, now = company.begin(), time.time()
    monkeypatch.setattr("portal.web.pages.company.time.time", lambda: now + 602)
    company.refused(back)


def test_session_of_before_the_sign_in_is_over(company: Company) -> None:
    """A cookie that a stranger has planted does not become the person's session."""
    before = company.pages.get("/entrar").csrf_token()
    with company.pages.client.session_transaction() as session:
        session["planted"] = "x"
    company.sign_in()
    with company.pages.client.session_transaction() as session:
        assert "planted" not in session
    assert company.pages.get("/historico").csrf_token() != before


@pytest.mark.parametrize(
    "address",
    ["https://evil.example", "//evil.example", "/%5Cevil.example", "javascript:x", "/%0aevil", ""],
)
def test_way_back_never_leaves_the_portal(company: Company, address: str) -> None:
    found = company.pages.client.get(company.begin(address))
    assert (found.status_code, found.headers["Location"]) == (303, "/")


def test_refusal_of_the_provider_is_a_plain_page(company: Company) -> None:
    state = state_of(company.begin())
    page = company.refused(f"/entrar/empresa/volta?error=access_denied&state={state}", 403)
    assert "não autorizou" in page.text


def test_person_without_a_group_is_told_whom_to_ask(portal: PortalFactory, oidc: FakeOidc) -> None:
    company = company_of(portal, oidc, ISSUER_NAME="Loja", ISSUER_CONTACT="ti@loja.example")
    oidc.groups = ["estoque"]
    page = company.refused(company.begin(), 403)
    assert "ana@loja.example, sua empresa reconhece você" in page.text
    assert "Loja, ti@loja.example" in page.text


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "ftp://x"},
        {"jwks_uri": None},
    ],
)
def test_wrong_description_signs_nobody_in(company: Company, metadata: dict[str, Any]) -> None:
    company.oidc.metadata = metadata
    page = company.pages.get("/entrar/empresa", 503)
    assert "não responde" in page.text


def test_provider_that_fails_is_a_plain_page(company: Company) -> None:
    back = company.begin()
    company.oidc.failing = True
    assert "não responde" in company.refused(back, 503).text


def test_disabled_person_loses_pages_within_a_quarter_of_an_hour(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    company.sign_in()
    people = company.portal.parts.people
    assert people is not None
    now = time.time()
    monkeypatch.setattr(people, "_clock", lambda: now + RENEW_AFTER_S + 1)
    assert company.is_signed_in
    company.oidc.disabled = True
    monkeypatch.setattr(people, "_clock", lambda: now + RENEW_AFTER_S + CONFIRMED_S)
    assert not company.is_signed_in


def test_lost_group_ends_pages(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    company.sign_in()
    people = company.portal.parts.people
    assert people is not None
    company.oidc.groups = []
    now = time.time()
    monkeypatch.setattr(people, "_clock", lambda: now + RENEW_AFTER_S + 1)
    assert not company.is_signed_in


def test_without_the_setting_there_is_no_company(portal: PortalFactory) -> None:
    here = portal()
    for path in ("/entrar/empresa", "/entrar/empresa/volta", "/entrar/empresa/saida"):
        assert here.client.get(path).status_code == 404
    assert "Entrar pela empresa" not in PageClient(here.client).get("/entrar").text


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)


def browser(company: Company, agent: str) -> Company:
    """Return the same person in another browser, signed in."""
    client = company.portal.app.test_client()
    client.environ_base["HTTP_USER_AGENT"] = agent
    other = replace(company, pages=PageClient(client))
    other.sign_in()
    return other


def sessions_of(page: Page) -> dict[str, str]:
    """Return the id of each session that the account lists, by its browser."""
    return {
        text_of(row[0]): str(button.get("value"))
        for row in page.all("tr")
        for button in row.iter(f"{HTML}button")
        if button.get("name") == "sessao"
    }


def end(company: Company, session: str) -> str:
    form = {"csrf_token": company.pages.get("/conta").csrf_token(), "sessao": session}
    return str(company.pages.post("/conta/sessoes", data=form))


def test_each_session_is_listed_and_ended_alone(company: Company) -> None:
    desk, phone = browser(company, FIREFOX), browser(company, IPHONE)
    listed = sessions_of(desk.pages.get("/conta"))
    assert [*listed] == ["Safari no iPhone", "Firefox no Linux (este)"]
    assert end(desk, listed["Safari no iPhone"]) == "/conta"
    assert not phone.is_signed_in
    page = desk.pages.get("/conta")
    assert "A sessão foi encerrada." in page.text
    assert [*sessions_of(page)] == ["Firefox no Linux (este)"]
    assert end(desk, listed["Safari no iPhone"]) == "/conta"
    assert "Essa sessão já tinha acabado." in desk.pages.get("/conta").text
    assert end(desk, listed["Firefox no Linux (este)"]).startswith("/entrar")
    assert not desk.is_signed_in


def test_session_of_another_person_is_not_ended(company: Company) -> None:
    ana = browser(company, FIREFOX)
    (session,) = sessions_of(ana.pages.get("/conta")).values()
    company.oidc.claims = {**company.oidc.claims, "sub": "2", "preferred_username": "bia"}
    bia = browser(company, IPHONE)
    assert "bia" in bia.pages.get("/conta").text
    end(bia, session)
    assert ana.is_signed_in and bia.is_signed_in


def test_cookie_of_a_session_that_was_left_opens_nothing(company: Company) -> None:
    ana = browser(company, FIREFOX)
    cookie = ana.pages.client.get_cookie("portal")
    page = ana.pages.get("/conta")
    ana.pages.post("/sair", data={"csrf_token": page.csrf_token()})
    assert cookie is not None
    ana.pages.client.set_cookie("portal", cookie.value)
    assert not ana.is_signed_in


def test_end_of_one_session_leaves_own_tokens(company: Company) -> None:
    desk, phone = browser(company, FIREFOX), browser(company, IPHONE)
    page = phone.pages.get("/conta")
    form = {"nome": "planilha", "permissao": ["decode"], "dias": "30", "limite": "5"}
    issued = phone.pages.post("/conta/tokens", 200, data={"csrf_token": page.csrf_token(), **form})
    assert isinstance(issued, Page)
    token = str(issued.by_id("link").get("value"))
    end(desk, sessions_of(desk.pages.get("/conta"))["Safari no iPhone"])
    assert company.portal.get("/detran/v1/decode/ABC1D23", token).status_code == 200
    page = desk.pages.get("/conta")
    desk.pages.post("/conta/sessoes", data={"csrf_token": page.csrf_token()})
    assert company.portal.get("/detran/v1/decode/ABC1D24", token).status_code == 403
    assert not desk.is_signed_in
