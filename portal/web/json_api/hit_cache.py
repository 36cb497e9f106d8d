"""The edge: authorised JSON hits answered before Flask wakes, as WhiteNoise answers files.

A thin WSGI layer in front of the application. It judges nothing by itself: who may ask, what is
asked, what is fresh and which headers leave are the functions that the long way calls, so nobody
can tell the two apart except by time. Whatever it does not recognise exactly (another method, a
Cache-Control, any refusal, anything that is not a fresh 200) takes the long way untouched.

What was judged holds for the same request until its ``Age`` changes, a second at most, and only
while the process memory vouches for the answer.
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

_KEPT_BYTES: Final = 4096  # what a judgement takes with its headers, key and slot, generously
_LONGEST: Final = 1024  # a request's spelling, of which it is remembered
_REMEMBERED_S: Final = 60.0  # a request that nobody repeats: its spelling holds a plate
_OPERATIONS: Final = {each.path: each for each in (DECODE, RENAINF, RENAJUD)}
_STANDING: Final = {scheme: standing_headers(scheme == "https") for scheme in ("http", "https")}

_Name = tuple[str, str, str | None, str, str]  # path, query, Authorization, scheme, method


class _Judged(msgspec.Struct, frozen=True):
    """A request that may be answered, and how, until ``until`` in monotonic seconds."""

    lookup: Lookup
    key: str
    credential: str | None
    until: float
    fetched_at: float
    headers: list[tuple[str, str]]
    kind: HitLabels


class Edge:
    """``memory_bytes`` bounds what it remembers itself; the answers are the store's to bound."""

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
        self._most = max(1, memory_bytes // _KEPT_BYTES)
        self._judged: dict[_Name, _Judged] = {}
        self._change = threading.Lock()
        # A process's first request takes the long way: with it Flask starts what must run.
        self._awake = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._awake and _is_plain(environ):
            try:
                body = self._hit(environ, start_response)
            except Exception:
                body = None  # the long way meets it again, and knows how to fail
            if body is not None:
                # A list: the server sends it in one piece, and asks anything else for one chunk
                # after another, each time for the interpreter's lock.
                return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        self._awake = True
        self._log.write()
        return self._application(environ, start_response)

    def _hit(self, environ: WSGIEnvironment, start_response: StartResponse) -> bytes | None:
        """A hit's body, its headers sent; None for whatever is the long way's."""
        started = self._monotonic()
        name = (
            environ["PATH_INFO"],
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_AUTHORIZATION"),
            environ["wsgi.url_scheme"],
            environ["REQUEST_METHOD"],
        )
        judged = self._judged.get(name)
        body = None
        if judged is not None and started < judged.until:
            body = self._gateway.get_if_unchanged(judged.key, judged.fetched_at)
        if judged is None or body is None:
            try:
                judged, body = self._judge(name, judged, started)
            except (_NotOurs, Refusal):
                return None
        request_id = new_request_id()
        self._log.note(Hit(time.time(), self._monotonic() - started, request_id, judged.kind))
        start_response("200 OK", [*judged.headers, ("X-Request-Id", request_id)])
        return body

    def _judge(self, name: _Name, last: _Judged | None, now: float) -> tuple[_Judged, bytes]:
        """The order of judgement of the JSON paths: 401, 403, 400, store. Raises _NotOurs, Refusal;
        ``last`` is what was judged of the same request before."""
        path, query, authorization, scheme, method = name
        if scheme not in _STANDING or len(path) + len(query) + len(authorization or "") > _LONGEST:
            raise _NotOurs
        operation, plate, uf = _read(path)
        headers = () if authorization is None else (authorization,)
        identity = authorise(self._gatekeeper, operation, headers, query.encode("latin-1"))
        if last is not None and last.credential == identity.credential:
            lookup, key = last.lookup, last.key
        else:
            lookup = vehicle_lookup(operation, plate, uf)
            key = self._gateway.key(lookup, identity.credential)
        served = self._gateway.get_fresh(lookup, key)
        if served is None:
            raise _NotOurs
        told = success_headers(served)
        rule = f"{operation.path}/<plate>" + ("/<uf>" if uf is not None else "")
        judged = _Judged(
            lookup=lookup,
            key=key,
            credential=identity.credential,
            until=now + _holds_for(served, time.time()),
            fetched_at=served.fetched_at,
            headers=[
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(served.body))),
                *told,
                *_STANDING[scheme],
            ],
            kind=HitLabels.of(operation.name, method, rule, dict(told)["Cache-Status"]),
        )
        with self._change:
            self._judged.pop(name, None)
            self._judged[name] = judged
            while len(self._judged) > self._most or self._oldest().until < now - _REMEMBERED_S:
                del self._judged[next(iter(self._judged))]
        return judged, served.body

    def _oldest(self) -> _Judged:
        return next(iter(self._judged.values()))


class _NotOurs(Exception):
    """A request that the edge leaves to the long way."""


def _holds_for(served: Served, now: float) -> float:
    """Seconds until the answer's Age changes; 0 in the last second of its freshness."""
    if served.ttl_s == 0:
        return 0.0
    return min(1.0, max(0.0, served.age_s + 1 - (now - served.fetched_at)))


def _is_plain(environ: WSGIEnvironment) -> bool:
    """A GET or HEAD without a body, and without a word on how it is to be cached."""
    return (
        environ["REQUEST_METHOD"] in ("GET", "HEAD")
        and "HTTP_CACHE_CONTROL" not in environ
        and environ.get("CONTENT_LENGTH", "") in ("", "0")
        and "HTTP_TRANSFER_ENCODING" not in environ
        and "HTTP_UPGRADE" not in environ
    )


def _read(path: str) -> tuple[Operation, str, str | None]:
    """A path's operation, plate and uf as they are spelt; raises _NotOurs."""
    base, _, last = path.rpartition("/")
    operation = _OPERATIONS.get(base)
    if operation is not None:
        return operation, last, None
    base, _, plate = base.rpartition("/")
    if base == RENAINF.path:
        return RENAINF, plate, last
    raise _NotOurs
