"""Sign-in at a provider that others have written (oidc-provider-mock), on loopback."""

import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from oidc_provider_mock import User, run_server_in_thread

from portal.access.people import CONFIRMED_S, RENEW_AFTER_S
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.web.page_client import PageClient

# The provider uses what its own libraries will drop.
pytestmark = pytest.mark.filterwarnings(
    "ignore:get_jwt_config", "ignore::authlib.deprecate.AuthlibDeprecationWarning"
)
CLAIMS = {"preferred_username": "ana@loja.example", "groups": ["vendas"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with run_server_in_thread(user_claims=[User(sub="1", claims=CLAIMS)]) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def here(portal: PortalFactory, provider: str) -> InProcessPortal:
    put(provider, CLAIMS)
    return portal(
        OIDC_ISSUER=provider,
        OIDC_CLIENT_ID="portal",
        OIDC_CLIENT_SECRET="secret",
        ROLES="vendas=decode,renainf,renajud",
    )


def put(provider: str, claims: object) -> None:
    assert requests.put(f"{provider}/users/1", json=claims, timeout=30).status_code == 204


def sign_in(here: InProcessPortal) -> str:
    """Go to the provider and back, and return where the portal leads then."""
    address = here.client.get("/entrar/empresa?next=/historico").headers["Location"]
    accepted = requests.post(address, data={"sub": "1"}, allow_redirects=False, timeout=30)
    back = urlsplit(accepted.headers["Location"])
    assert (back.netloc, back.path) == ("localhost", "/entrar/empresa/volta")
    return str(here.client.get(f"{back.path}?{back.query}").headers.get("Location", ""))


def later(here: InProcessPortal, monkeypatch: pytest.MonkeyPatch, seconds: float) -> bool:
    """Return whether the person still sees pages after so many seconds."""
    now = time.time()
    monkeypatch.setattr(here.parts.people, "_clock", lambda: now + seconds)
    return bool(here.client.get("/historico").status_code == 200)


def test_person_signs_in_and_out(here: InProcessPortal, provider: str) -> None:
    assert sign_in(here) == "/historico"
    pages = PageClient(here.client)
    page = pages.get("/historico")
    assert "ana@loja.example" in page.text
    out = pages.get(str(pages.post("/sair", data={"csrf_token": page.csrf_token()})))
    (address,) = (
        str(each.get("href")) for each in out.all("a") if str(each.get("href")).startswith(provider)
    )
    assert parse_qs(urlsplit(address).query)["post_logout_redirect_uri"] == ["http://localhost/"]
    assert requests.get(address, timeout=30).status_code == 200
    assert here.client.get("/historico").status_code == 303


def test_refused_consent_signs_nobody_in(here: InProcessPortal) -> None:
    address = here.client.get("/entrar/empresa").headers["Location"]
    denied = requests.post(address, data={"action": "deny"}, allow_redirects=False, timeout=30)
    back = urlsplit(denied.headers["Location"])
    PageClient(here.client).get(f"{back.path}?{back.query}", 403)


def test_refresh_brings_the_groups_of_now(
    here: InProcessPortal, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(here)
    assert later(here, monkeypatch, RENEW_AFTER_S + 1)
    put(provider, CLAIMS | {"groups": ["estoque"]})
    assert not later(here, monkeypatch, CONFIRMED_S)


def test_revoked_refresh_token_ends_pages(
    here: InProcessPortal, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(here)
    requests.post(f"{provider}/users/1/revoke-tokens", timeout=30)
    assert not later(here, monkeypatch, CONFIRMED_S - 1)
