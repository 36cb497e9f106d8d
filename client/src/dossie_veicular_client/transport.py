"""Sends one request to the portal, and repeats it only where nothing can have been paid twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from http.cookiejar import DefaultCookiePolicy
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import requests
from requests.auth import AuthBase
from urllib3.exceptions import NewConnectionError

from dossie_veicular_client.errors import Busy, InvalidRequest, PortalError, Unreachable, error_of
from dossie_veicular_client.shape import shaped

VERSION: Final = "0.1.0"
# The portal answers within its DEADLINE, 15 s unless its operator changes it.
TIMEOUT_S: Final = 40.0
_CONNECT_TIMEOUT_S: Final = 5.0
_TRIES: Final = 4
_FIRST_PAUSE_S: Final = 0.5
# A server may close a connection that is idle. Then nobody can tell whether it got the request.
_IDLE_S: Final = 4.0
# Codes of a portal that has asked nothing. Other errors may have cost a lookup.
_NOTHING_ASKED: Final = frozenset(
    {
        *("too_many_requests", "upstream_unreachable", "ledger_unavailable", "portal_unavailable"),
        "busy",
    }
)


class _Token(AuthBase):
    """Sends the token alone. As the session's auth, it keeps requests from reading a .netrc."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._token
        return request


class Transport:
    """Sends requests with a token. May be used by several threads.

    ``patience_s`` is the longest time to wait for a request that may be repeated.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = _parts(url)
        self.is_exposed: Final = parts.scheme == "http" and not _is_local(parts.hostname or "")
        if not token.isascii() or not token.isprintable() or not token.strip():
            raise InvalidRequest("o token tem só letras, números e sinais ASCII")
        self.url: Final = url.rstrip("/")
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._sleep = sleep
        self._last_used = time.monotonic()
        self._session = requests.Session()
        self._session.auth = _Token(token.strip())
        self._session.headers["User-Agent"] = f"dossie-veicular-client/{VERSION}"
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def send(
        self,
        method: str,
        path: str,
        *,
        is_free: bool,
        json: object = None,
        data: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> requests.Response:
        """Return the answer of a request that succeeds. Raises PortalError.

        ``is_free`` says that the request can be repeated: it costs nothing, or only once.
        """
        pause_s, patience_s = _FIRST_PAUSE_S, self._patience_s
        for left in reversed(range(_TRIES)):
            try:
                return self._once(method, path, json, data, params, headers, timeout_s)
            except Unreachable as error:
                failure: PortalError = error
                may_repeat, wait_s = is_free or not error.may_be_paid, pause_s
            except PortalError as error:
                failure = error
                may_repeat = isinstance(error, Busy) and (
                    error.status == 429 or error.code in _NOTHING_ASKED
                )
                wait_s = pause_s if error.retry_after_s is None else error.retry_after_s
            if not may_repeat or not left or wait_s > patience_s:
                raise failure
            self._sleep(wait_s)
            patience_s -= wait_s
            pause_s *= 2
        raise AssertionError("the last try returns or raises")

    def _once(
        self,
        method: str,
        path: str,
        json: object,
        data: bytes | None,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        timeout_s: float | None,
    ) -> requests.Response:
        now = time.monotonic()
        if now - self._last_used > _IDLE_S:
            self._session.close()  # the next request opens a connection
        self._last_used = now
        try:
            response = self._session.request(
                method,
                self.url + path,
                params=params,
                json=json,
                data=data,
                headers=headers,
                timeout=(_CONNECT_TIMEOUT_S, timeout_s or self._timeout_s),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise Unreachable(
                f"o portal em {self.url} não respondeu ({type(error).__name__})",
                may_be_paid=not _is_unsent(error),
            ) from None
        self._last_used = time.monotonic()
        if response.ok and not response.is_redirect:
            return response
        raise error_of(response.status_code, _json(response), response.headers)

    def read(self, method: str, path: str, kind: Any, **options: Any) -> Any:
        """Return the JSON of a request that succeeds, as a type of ``answers``."""
        return shaped(_json(self.send(method, path, **options)), kind)


def _is_unsent(error: requests.RequestException) -> bool:
    """Say whether no connection was made, so that the portal has got nothing."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause: Any = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", None), NewConnectionError)


def _json(response: requests.Response) -> object:
    """Return the JSON of a response. None, if it is none, has no type of ``answers``."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _parts(url: str) -> SplitResult:
    """Return the parts of a portal's address, which no message repeats: it may hold a password."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or parts.query or parts.fragment:
        raise InvalidRequest("o endereço do portal se escreve como https://portal.exemplo.com.br")
    if "@" in parts.netloc:
        raise InvalidRequest(
            "o endereço do portal vai sem usuário nem senha: o acesso é o token, em DOSSIE_TOKEN"
        )
    return parts


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
