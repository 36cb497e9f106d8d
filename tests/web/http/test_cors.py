"""Only origins in CORS_ORIGINS may call JSON paths, and only without cookies."""

from typing import Any

import pytest

from portal.settings import Settings, SettingsError
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.web.json_api.portal_pair import differences, flask_disabled, portal_pair
from tests.web.json_paths import PLATE, no_upstream_call

SHOP = "https://loja.example"
OTHER = "http://127.0.0.1:5173"
ALLOWED = f"{SHOP}, {OTHER}"
DECODE = f"/detran/v1/decode/{PLATE}"
REPORT = "/detran/v1/analytical-reports"
VEHICLE = f"/api/v1/vehicles/{PLATE}"
AUTH = {"Authorization": PORTAL_TOKEN}
STRANGERS = (
    "https://loja.example:8443",
    "http://loja.example",
    "https://sub.loja.example",
    "https://loja.example.evil.example",
    "https://LOJA.example",
    "null",
    "*",
    f"{SHOP}, {OTHER}",
    f"{SHOP}/",
    "",
)


def cors_headers(response: Any) -> dict[str, str]:
    return {
        name.title(): value  # the HTTP server sends names in lower case
        for name, value in response.headers.items()
        if name.lower().startswith("access-control-")
    }


def test_no_origin_is_allowed_by_default(portal: PortalFactory) -> None:
    here = portal()
    for path in (DECODE, DECODE, VEHICLE, "/detran/v1/decode/X", "/detran/nada"):
        response = here.client.get(path, headers={**AUTH, "Origin": SHOP})
        assert cors_headers(response) == {}
        assert response.headers["Vary"] == "Authorization, Cookie, Accept-Encoding"
    preflight = {"Origin": SHOP, "Access-Control-Request-Method": "GET"}
    assert cors_headers(here.client.options(DECODE, headers=preflight)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("origin", [SHOP, OTHER])
def test_allowed_origin_at_the_wire(upstream: FaultUpstream, origin: str) -> None:
    """Misses, hits, errors, 405s and preflights of a real server."""
    with PortalProcess(managed(upstream.url) | {"PORTAL_CORS_ORIGINS": ALLOWED}) as server:
        asked = (
            ("GET", DECODE, AUTH, 200),
            *[("GET", DECODE, AUTH, 200)] * 5,  # hits, from Flask and from the hit cache
            ("HEAD", DECODE, AUTH, 200),
            ("GET", VEHICLE, AUTH, 200),
            ("GET", f"{VEHICLE}/fines.csv", AUTH, 200),
            ("GET", "/detran/v1/decode/X", AUTH, 400),
            ("GET", DECODE, {}, 401),
            ("GET", "/detran/v1/nada", AUTH, 404),
            ("DELETE", DECODE, AUTH, 405),
            ("POST", REPORT, AUTH, 400),
            ("OPTIONS", DECODE, {}, 204),
        )
        for method, path, headers, status in asked:
            response = server.request(method, path, headers={**headers, "Origin": origin})
            assert response.status_code == status, (method, path)
            found = cors_headers(response)
            assert found["Access-Control-Allow-Origin"] == origin
            assert "Retry-After" in found["Access-Control-Expose-Headers"]
            assert "Access-Control-Allow-Credentials" not in found
            assert response.headers["Vary"] == "Authorization, Cookie, Accept-Encoding, Origin"
        before = upstream.count()
        for path, methods in (
            (DECODE, "GET, HEAD, OPTIONS"),
            (REPORT, "POST, OPTIONS"),
            ("/api/v1/batches", "GET, HEAD, POST, OPTIONS"),
        ):
            response = server.request(
                "OPTIONS",
                path,
                headers={
                    "Origin": origin,
                    "Access-Control-Request-Method": methods.split(",")[0],
                    "Access-Control-Request-Headers": "authorization,content-type",
                },
            )
            assert (response.status_code, response.content) == (204, b"")
            assert cors_headers(response) == {
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": methods,
                "Access-Control-Allow-Headers": (
                    "Authorization, Cache-Control, Content-Type, Idempotency-Key"
                ),
                "Access-Control-Max-Age": "600",
            }
            assert response.headers["Vary"] == "Authorization, Cookie, Accept-Encoding, Origin"
        assert upstream.count() == before
        for origin_of_stranger in STRANGERS:
            response = server.get(DECODE, headers={**AUTH, "Origin": origin_of_stranger})
            assert response.status_code == 200
            assert cors_headers(response) == {}
            assert response.headers["Vary"] == "Authorization, Cookie, Accept-Encoding, Origin"


def test_pages_are_never_shared(portal: PortalFactory) -> None:
    here = portal(CORS_ORIGINS=ALLOWED)
    for path in ("/", "/api", "/openapi.json", "/healthz", f"/placa/{PLATE}", "/nada"):
        response = here.client.get(path, headers={"Origin": SHOP})
        assert cors_headers(response) == {}
        assert "Origin" not in response.headers.get("Vary", "")


def test_a_cookie_from_another_origin_is_not_readable(portal: PortalFactory) -> None:
    """Without Allow-Credentials a browser withholds the response from the script."""
    here = portal(CORS_ORIGINS=ALLOWED)
    response = here.client.get(VEHICLE, headers={"Origin": SHOP, "Cookie": "portal=x"})
    assert response.status_code == 401
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_hit_cache_and_flask_give_the_same_cors_headers(portal: PortalFactory) -> None:
    pair = portal_pair(portal, CORS_ORIGINS=ALLOWED)
    for _ in range(2):
        for origin in (SHOP, OTHER, *STRANGERS, None):
            headers = AUTH if origin is None else {**AUTH, "Origin": origin}
            assert differences(*pair.ask(DECODE, headers=headers)) == [], origin
    with flask_disabled(pair.cached):
        for origin in (SHOP, OTHER):  # both origins get the same hit cache entry
            response = pair.cached.client.get(DECODE, headers={**AUTH, "Origin": origin})
            assert response.headers["Access-Control-Allow-Origin"] == origin


def test_preflight_needs_no_credential_and_costs_nothing(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(CORS_ORIGINS=SHOP)
    headers = {"Origin": SHOP, "Access-Control-Request-Method": "GET"}
    with no_upstream_call(upstream):
        assert here.client.options(DECODE, headers=headers).status_code == 204


@pytest.mark.parametrize(
    "text",
    ["*", "null", "loja.example", "https://loja.example/", "https://loja.example/x", "ftp://a",
     "https://Loja.example", "https://loja.example:443", "http://a:80", "https://a:0",
     "https://a:65536", "https://a b", "https://u@a", "https://a?x", "https://ação.example"],
)  # fmt: skip
def test_a_text_that_is_no_origin_ends_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match="PORTAL_CORS_ORIGINS makes no sense: an origin"):
        Settings.from_environment({"PORTAL_CORS_ORIGINS": f"https://good.example,{text}"})


def test_origins_are_read_as_a_list() -> None:
    settings = Settings.from_environment(
        {"PORTAL_CORS_ORIGINS": "https://a.example, http://[::1]:3000,http://localhost:8080,"}
    )
    assert settings.cors_origins == (
        "https://a.example",
        "http://[::1]:3000",
        "http://localhost:8080",
    )
