"""nginx and Caddy with the configurations of deploy/proxies, in front of portals on loopback.

Only addresses, certificates and file paths are replaced. A test is skipped where its proxy is not
installed.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import pytest
import requests
import trustme

from tests.fakes.ports import free_port
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import HttpProcess

PROXIES = CHECKOUT / "deploy/proxies"

_NGINX = """
{user}
daemon off;
worker_processes 1;
error_log stderr crit;
pid {directory}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    include {directory}/site.conf;
}}
"""


class Front(HttpProcess, ABC):
    """A proxy with TLS for localhost, in front of the portals at ``ports``."""

    def __init__(self, ports: Sequence[int]) -> None:
        super().__init__([])
        self.authority = self.directory / "authority.pem"
        self.command = self.configure(ports)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @abstractmethod
    def configure(self, ports: Sequence[int]) -> list[str]:
        """Write the configuration; return the command that serves it."""

    def answers(self) -> bool:
        try:
            return self.get("/healthz", timeout=2).status_code == 200
        except (requests.RequestException, OSError):  # Caddy may not have made its CA yet
            return False

    def get(self, path: str, **options: object) -> requests.Response:
        return super().get(path, **{"verify": str(self.authority), **options})

    def post(self, path: str, **options: object) -> requests.Response:
        return super().post(path, **{"verify": str(self.authority), **options})


class NginxFront(Front):
    def configure(self, ports: Sequence[int]) -> list[str]:
        program = installed("nginx")
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        certificate = authority.issue_cert("localhost")
        certificate.private_key_pem.write_to_path(str(self.directory / "privkey.pem"))
        certificate.cert_chain_pems[0].write_to_path(str(self.directory / "fullchain.pem"))
        servers = "\n".join(f"server 127.0.0.1:{port} max_fails=0;" for port in ports)
        site = replaced(
            (PROXIES / "nginx.conf").read_text("utf-8"),
            {
                "server 127.0.0.1:8000 max_fails=0;": servers,
                "listen 80;": f"listen 127.0.0.1:{free_port()};",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
                "server_name portal.example;": "server_name localhost;",
                "/etc/ssl/portal.example": str(self.directory),
                "/var/log/nginx/error.log": "stderr",
                "/etc/nginx/": f"{self.directory}/",
            },
        )
        (self.directory / "site.conf").write_text(site)
        portal = (PROXIES / "nginx-portal.conf").read_text("utf-8")
        (self.directory / "dossie-veicular-portal.conf").write_text(portal)
        config = self.directory / "nginx.conf"
        # As root, nginx would run its workers as a user without access to the directory.
        user = "user root root;" if os.geteuid() == 0 else ""
        config.write_text(_NGINX.format(user=user, directory=self.directory))
        return [program, "-p", str(self.directory), "-e", "stderr", "-c", str(config)]


class CaddyFront(Front):
    def configure(self, ports: Sequence[int]) -> list[str]:
        program = installed("caddy")
        # Global options for the tests: no port 80, no new trusted CA on this machine.
        options = "{\n\tauto_https disable_redirects\n\tskip_install_trust\n\tadmin off\n"
        text = (PROXIES / "Caddyfile").read_text("utf-8")
        config = self.directory / "Caddyfile"
        config.write_text(replaced(text, {"\n{\n\tservers": f"\n{options}\tservers"}))
        self.env |= {
            "SITE": self.url,
            "PORTALS": " ".join(f"127.0.0.1:{port}" for port in ports),
            "HOME": str(self.directory),
            "XDG_DATA_HOME": str(self.directory),
            "XDG_CONFIG_HOME": str(self.directory),
        }
        self.authority = self.directory / "caddy/pki/authorities/local/root.crt"
        return [program, "run", "--config", str(config), "--adapter", "caddyfile"]


def installed(program: str) -> str:
    """Return a program's path. Distributions keep nginx outside a user's PATH."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def replaced(text: str, changes: dict[str, str]) -> str:
    """Return the text with all changes; fail the test if a text to change is missing."""
    for former, new in changes.items():
        assert former in text, former
        text = text.replace(former, new)
    return text


def read(path: str) -> str:
    return Path(CHECKOUT, path).read_text("utf-8")
