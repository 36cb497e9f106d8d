"""Client addresses in the forms in which proxies send them."""

import logging
from pathlib import Path

import pytest

from portal.system.repeated_warning import RepeatedWarning
from portal.web.http.client_address import parse_address
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, built, managed
from tests.web.json_paths import PLATE


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ('"192.0.2.1:4711"', "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::ffff:192.0.2.1]:4711", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ('"[2001:db8::1]:4711"', "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]:80", "fe80::1"),
        ("for=192.0.2.1", "192.0.2.1"),
        ('For="[2001:db8::1]:4711"', "2001:db8::1"),
        *((text, None) for text in ("", "unknown", "_hidden", "192.0.2", "1.2.3.4.5", "::1::2")),
        *((text, None) for text in ("192.0.2.1:port", "[2001:db8::1", "١٩٢.0.2.1", "x" * 9999)),
    ],
)
def test_address_is_read_in_every_form(sent: str, expected: str | None) -> None:
    found = parse_address(sent)
    assert (found and str(found)) == expected


@pytest.mark.parametrize("form", ["{}:4711", '"{}"', "::ffff:{}", "[::ffff:{}]:1", "for={}"])
def test_clients_behind_a_proxy_have_limits_of_their_own(portal: PortalFactory, form: str) -> None:
    here = portal(TRUSTED_PROXIES="1", RATE_LIMIT_ADDRESS="1/hour")

    def status(address: str) -> int:
        headers = {"X-Forwarded-For": f"203.0.113.9, {form.format(address)}"}
        return here.get(f"/detran/v1/decode/{PLATE}", headers=headers).status_code

    assert [status("192.0.2.1"), status("192.0.2.1"), status("192.0.2.2")] == [200, 429, 200]


def test_unreadable_address_counts_as_the_proxys_and_is_logged_once(
    portal: PortalFactory, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal(TRUSTED_PROXIES="1", RATE_LIMIT_ADDRESS="1/hour")
    warn = RepeatedWarning(logging.getLogger("portal.tests"))
    monkeypatch.setattr("portal.web.http.client_address._warn", warn)
    found = [
        here.get(f"/detran/v1/decode/{PLATE}", headers={"X-Forwarded-For": sent}).status_code
        for sent in ("unknown", "_hidden", "127.0.0.1", "127.0.0.2")
    ]
    assert found == [200, 429, 429, 200]
    assert len([each for each in caplog.messages if "no IP address" in each]) == 1


def test_unknown_tokens_of_one_address_get_429_and_valid_ones_pass(portal: PortalFactory) -> None:
    here = portal(TRUSTED_PROXIES="1")

    def answer(path: str, token: str | None, client: str = "192.0.2.1") -> tuple[int, bool]:
        response = here.get(path, token=token, headers={"X-Forwarded-For": client})
        return response.status_code, "Retry-After" in response.headers

    paths = (f"/detran/v1/decode/{PLATE}", f"/api/v1/vehicles/{PLATE}")
    found = [answer(paths[number % 2], f"wrong-{number}") for number in range(34)]
    assert found == [(401, False)] * 30 + [(429, True)] * 4
    for path in paths:
        assert answer(path, PORTAL_TOKEN) == (200, False)
        assert answer(path, "wrong", "192.0.2.2") == (401, False)
        assert answer(path, None) == (401, False)  # no token, so no guess


@pytest.mark.parametrize("sent", ["unknown", "_hidden", "0x7f.1"])
def test_unknown_client_of_a_local_proxy_reads_no_metrics(tmp_path: Path, sent: str) -> None:
    settings = managed("http://127.0.0.1:1") | {"PORTAL_TRUSTED_PROXIES": "1"}
    with built(tmp_path, settings) as portal:
        found = portal.client.get("/metrics", headers={"X-Forwarded-For": sent})
        assert found.status_code == 403
        found = portal.client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
        assert found.status_code == 200
