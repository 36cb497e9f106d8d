"""Sessions: sign-in, expiry, revocation, CSRF checks and redirects."""

import hashlib
import re
import time
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, pass_through
from tests.web.json_paths import PLATE, issue, no_upstream_call, tokens_of
from tests.web.person import Person

VEHICLE = f"/placa/{PLATE}"
ABOUT_VEHICLES = (
    VEHICLE,
    f"{VEHICLE}?completo=1",
    f"{VEHICLE}/painel/multas",
    f"{VEHICLE}/dossie",
    f"{VEHICLE}/dossie.pdf",
    "/renavam/00123456789",
)
POSTS = (f"{VEHICLE}/atualizar", f"{VEHICLE}/laudo", "/historico/apagar", "/sair", "/entrar")


def cookie_of(response: Any) -> Morsel[str]:
    jar: SimpleCookie = SimpleCookie()
    for line in response.headers.getlist("Set-Cookie"):
        jar.load(line)
    return jar["portal"]


@pytest.mark.parametrize("path", ABOUT_VEHICLES)
def test_vehicle_pages_without_session_redirect_to_sign_in(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    for here in (portal(), portal(pass_through(upstream.url))):
        with no_upstream_call(upstream):
            response = here.client.get(path, headers={"Authorization": PORTAL_TOKEN})
            assert response.status_code == 303
            assert response.headers["Location"].startswith("/entrar?next=")
            asked = here.client.get(f"{path}{'&' if '?' in path else '?'}at={PORTAL_TOKEN}")
            assert asked.status_code == 303


def test_sign_in_redirects_to_the_requested_page(portal: PortalFactory) -> None:
    ana = Person.at(portal())
    asked = ana.client.get(f"{VEHICLE}?completo=1")
    form = ana.pages.get(asked.headers["Location"])
    target = str(form.all("input", name="next")[0].get("value"))
    done = ana.client.post(
        "/entrar",
        data={"token": PORTAL_TOKEN, "next": target, "csrf_token": form.csrf_token()},
    )
    assert done.headers["Location"] == f"{VEHICLE}?completo=1"
    assert ana.client.get(done.headers["Location"]).status_code == 200


def test_zero_width_signs_around_a_token_are_ignored(portal: PortalFactory) -> None:
    ana = Person.at(portal())
    form = ana.pages.get("/entrar")
    data = {"token": f"\u200b{PORTAL_TOKEN}\u2060 ", "csrf_token": form.csrf_token()}
    assert ana.client.post("/entrar", data=data).status_code == 303


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "\t//evil.example",
        " //evil.example",
        "https://evil.example",
        "https:evil.example",
        "HTTPS:/evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "evil.example",
        "http:///evil.example",
        "/\x00/evil.example",
        "/\u2028/evil.example",
        "",
    ],
)
def test_sign_in_never_redirects_to_another_site(portal: PortalFactory, target: str) -> None:
    ana = Person.at(portal())
    page = ana.pages.get("/entrar", query_string={"next": target})
    assert page.all("input", name="next")[0].get("value") == "/"
    assert ana.sign_in(then=target).headers["Location"] == "/"


@pytest.mark.parametrize(
    "token", ["", " ", "nobody", "com espaço", "é", "a" * 9000, "a,b", "a\x00"]
)
def test_wrong_token_is_401_and_starts_no_session(portal: PortalFactory, token: str) -> None:
    ana = Person.at(portal())
    response = ana.sign_in(token)
    assert response.status_code == 401
    assert "não foi aceito" in response.get_data(as_text=True)
    assert ana.client.get(VEHICLE).status_code == 303


def test_revoked_and_expired_tokens_are_403(portal: PortalFactory) -> None:
    here = portal()
    late = issue(here, "late", lifetime_s=0)
    gone = issue(here, "gone")
    tokens_of(here).revoke("gone")
    for token in (late, gone):
        assert Person.at(here).sign_in(token).status_code == 403


def test_revocation_ends_all_sessions_of_the_token(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "shared")
    both = [Person.at(here).signed_in(token) for _ in range(2)]
    assert [one.client.get(VEHICLE).status_code for one in both] == [200, 200]
    here.app.test_cli_runner().invoke(args=["token", "revoke", "shared"])
    assert [one.client.get(VEHICLE).status_code for one in both] == [303, 303]


def test_sign_out_ends_the_session(portal: PortalFactory) -> None:
    ana = Person.at(portal()).signed_in()
    assert ana.client.get(VEHICLE).status_code == 200
    assert ana.post("/sair").status_code == 303
    assert ana.client.get(VEHICLE).status_code == 303


def test_cookie_is_httponly_samesite_and_secure_over_tls(
    portal: PortalFactory,
) -> None:
    here = portal(TRUSTED_PROXIES="1")
    plain = cookie_of(Person.at(here).sign_in())
    assert plain["httponly"]
    assert plain["samesite"] == "Lax"
    assert plain["path"] == "/"
    assert not plain["secure"]
    assert not plain["domain"]
    ana = Person.at(here)
    proxied = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
    assert cookie_of(ana.client.get("/entrar", headers=proxied))["secure"]


def test_forwarded_headers_are_ignored_by_default(portal: PortalFactory) -> None:
    forged = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
    response = portal().client.get("/entrar", headers=forged)
    assert "Strict-Transport-Security" not in response.headers
    assert not cookie_of(response)["secure"]
    assert "evil.example" not in response.get_data(as_text=True)


