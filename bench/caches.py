"""The HTTP cache peers: nginx's proxy_cache and Varnish, configured as for production.

Both check one token, store 8 kB responses for a day and log a line for each request, as the portal
does. Neither has scopes, revocations, a ledger or a purge by vehicle.
"""

from pathlib import Path

from bench.debian import Peer
from bench.programs import OPERATOR_TOKEN, PORTAL_TOKEN, Program, Stage, free_port

_NGINX = """
daemon off; worker_processes 2; pid {home}/nginx.pid; error_log {home}/error.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log {home}/access.log; keepalive_requests 1000000;
  client_body_temp_path {home}/t1; proxy_temp_path {home}/t2; fastcgi_temp_path {home}/t3;
  uwsgi_temp_path {home}/t4; scgi_temp_path {home}/t5;
  proxy_cache_path {home}/cache levels=1:2 keys_zone=c:64m max_size=1g inactive=1d;
  map $http_authorization $known {{ default 0; "{token}" 1; }}
  upstream api {{ server {upstream}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      if ($known = 0) {{ return 401; }}
      proxy_ssl_protocols TLSv1.3;
      proxy_pass {scheme}://api; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Authorization {operator};
      proxy_cache c; proxy_cache_key $uri; proxy_cache_valid 200 1d; proxy_cache_lock on;
      proxy_ignore_headers Cache-Control Expires;
    }}
  }}
}}
"""

_VARNISH = """
vcl 4.1;
backend api {{ .host = "127.0.0.1"; .port = "{upstream}"; }}
sub vcl_recv {{
  if (req.http.Authorization != "{token}") {{ return (synth(401)); }}
  unset req.http.Authorization;
  return (hash);
}}
sub vcl_backend_fetch {{ set bereq.http.Authorization = "{operator}"; }}
sub vcl_backend_response {{ set beresp.ttl = 1d; }}
"""


def _tokens() -> dict[str, str]:
    return {"token": PORTAL_TOKEN, "operator": OPERATOR_TOKEN}


def nginx(
    stage: Stage, peer: Peer, upstream_port: int, scheme: str = "http", host: str = "127.0.0.1"
) -> Program:
    home, port = stage.folder("nginx"), free_port()
    config = home / "nginx.conf"
    addresses = {"port": port, "upstream": f"{host}:{upstream_port}", "scheme": scheme}
    config.write_text(_NGINX.format(home=home, **addresses, **_tokens()))
    # By default, nginx's workers run as another user, without write access to the directory.
    command = [peer.path, "-p", str(home), "-c", str(config), "-g", "user root;"]
    return stage.run("nginx", command, peer.env, port)


def varnish(stage: Stage, peer: Peer, upstream_port: int) -> Program:
    home = stage.folder("varnish")
    vcl = home / "default.vcl"
    vcl.write_text(_VARNISH.format(upstream=upstream_port, **_tokens()))
    command = [
        *(peer.path, "-F", "-a", "127.0.0.1:{port}", "-T", "none", "-f", str(vcl)),
        *("-n", str(home / "work"), "-s", "malloc,256m", "-j", "none"),
    ]
    server = stage.run("varnish", command, peer.env)
    log_requests(stage, peer, home / "work")
    return server


def log_requests(stage: Stage, peer: Peer, work: Path) -> None:
    """Start varnishncsa, because Varnish logs requests through a separate program."""
    logger = Path(peer.path).parent.parent / "bin" / "varnishncsa"
    if logger.exists():
        command = [str(logger), "-n", str(work), "-w", str(work.parent / "access.log")]
        stage.run_beside("varnishncsa", command, peer.env)
