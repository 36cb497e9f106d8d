"""Posts a message as Standard Webhooks says (https://www.standardwebhooks.com)."""

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from portal.system.public_hosts import HostRefused, checked_url, reachable
from portal.system.webhook_signature import signature

_TIMEOUT_S: Final = 15.0
_MOST_READ: Final = 1024


def payload(kind: str, created_at: float, data: Mapping[str, Any]) -> bytes:
    """Return the body of a message."""
    at = datetime.fromtimestamp(created_at, UTC).isoformat(timespec="milliseconds")
    return json.dumps({"type": kind, "timestamp": at, "data": data}, ensure_ascii=False).encode()


class WebhookSender:
    """Sends messages to the URLs that the operator and holders of tokens have set.

    ``hosts`` are the hosts that the operator names (WEBHOOK_HOSTS), or none. Redirects are not
    followed. ``context`` verifies the certificates.
    """

    def __init__(
        self,
        hosts: Collection[str],
        now: Callable[[], float],
        look_up: Callable[..., Sequence[Any]] = socket.getaddrinfo,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._hosts = frozenset(hosts)
        self._now = now
        self._look_up = look_up
        self._context = context

    def check(self, url: str) -> None:
        """Raise HostRefused if a URL can never be posted to."""
        checked_url(url, self._hosts)

    def send(self, url: str, secret: str, message_id: str, body: bytes) -> str:
        """Post a message. Return "", or the code of what went wrong (``phrasebook.deliveries``)."""
        try:
            host, port, path = checked_url(url, self._hosts)
            address = reachable(host, port, self._hosts, self._look_up)
            status = self._post(url, host, address, port, path, secret, message_id, body)
        except HostRefused as refused:
            return f"refused: {refused.reason}"
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
        return "" if 200 <= status < 300 else f"status {status}"

    def _post(
        self,
        url: str,
        host: str,
        address: str,
        port: int,
        path: str,
        secret: str,
        message_id: str,
        body: bytes,
    ) -> int:
        timestamp = int(self._now())
        headers = {
            "Host": host if port in (80, 443) else f"{host}:{port}",
            "Content-Type": "application/json",
            "User-Agent": "dossie-veicular",
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secret, message_id, timestamp, body),
        }
        connection = http.client.HTTPConnection(address, port, timeout=_TIMEOUT_S)
        try:
            connection.connect()
            if url.lower().startswith("https:"):
                context = self._context or ssl.create_default_context()
                connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            response.read(_MOST_READ)
            return response.status
        finally:
            connection.close()
