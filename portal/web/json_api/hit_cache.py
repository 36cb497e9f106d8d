"""The hit cache: WSGI middleware that answers JSON requests from the store, without Flask.

For authorisation, parsing, freshness and headers, the hit cache calls the same functions as the
Flask routes. The responses of the hit cache therefore equal those of the routes.

The hit cache answers only valid GET and HEAD requests without a body or a Cache-Control header. It
passes all other requests to Flask. If the store has no fresh answer of status 200, or one that is
too large to keep compressed, the hit cache passes the request on with the checked identity and
lookup (CHECKED). Flask does not check them again.

An entry contains prepared response headers for all requests with the same _EntryKey. The entry is
valid for at most a second, because the header ``Age`` changes every second. Before each use of an
entry, ``Gateway.get_if_unchanged`` checks that the stored answer was not replaced or deleted.
"""

import threading
import time
from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import msgspec

from portal.access.tokens import Identity
from portal.gateway.gateway import Snapshot
from portal.gateway.lookup import Served
from portal.gateway.operations import LOOKUP_OPERATIONS, RENAINF, Operation
from portal.web.http.compression import MIN_BYTES, accepts_gzip, compressed
from portal.web.http.headers import standing_headers
from portal.web.http.rate_limits import rate_limit_headers
from portal.web.json_api.routes import (
    CHECKED,
    REFUSED_BY,
    authorise,
    success_headers,
    vehicle_lookup,
)
from portal.web.observability.request_log import Hit, HitLabels, new_request_id
from portal.web.web import Web

_ENTRY_BYTES: Final = 8192  # estimated maximum size of an entry, with its headers and key
# The largest body, in bytes, of which an entry has a compressed copy.
_MOST_COMPRESSED: Final = 64_000
# The largest total length of path, query and Authorization header. Flask answers longer requests.
_MAX_KEY_LENGTH: Final = 1024
# The keys of entries contain plates, which should not stay in memory for long. ``_add_entry``
# therefore removes entries that expired more than _IDLE_S seconds ago.
_IDLE_S: Final = 60.0
_OPERATIONS: Final = {operation.path: operation for operation in LOOKUP_OPERATIONS}
_SCHEMES: Final = ("http", "https")

# path, query, Authorization, scheme, method, whether the response is compressed
_EntryKey = tuple[str, str, str | None, str, str, bool]


class _Entry(msgspec.Struct, frozen=True):
    """Prepared response headers, valid until ``until`` on the monotonic clock.

    ``key`` and ``fetched_at`` identify the stored answer. ``gzipped`` is its compressed body, if
    the client accepts gzip and the body is long enough.
    """

    key: str
    until: float
    fetched_at: float
    headers: list[tuple[str, str]]
    gzipped: bytes | None
    labels: HitLabels
    limited: Identity | None  # the caller if the token has a daily limit, else None


