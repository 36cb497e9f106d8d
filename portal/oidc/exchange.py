"""HTTP requests to the provider, with limits of time and size, and without redirects."""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

import urllib3

from portal.access.people import ProviderAway
from portal.upstream.trust import trusted

DEADLINE_S: Final = 10.0
MOST_BYTES: Final = 512 * 1024
_TIMEOUT: Final = urllib3.Timeout(connect=3.0, read=5.0)


class Exchange:
    """Sends requests to the provider, and reads JSON objects."""

    def __init__(self) -> None:
        # Made at the first request, and so after the server's fork.
        self._pool: urllib3.PoolManager | None = None

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        return self._send("GET", url, headers or {}, None)

    def post(self, url: str, form: str, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send("POST", url, {**kind, **headers}, form)

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None
    ) -> tuple[int, dict[str, Any]]:
        """Return status and object of an answer, {} for a body that is none.

        Raises ProviderAway if there is no answer in time, or the provider fails.
        """
        if self._pool is None:
            self._pool = urllib3.PoolManager(ssl_context=trusted(), maxsize=4)
        deadline = time.monotonic() + DEADLINE_S
        try:
            answer = self._pool.request(
                method,
                url,
                body=body,
                headers={"Accept": "application/json", **headers},
                redirect=False,
                retries=False,
                timeout=_TIMEOUT,
                preload_content=False,
            )
            try:
                content = b""
                while part := answer.read1(65536):
                    content += part
                    if len(content) > MOST_BYTES or time.monotonic() > deadline:
                        answer.close()
                        raise ProviderAway
            finally:
                answer.release_conn()
        except (urllib3.exceptions.HTTPError, OSError):
            raise ProviderAway from None
        if answer.status >= 500 or answer.status == 429:
            raise ProviderAway
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = {}
        return answer.status, found if isinstance(found, dict) else {}