def test_forwarded_prefix_does_not_change_urls(portal: PortalFactory) -> None:
    """Redirects start at the root, like all links, assets and forms."""
    ana = Person.at(portal(TRUSTED_PROXIES="1")).signed_in()
    prefixed = {"X-Forwarded-Prefix": "/carros"}
    found = ana.client.get("/buscar?q=ABC1D23", headers=prefixed)
    assert found.headers["Location"] == "/placa/ABC1D23"
    assert 'href="/placa/ABC1D23' in ana.client.get("/placa/ABC1D23", headers=prefixed).get_data(
        as_text=True
    )


def test_cookie_contains_no_token(portal: PortalFactory, upstream: FaultUpstream) -> None:
    import base64
    import zlib

    secret = "the-callers-own-credential"
    for here, token in ((portal(), PORTAL_TOKEN), (portal(pass_through(upstream.url)), secret)):
        value = cookie_of(Person.at(here).sign_in(token)).value
        payload = value.split(".")[1 if value.startswith(".") else 0]
        raw = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        content = zlib.decompress(raw) if value.startswith(".") else raw
        assert token.encode() not in content
        assert b"csrf" in content or b"token" in content or b"credential" in content


def test_sign_in_discards_the_previous_session(portal: PortalFactory) -> None:
    ana = Person.at(portal())
    planted = ana.csrf_token()
    ana.signed_in()
    assert ana.csrf_token() != planted
    answer = ana.client.post("/sair", data={"csrf_token": planted})
    assert answer.status_code == 400


@pytest.mark.parametrize("age_h", [13, 24 * 40])
def test_session_ends_after_twelve_hours(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch, age_h: int
) -> None:
    import itsdangerous.timed as timed

    here = portal()
    ana = Person.at(here)
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(timed.TimestampSigner, "get_timestamp", lambda self: int(now - age_h * 3600))
        ana.signed_in()
        assert ana.client.get(VEHICLE).status_code == 200
    assert ana.client.get(VEHICLE).status_code == 303


@pytest.mark.parametrize("path", POSTS)
def test_post_without_valid_csrf_token_is_400(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    here = portal()
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        for data in ({}, *({"csrf_token": csrf_token} for csrf_token in ("", "x", "é" * 32))):
            assert ana.client.post(path, data=data).status_code == 400
        token = ana.csrf_token()
        in_address = ana.client.post(path, query_string={"csrf_token": token})
        assert in_address.status_code == 400
        of_another = Person.at(here).client.post(path, data={"csrf_token": token})
        assert of_another.status_code == 400
    assert ana.client.get(VEHICLE).status_code == 200


@pytest.mark.parametrize("path", POSTS)
def test_get_never_changes_state(portal: PortalFactory, path: str) -> None:
    ana = Person.at(portal()).signed_in()
    if path != "/entrar":
        assert ana.client.get(path).status_code == 405
    assert ana.client.get(VEHICLE).status_code == 200


def test_pass_through_credential_is_not_stored_in_plain_text(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(pass_through(upstream.url))
    ana = Person.at(here).signed_in("the-callers-own-credential")
    assert ana.client.get(f"{VEHICLE}?completo=1").status_code == 200
    assert upstream.calls[0].header("authorization") == "the-callers-own-credential"
    kept = b"".join(p.read_bytes() for p in here.settings.data_dir.rglob("*") if p.is_file())
    assert b"the-callers-own-credential" not in kept


def test_stored_data_does_not_allow_guessing_a_credential(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """Ledger, limits and history use a keyed hash that only the portal can compute."""
    guess = "1234-ana"
    here = portal(pass_through(upstream.url))
    ana = Person.at(here).signed_in(guess)
    assert ana.client.get(f"{VEHICLE}?completo=1").status_code == 200
    listed = here.app.test_cli_runner().invoke(args=["ledger"]).output
    (name,) = set(re.findall("credential:[0-9a-f]{12}", listed))
    kept = b"".join(p.read_bytes() for p in here.settings.data_dir.rglob("*") if p.is_file())
    assert kept.count(name.encode()) > 0  # in the ledger; the history uses another digest
    for algorithm in sorted(hashlib.algorithms_guaranteed - {"shake_128", "shake_256"}):
        digest = hashlib.new(algorithm, guess.encode(), usedforsecurity=False)
        assert digest.hexdigest()[:12].encode() not in kept, algorithm
        assert digest.digest()[:8] not in kept, algorithm


def test_credential_length_is_limited_by_the_cookie_size(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(pass_through(upstream.url))
    for _ in range(40):  # more than wrong tokens may be
        response = Person.at(here).sign_in("a" * 2001)
        assert response.status_code == 400 and "longa demais para uma sessão" in response.text
        assert "não foi aceito" not in response.text
    assert "longa demais" in Person.at(here).sign_in("a" * 5000).text
    response = Person.at(here).sign_in("a" * 2000)
    assert response.status_code == 303
    assert len(response.headers["Set-Cookie"]) < 4096


def test_credential_in_a_cookie_reaches_no_other_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """A browser sends the cookie to every port of a host, perhaps to portals with one data key."""
    ana = Person.at(portal(pass_through(upstream.url))).signed_in()
    stolen = ana.client.get_cookie("portal").value
    for name, status in ((None, 200), ("other", 303)):
        named = {"PORTAL_UPSTREAM_NAME": name} if name else {}
        eve = Person.at(portal(pass_through(upstream.url) | named))
        eve.client.set_cookie("portal", stolen)
        assert eve.client.get("/historico").status_code == status


def test_session_of_another_portal_or_mode_is_invalid(
    portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    here: InProcessPortal = portal()
    ana = Person.at(here).signed_in()
    stolen = ana.client.get_cookie("portal").value
    for other in (portal(DATA_DIR=str(tmp_path / "another")), portal(pass_through(upstream.url))):
        eve = Person.at(other)
        eve.client.set_cookie("portal", stolen)
        with no_upstream_call(upstream):
            assert eve.client.get(VEHICLE).status_code == 303
