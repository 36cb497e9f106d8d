"""The edge: WSGI middleware that answers authorised JSON hits without Flask.

It works like WhiteNoise does for files. It calls the same functions as the Flask path for
authorisation, parsing, freshness and headers, so its responses differ from Flask's only in their
timing. It passes every other request to Flask unchanged: another method, a Cache-Control header,
any refusal, anything that is not a fresh 200.

An entry is valid for an identical request until its ``Age`` changes, which is at most 1 s, and
only while the process-local cache confirms the answer.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import msgspec

from portal.access import Gatekeeper
from portal.gateway import DECODE, RENAINF, RENAJUD, Gateway, Lookup, Operation, Served
from portal.web.http.headers import new_request_id, standing_headers
from portal.web.json_api.access_log_buffer import AccessLogBuffer, Hit, HitLabels
from portal.web.json_api.routes import Refusal, authorise, success_headers, vehicle_lookup

_ENTRY_BYTES: Final = 4096  # upper estimate of an entry with its headers, key and dict slot
_MAX_KEY_LENGTH: Final = 1024  # path, query and credential of a request that may be cached
_IDLE_S: Final = 60.0  # after which an unused entry is dropped, as its key contains a plate
_OPERATIONS: Final = {operation.path: operation for operation in (DECODE, RENAINF, RENAJUD)}
_COMMON_HEADERS: Final = {
    scheme: standing_headers(scheme == "https") for scheme in ("http", "https")
}

_EntryKey = tuple[str, str, str | None, str, str]  # path, query, Authorization, scheme, method


class _Entry(msgspec.Struct, frozen=True):
    """A prepared response head for one request; ``until`` is in monotonic seconds."""

    lookup: Lookup
    key: str
    credential: str | None
    until: float
    fetched_at: float
    headers: list[tuple[str, str]]
    labels: HitLabels


class Edge:
    """``memory_bytes`` limits the entries; the store limits the answers' memory."""

    def __init__(
        self,
        application: WSGIApplication,
        gateway: Gateway,
        gatekeeper: Gatekeeper,
        log: AccessLogBuffer,
        memory_bytes: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._gateway = gateway
        self._gatekeeper = gatekeeper
        self._log = log
        self._monotonic = monotonic
        self._max_entries = max(1, memory_bytes // _ENTRY_BYTES)
        self._entries: dict[_EntryKey, _Entry] = {}
        self._lock = threading.Lock()
        # A process's first request goes to Flask, which then starts the scheduler.
        self._is_warm = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._is_warm and _is_eligible(environ):
            try:
                body = self._hit(environ, start_response)
            except Exception:
                body = None  # fall through; Flask meets the same error and handles it
            if body is not None:
                # A list, because the server sends it in one piece. It iterates over anything
                # else, and acquires the GIL for each chunk.
                return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        self._is_warm = True
        self._log.write()
        return self._application(environ, start_response)

    def _hit(self, environ: WSGIEnvironment, start_response: StartResponse) -> bytes | None:
        """Start the response and return the body of a hit; None leaves it to Flask."""
        started = self._monotonic()
        entry_key = (
            environ["PATH_INFO"],
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_AUTHORIZATION"),
            environ["wsgi.url_scheme"],
            environ["REQUEST_METHOD"],
        )
        entry = self._entries.get(entry_key)
        body = None
        if entry is not None and started < entry.until:
            body = self._gateway.get_if_unchanged(entry.key, entry.fetched_at)
        if entry is None or body is None:
            try:
                entry, body = self._build_entry(entry_key, entry, started)
            except (_Bypass, Refusal):
                return None
        request_id = new_request_id()
        self._log.add(Hit(time.time(), self._monotonic() - started, request_id, entry.labels))
        start_response("200 OK", [*entry.headers, ("X-Request-Id", request_id)])
        return body

    def _build_entry(
        self, entry_key: _EntryKey, previous: _Entry | None, now: float
    ) -> tuple[_Entry, bytes]:
        """Build and cache the entry of a request, checked in the JSON paths' order.

        The order is 401, 403, 400, store. ``previous`` is the outdated entry of the same request,
        or None. Raises _Bypass or Refusal.
        """
        path, query, authorization, scheme, method = entry_key
        if (
            scheme not in _COMMON_HEADERS
            or len(path) + len(query) + len(authorization or "") > _MAX_KEY_LENGTH
        ):
            raise _Bypass
        operation, plate, uf = _parse_path(path)
        headers = () if authorization is None else (authorization,)
        identity = authorise(self._gatekeeper, operation, headers, query.encode("latin-1"))
        if previous is not None and previous.credential == identity.credential:
            lookup, key = previous.lookup, previous.key
        else:
            lookup = vehicle_lookup(operation, plate, uf)
            key = self._gateway.key(lookup, identity.credential)
        served = self._gateway.get_fresh(lookup, key)
        if served is None:
            raise _Bypass
        answer_headers = success_headers(served)
        rule = f"{operation.path}/<plate>" + ("/<uf>" if uf is not None else "")
        entry = _Entry(
            lookup=lookup,
            key=key,
            credential=identity.credential,
            until=now + _valid_for_s(served, time.time()),
            fetched_at=served.fetched_at,
            headers=[
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(served.body))),
                *answer_headers,
                *_COMMON_HEADERS[scheme],
            ],
            labels=HitLabels.of(operation.name, method, rule, dict(answer_headers)["Cache-Status"]),
        )
        with self._lock:
            self._entries.pop(entry_key, None)
            self._entries[entry_key] = entry
            while len(self._entries) > self._max_entries or self._oldest().until < now - _IDLE_S:
                del self._entries[next(iter(self._entries))]
        return entry, served.body

    def _oldest(self) -> _Entry:
        return next(iter(self._entries.values()))


class _Bypass(Exception):
    """The request must be handled by Flask."""


def _valid_for_s(served: Served, now: float) -> float:
    """Seconds until the answer's Age changes, at most 1; 0 in its last fresh second."""
    if served.ttl_s == 0:
        return 0.0
    return min(1.0, max(0.0, served.age_s + 1 - (now - served.fetched_at)))


def _is_eligible(environ: WSGIEnvironment) -> bool:
    """Whether it is a GET or HEAD without a body, Cache-Control or Upgrade."""
    return (
        environ["REQUEST_METHOD"] in ("GET", "HEAD")
        and "HTTP_CACHE_CONTROL" not in environ
        and environ.get("CONTENT_LENGTH", "") in ("", "0")
        and "HTTP_TRANSFER_ENCODING" not in environ
        and "HTTP_UPGRADE" not in environ
    )


def _parse_path(path: str) -> tuple[Operation, str, str | None]:
    """A path's operation, plate and UF, as spelt in the path; raises _Bypass."""
    base, _, last = path.rpartition("/")
    operation = _OPERATIONS.get(base)
    if operation is not None:
        return operation, last, None
    base, _, plate = base.rpartition("/")
    if base == RENAINF.path:
        return RENAINF, plate, last
    raise _Bypass
