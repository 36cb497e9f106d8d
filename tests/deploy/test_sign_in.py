"""The company's sign-in at nginx and Caddy, with the files of deploy/proxies; forged headers."""

import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.deploy.fronts import PROXIES, CaddyFront, Front, NginxFront, installed, replaced
from tests.fakes.in_process import PRICED, managed
from tests.fakes.processes import PortalProcess

pytestmark = pytest.mark.slow

SECRET = "secret-of-the-proxy-of-the-tests"
SETTINGS = managed("http://127.0.0.1:9") | {
    **PRICED,
    "PORTAL_TRUSTED_PROXIES": "1",
    "PORTAL_SIGN_IN_HEADER": "Remote-User",
    "PORTAL_SIGN_IN_SECRET": SECRET,
    "PORTAL_ROLES": "vendas=decode; chefia=admin,decode",
}
FORGED = {"Remote-User": "caio", "Remote-Groups": "chefia", "X-Sign-In-Secret": SECRET}


class SignInService(BaseHTTPRequestHandler):
    """Knows the person that the cookie ``sso`` names, with the groups behind the colon."""

    def do_GET(self) -> None:
        name, _, groups = self.headers.get("Cookie", "").removeprefix("sso=").partition(":")
        self.send_response(200 if name else 401)
        for header in ("Remote-User", "X-Auth-Request-Preferred-Username"):
            self.send_header(header, name)
        for header in ("Remote-Groups", "X-Auth-Request-Groups"):
            self.send_header(header, groups)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class NginxWithSignIn(NginxFront):
    service = ""

    def configure(self, ports: Sequence[int]) -> list[str]:
        command = super().configure(ports)
        site = self.directory / "site.conf"
        before, start, rest = site.read_text().partition("    location / {\n")
        assert start
        _, _, after = rest.partition("\n    }\n")
        secret = f'proxy_set_header X-Sign-In-Secret "{SECRET}";'
        (self.directory / "dossie-veicular-secret.conf").write_text(secret)
        sign_in = (PROXIES / "nginx-sign-in.conf").read_text("utf-8")
        changes = {"/etc/nginx/": f"{self.directory}/", "127.0.0.1:4180": self.service}
        included = self.directory / "dossie-veicular-sign-in.conf"
        included.write_text(replaced(sign_in, changes))
        site.write_text(f"{before}    include {included};\n{after}")
        return command


class CaddyWithSignIn(CaddyFront):
    service = ""

    def configure(self, ports: Sequence[int]) -> list[str]:
        command = super().configure(ports)
        config = self.directory / "Caddyfile"
        sign_in = (PROXIES / "Caddyfile-sign-in").read_text("utf-8")
        changes = {"\treverse_proxy {$PORTALS": f"{sign_in}\n\treverse_proxy {{$PORTALS"}
        config.write_text(replaced(config.read_text(), changes))
        self.env |= {"SIGN_IN": self.service, "SECRET": SECRET}
        return command


FRONTS: dict[str, type[NginxWithSignIn | CaddyWithSignIn]] = {
    "nginx": NginxWithSignIn,
    "caddy": CaddyWithSignIn,
}


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), SignInService) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


@pytest.fixture(scope="module", params=FRONTS)
def front(request: pytest.FixtureRequest, portal: PortalProcess, service: str) -> Iterator[Front]:
    installed(request.param)
    kind = FRONTS[request.param]
    kind.service = service
    with kind([portal.port]) as running:
        yield running


def test_person_of_the_service_sees_pages(front: Front) -> None:
    page = front.get("/conta", headers={"Cookie": "sso=ana:vendas"})
    assert page.status_code == 200
    assert "ana" in page.text
    boss = {"Cookie": "sso=caio:estoque,chefia"}
    assert front.get("/operacao/pessoas", headers=boss).status_code == 200


def test_person_without_a_role_is_turned_away(front: Front) -> None:
    page = front.get("/entrar", headers={"Cookie": "sso=bia:estoque"})
    assert "sua empresa reconhece você" in page.text


def test_headers_of_a_client_name_nobody(front: Front) -> None:
    known = front.get("/conta", headers={**FORGED, "Cookie": "sso=ana:vendas"})
    assert "caio" not in known.text
    admin = front.get("/operacao", headers={**FORGED, "Cookie": "sso=ana:vendas"})
    assert admin.status_code == 403
    spelled = {name.replace("-", "_"): text for name, text in FORGED.items()}
    for headers in (FORGED, spelled):
        assert front.get("/conta", headers=headers, allow_redirects=False).status_code in (303, 401)
        assert front.get("/api/v1/usage", headers=headers).status_code == 401


def test_open_pages_and_scripts_need_no_service(front: Front) -> None:
    assert front.get("/verificar").status_code == 200
    assert front.get("/healthz").status_code == 200
    assert front.get("/detran/v1/decode/ABC1D23").status_code == 401  # the portal's own


def test_port_behind_the_proxy_believes_no_header_without_the_secret(
    portal: PortalProcess,
) -> None:
    for secret in ("", "x", SECRET[:-1]):
        headers = {**FORGED, "X-Forwarded-For": "192.0.2.7", "X-Sign-In-Secret": secret}
        assert portal.get("/conta", headers=headers, allow_redirects=False).status_code == 303
    headers = {**FORGED, "X-Forwarded-For": ""}
    assert portal.get("/conta", headers=headers, allow_redirects=False).status_code == 303
