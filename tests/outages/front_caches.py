"""nginx and Varnish as caches in front of a portal, with aggressive configurations.

Each cache stores every response for any client, unless the portal's headers forbid it. A test is
skipped where its cache is not installed.
"""

import os
import shutil

import pytest

from tests.fakes.processes import ServerProcess

# proxy_cache_valid applies to responses without a lifetime. nginx serves stale copies in an outage
# and coalesces requests for the same address.
_NGINX = """
{user}
daemon off;
worker_processes 1;
error_log stderr warn;
pid {directory}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    proxy_cache_path {directory}/kept keys_zone=kept:1m;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{origin};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_cache kept;
            proxy_cache_valid any 10m;
            proxy_cache_use_stale error timeout updating http_500 http_502 http_503 http_504;
            proxy_cache_lock on;
            proxy_cache_lock_timeout 1s;
            {rule}
        }}
    }}
}}
"""

_VARNISH = """
vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{origin}"; }}
{rule}
"""

# Without this rule Varnish caches no response to a request with a cookie or a credential.
CACHE_FOR_ALL_CLIENTS = 'sub vcl_recv { if (req.method == "GET") { return (hash); } }'
# A misconfiguration that proves that the tests can detect a leak.
IGNORE_CACHE_HEADERS = "proxy_ignore_headers Cache-Control Expires Vary Set-Cookie;"


class NginxCache(ServerProcess):
    """nginx as a cache; ``rule`` is a directive in its ``location`` block."""

    def __init__(self, origin: int, rule: str = "") -> None:
        super().__init__([_binary("nginx")])
        config = self.directory / "nginx.conf"
        # As root, nginx would run its workers as a user without access to the directory.
        user = "user root root;" if os.geteuid() == 0 else ""
        where = {"directory": self.directory, "port": self.port, "origin": origin}
        config.write_text(_NGINX.format(user=user, rule=rule, **where))
        self.command += ["-p", str(self.directory), "-e", "stderr", "-c", str(config)]


class VarnishCache(ServerProcess):
    """Varnish as a cache; ``rule`` is VCL that runs before the built-in subroutine."""

    def __init__(self, origin: int, rule: str = "") -> None:
        super().__init__([_binary("varnishd"), "-F", "-a", "127.0.0.1:{port}"])
        config = self.directory / "portal.vcl"
        config.write_text(_VARNISH.format(origin=origin, rule=rule))
        self.command += ["-j", "none", "-T", "none", "-s", "default,16m", "-f", str(config)]
        self.command += ["-n", str(self.directory / "varnish")]


def _binary(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found
