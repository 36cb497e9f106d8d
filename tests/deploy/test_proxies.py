"""The proxies of deploy/proxies in front of portals: headers, failover, paths, time-outs."""

import re
import subprocess
from collections.abc import Iterator

import pytest

from portal.factory import SPARE_S
from portal.settings import Settings
from tests.deploy.fronts import CaddyFront, Front, NginxFront, installed, read
from tests.fakes.ports import free_port, wait_until
from tests.fakes.processes import PortalProcess

pytestmark = pytest.mark.long

PLATE = "ABC1D23"
HSTS = "Strict-Transport-Security"
BEHIND_ONE = {"PORTAL_TRUSTED_PROXIES": "1"}
FRONTS = {"nginx": NginxFront, "caddy": CaddyFront}


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(BEHIND_ONE, workers=1) as running:
        yield running


@pytest.fixture(scope="module", params=FRONTS)
def front(request: pytest.FixtureRequest, portal: PortalProcess) -> Iterator[Front]:
    installed(request.param)
    with FRONTS[request.param]([portal.port]) as running:
        yield running


@pytest.mark.slow
@pytest.mark.long
def test_configurations_pass_their_own_checks() -> None:
    """Only Caddy needs this test: nginx refuses to start with an invalid file."""
    command = [installed("caddy"), "validate", "--adapter", "caddyfile", "--config"]
    done = subprocess.run(
        [*command, "deploy/proxies/Caddyfile"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Valid configuration" in done.stdout + done.stderr
    assert '"level":"warn"' not in done.stderr


@pytest.mark.slow
def test_nginx_accepts_its_configuration() -> None:
    front = NginxFront([free_port()])
    try:
        done = subprocess.run([*front.command, "-t"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "[warn]" not in done.stderr
    finally:
        front.close()


@pytest.mark.slow
def test_pages_behind_tls_are_marked_secure(front: Front) -> None:
    page = front.get("/entrar")
    assert page.status_code == 200
    assert HSTS in page.headers
    assert "Secure" in page.headers["Set-Cookie"]


@pytest.mark.slow
def test_underscore_overrides_what_a_proxy_sends(portal: PortalProcess) -> None:
    """A client's X_Forwarded_Proto overrides the proxy's header, so proxies drop it."""
    sent = {"X-Forwarded-Proto": "https"}
    assert HSTS in portal.get("/entrar", headers=sent).headers
    assert HSTS not in portal.get("/entrar", headers={**sent, "X_Forwarded_Proto": "http"}).headers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["X-Forwarded-Proto", "X_Forwarded_Proto", "X-Forwarded_Proto"])
def test_forwarded_headers_of_clients_are_dropped(front: Front, name: str) -> None:
    assert HSTS in front.get("/entrar", headers={name: "http"}).headers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["X-Forwarded-For", "X_Forwarded_For"])
def test_metrics_are_closed(front: Front, name: str) -> None:
    assert front.get("/metrics", headers={name: "127.0.0.1"}).status_code == 404


@pytest.mark.slow
def test_body_that_is_too_large_is_refused_by_the_portal(front: Front) -> None:
    response = front.post(
        "/detran/v1/analytical-reports",
        data=b" " * 300_000,
        headers={"Authorization": "demo", "Content-Type": "application/json"},
    )
    assert response.status_code == 413
    assert list(response.json()) == ["message"]


@pytest.mark.slow
def test_search_by_a_person_works(front: Front) -> None:
    found = front.get(f"/buscar?q={PLATE}")
    assert (found.status_code, found.headers["Location"]) == (303, f"/placa/{PLATE}")
    assert front.get(found.headers["Location"]).status_code == 200


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_killed_portal_costs_no_request(name: str) -> None:
    installed(name)
    with (
        PortalProcess(BEHIND_ONE, workers=1) as first,
        PortalProcess(BEHIND_ONE, workers=1) as second,
        FRONTS[name]([first.port, second.port]) as front,
    ):
        first.kill()
        statuses = [front.get("/entrar").status_code for _ in range(20)]
        assert statuses == [200] * 20
        assert second.is_running


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_outage_logs_no_plate(name: str) -> None:
    installed(name)
    with PortalProcess(BEHIND_ONE, workers=1) as portal, FRONTS[name]([portal.port]) as front:
        portal.kill()
        wait_until(lambda: not portal.answers(), "the end of its worker")
        status = front.get(f"/placa/{PLATE}", headers={"Authorization": "a-token"}).status_code
        assert status in (502, 503)
        front.stop()
        assert PLATE not in front.output
        assert "a-token" not in front.output


@pytest.mark.parametrize(
    ("file", "directive"),
    [
        ("deploy/proxies/nginx-portal.conf", r"proxy_read_timeout (\d+)s;"),
        ("deploy/proxies/Caddyfile", r"response_header_timeout (\d+)s"),
    ],
)
def test_proxies_wait_longer_than_a_portal_takes(file: str, directive: str) -> None:
    found = re.search(directive, read(file))
    assert found
    assert int(found[1]) > Settings().deadline + SPARE_S
