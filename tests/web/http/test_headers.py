"""Security and cache headers of every kind of response, errors included."""

import re
from typing import Any

import pytest

from portal.system.repeated_warning import RepeatedWarning
from portal.web import app_setup
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import PLATE, QUESTIONS
from tests.web.person import Person

AUTH = {"Authorization": PORTAL_TOKEN}
# Method, path, headers and expected status of a request for each kind of response.
KINDS: tuple[tuple[str, str, dict[str, str], int], ...] = (
    ("GET", "/", {}, 200),
    ("GET", "/entrar", {}, 200),
    ("GET", "/buscar?q=x", {}, 400),
    ("GET", f"/buscar?q={PLATE}", {}, 303),
    ("GET", f"/placa/{PLATE}", {}, 303),
    ("GET", "/nada", {}, 404),
    ("GET", "/static/nada.css", {}, 404),
    ("DELETE", "/", {}, 405),
    ("POST", "/entrar", {}, 400),
    ("OPTIONS", "/", {}, 200),
    ("HEAD", "/", {}, 200),
    ("GET", "/openapi.yaml", {}, 200),
    ("GET", "/openapi.json", {}, 200),
    ("GET", "/robots.txt", {}, 200),
    ("GET", "/healthz", {}, 200),
    ("GET", "/readyz", {}, 200),
    ("GET", QUESTIONS[0].path, AUTH, 200),
    ("GET", QUESTIONS[0].path, {}, 401),
    ("HEAD", QUESTIONS[0].path, {}, 401),
    ("OPTIONS", QUESTIONS[0].path, {}, 204),
    ("GET", "/detran/v1/decode/X", AUTH, 400),
    ("GET", "/detran/nada", {}, 404),
    ("PUT", QUESTIONS[0].path, {}, 405),
    ("POST", "/detran/v1/analytical-reports", AUTH, 400),
)


def policy_of(response: Any) -> dict[str, list[str]]:
    directives = [part.split() for part in response.headers["Content-Security-Policy"].split(";")]
    return {name: values for name, *values in directives}


def expect_security_headers(response: Any) -> None:
    headers = response.headers
    policy = policy_of(response)
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
    assert policy["base-uri"] == policy["frame-ancestors"] == ["'none'"]
    assert policy["form-action"] == ["'self'"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert re.fullmatch(r"[0-9a-f]{16}", headers["X-Request-Id"])
    assert not any(name.startswith("Access-Control") for name, _ in headers)
    for name in ("Server", "X-Powered-By", "ETag", "Last-Modified"):
        assert name not in headers


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(TRUSTED_PROXIES="1")


@pytest.mark.parametrize(("method", "path", "headers", "status"), KINDS)
def test_every_response_has_security_and_no_store_headers(
    here: InProcessPortal, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    response = here.client.open(path, method=method, headers=headers)
    assert response.status_code == status
    expect_security_headers(response)
    assert response.headers["Cache-Control"] == "no-store, private"
    assert {"Authorization", "Cookie"} <= {
        name.strip() for name in response.headers["Vary"].split(",")
    }
    assert "Strict-Transport-Security" not in response.headers
    behind_tls = here.client.open(
        path, method=method, headers={**headers, "X-Forwarded-Proto": "https"}
    )
    seconds = re.match(r"max-age=(\d+)", behind_tls.headers["Strict-Transport-Security"])
    assert seconds is not None
    assert int(seconds[1]) >= 180 * 86_400


@pytest.mark.parametrize(
    "path",
    [f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie", "/renavam/00123456789", "/placa/X"],
)
def test_vehicle_pages_have_security_headers_and_noindex(here: InProcessPortal, path: str) -> None:
    response = Person.at(here).signed_in().client.get(path)
    expect_security_headers(response)
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert response.headers["Cache-Control"] == "no-store, private"


def test_internal_error_has_security_headers(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("portal.web.pages.public.GlossaryPage", explode)
    monkeypatch.setattr("portal.web.json_api.routes.read_credential", explode)
    for path in (
        "/glossario",
        QUESTIONS[0].path,
        QUESTIONS[0].path,
    ):  # the hit cache fails too and passes the request to Flask
        response = here.client.get(path)
        assert response.status_code == 500
        expect_security_headers(response)


def test_robots_txt_allows_vehicle_pages(here: InProcessPortal) -> None:
    """Crawlers must fetch the pages to see their noindex header."""
    text = here.client.get("/robots.txt").get_data(as_text=True)
    assert "Disallow: /placa" not in text
    assert "Disallow: /\n" not in text


def test_static_files_are_publicly_cacheable(here: InProcessPortal) -> None:
    page = here.client.get("/").get_data(as_text=True)
    name = re.search(r'href="(/static/[^"]+\.css)"', page)
    assert name is not None
    response = here.client.get(name[1])
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Cookie" not in response.headers.get("Vary", "")
    assert "Set-Cookie" not in response.headers
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_unconfigured_proxy_is_logged_once(
    portal: PortalFactory, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind such a proxy all clients share one limit of sign-ins."""
    monkeypatch.setattr(app_setup, "_warn", RepeatedWarning(app_setup._warn._log))
    forwarded = {"X-Forwarded-For": "203.0.113.7"}
    line = "a request came through a proxy (X-Forwarded-For), but TRUSTED_PROXIES is 0"
    configured, bare = portal(TRUSTED_PROXIES="1"), portal()
    configured.client.post("/entrar", headers=forwarded)
    bare.client.post("/entrar")
    assert line not in caplog.messages
    for _ in range(3):
        bare.client.post("/entrar", headers=forwarded)
    assert caplog.messages.count(line) == 1