class HitCache:
    """WSGI middleware that answers requests for which the store has a fresh answer.

    ``Web.hit_cache_bytes`` limits the memory for the entries, which contain the answers' bodies at
    most in compressed form.
    """

    def __init__(self, application: WSGIApplication, web: Web) -> None:
        self._application = application
        self._desks = web.desks
        self._gateway = web.gateway
        self._gatekeeper = web.gatekeeper
        self._log = web.access_log
        self._daily = web.daily
        self._cors = web.cors
        self._common_headers = {
            scheme: standing_headers(scheme == "https", web.cors is not None) for scheme in _SCHEMES
        }
        self._monotonic = time.monotonic
        self._max_entries = max(1, web.settings.hit_cache_bytes // _ENTRY_BYTES)
        self._entries: dict[_EntryKey, _Entry] = {}
        self._lock = threading.Lock()
        # The first request of a process goes to Flask, which starts the scheduler if the server has
        # not started it.
        self._is_warm = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._is_warm and _is_eligible(environ):
            try:
                body = self._hit(environ, start_response)
            except Exception:
                body = None  # Flask handles the request, and logs the error if it occurs again
            if body is not None:
                # The server sends a list in one piece. For any other iterable, the server would
                # acquire the GIL for each chunk.
                return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        self._is_warm = True
        self._log.write()
        return self._application(environ, start_response)

    def _hit(self, environ: WSGIEnvironment, start_response: StartResponse) -> bytes | None:
        """Start the response and return its body, or return None if Flask must answer."""
        started = self._monotonic()
        entry_key = (
            environ["PATH_INFO"],
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_AUTHORIZATION"),
            environ["wsgi.url_scheme"],
            environ["REQUEST_METHOD"],
            "HTTP_COOKIE" not in environ and accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")),
        )
        entry = self._entries.get(entry_key)
        body = None
        if entry is not None and started < entry.until:
            body = self._gateway.get_if_unchanged(entry.key, entry.fetched_at)
        if entry is None or body is None:
            checked = self._check(entry_key)
            if checked is None:
                return None
            served = self._gateway.get_fresh(checked)
            is_large = entry_key[-1] and served and len(served.body) > _MOST_COMPRESSED
            if served is None or served.status != 200 or is_large:
                environ[CHECKED] = checked
                return None
            # At most once a second for each caller and vehicle, so a hit does no more work.
            self._desks.note_lookup(checked.caller, checked.lookup, served)
            entry, body = self._add_entry(entry_key, checked, served, started), served.body
        request_id = new_request_id()
        self._log.add(Hit(time.time(), self._monotonic() - started, request_id, entry.labels))
        headers = [*entry.headers, ("X-Request-Id", request_id)]
        if self._cors is not None:
            headers += self._cors.headers(environ.get("HTTP_ORIGIN"))
        if entry.limited is not None and (calls := self._daily.recent(entry.limited)) is not None:
            headers += rate_limit_headers([calls])
        start_response("200 OK", headers)
        return entry.gzipped or body

    def _check(self, entry_key: _EntryKey) -> Snapshot | None:
        """Authorise and parse a request, or return None if Flask must answer.

        Flask must answer a request that is refused, too long, or not for a path of the hit cache.
        """
        path, query, authorization, scheme, *_ = entry_key
        parts = _parse_path(path)
        if (
            parts is None
            or scheme not in _SCHEMES
            or len(path) + len(query) + len(authorization or "") > _MAX_KEY_LENGTH
        ):
            return None
        headers = () if authorization is None else (authorization,)
        try:
            identity = authorise(self._gatekeeper, parts[0], headers, query.encode("latin-1"))
            lookup = vehicle_lookup(*parts)
        except REFUSED_BY:
            return None
        return self._gateway.read(lookup, identity)

    def _add_entry(
        self, entry_key: _EntryKey, checked: Snapshot, served: Served, now: float
    ) -> _Entry:
        _, _, _, scheme, method, accepts = entry_key
        lookup, gzipped = checked.lookup, None
        if accepts and len(served.body) >= MIN_BYTES:
            former = self._entries.get(entry_key)
            if former and (former.key, former.fetched_at) == (checked.key, served.fetched_at):
                gzipped = former.gzipped
            gzipped = gzipped or compressed(served.body)
        sent = gzipped or served.body
        age, cache_status = success_headers(served)
        name, caller = lookup.operation.name, checked.caller
        rule = f"{lookup.operation.path}/<plate>" + ("/<uf>" if lookup.uf is not None else "")
        entry = _Entry(
            key=checked.key,
            until=now + _valid_for_s(served, time.time()),
            fetched_at=served.fetched_at,
            headers=[
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(sent))),
                *([("Content-Encoding", "gzip")] if gzipped else ()),
                age,
                cache_status,
                *self._common_headers[scheme],
            ],
            gzipped=gzipped,
            labels=HitLabels.of(name, method, rule, caller.name, cache_status[1]),
            limited=caller if caller.least_daily_limit else None,
        )
        with self._lock:
            self._entries.pop(entry_key, None)
            self._entries[entry_key] = entry
            while len(self._entries) > self._max_entries or self._oldest().until < now - _IDLE_S:
                del self._entries[next(iter(self._entries))]
        return entry

    def _oldest(self) -> _Entry:
        return next(iter(self._entries.values()))


def _valid_for_s(served: Served, now: float) -> float:
    """Return for how many seconds an entry is valid.

    The result is the time until the header Age changes, at most 1 s. If the answer stays fresh for
    less than a second, the result is 0.
    """
    if served.ttl_s == 0:
        return 0.0
    return min(1.0, max(0.0, served.age_s + 1 - (now - served.fetched_at)))


def _is_eligible(environ: WSGIEnvironment) -> bool:
    return (
        environ["REQUEST_METHOD"] in ("GET", "HEAD")
        and "HTTP_CACHE_CONTROL" not in environ
        and environ.get("CONTENT_LENGTH", "") in ("", "0")
        and "HTTP_TRANSFER_ENCODING" not in environ
        and "HTTP_UPGRADE" not in environ
    )


def _parse_path(path: str) -> tuple[Operation, str, str | None] | None:
    """Return the operation, plate and UF in a path.

    Plate and UF are unchecked. Returns None for a path that the hit cache does not handle.
    """
    base, _, last = path.rpartition("/")
    operation = _OPERATIONS.get(base)
    if operation is not None:
        return operation, last, None
    base, _, plate = base.rpartition("/")
    if base == RENAINF.path:
        return RENAINF, plate, last
    return None
