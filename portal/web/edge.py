"""The edge: authorised JSON hits answered before Flask wakes, as WhiteNoise answers files.

A thin WSGI layer in front of the application. It judges nothing by itself: who may ask, what is
asked, what is fresh and which headers leave are the same functions that the long way calls, so
nobody can tell the two apart except by time. Whatever it does not recognise exactly (another
method, a query beside ``at``, a Cache-Control, any refusal, anything that is not a fresh 200)
takes the long way untouched.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from portal.access import Gatekeeper
from portal.gateway import DECODE, RENAINF, RENAJUD, Gateway, Lookup, Operation
from portal.web.api import Refusal, admit, success_headers, vehicle_lookup
from portal.web.headers import new_request_id, standing_headers

QUESTION_BYTES: Final = 1024  # what a question, its key and its slot take, generously

_OPERATIONS: Final = {each.path: each for each in (DECODE, RENAINF, RENAJUD)}
_PREFIX: Final = "/detran/v1/"
_STANDING: Final = {scheme: standing_headers(scheme == "https") for scheme in ("http", "https")}


class Answered(Protocol):
    """Whoever counts and logs requests: told of each one that the edge has answered."""

    def __call__(
        self, environ: WSGIEnvironment, rule: str, request_id: str, seconds: float
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class _Question:
    """A path, read: what is asked, the store's key for it, the route's rule."""

    lookup: Lookup
    key: str
    rule: str


class Edge:
    """``memory_bytes`` bounds the questions it remembers; the answers are the store's to bound."""

    def __init__(
        self,
        application: WSGIApplication,
        gateway: Gateway,
        gatekeeper: Gatekeeper,
        memory_bytes: int,
        answered: Answered,
    ) -> None:
        self._application = application
        self._gateway = gateway
        self._gatekeeper = gatekeeper
        self._answered = answered
        self._most = max(1, memory_bytes // QUESTION_BYTES)
        self._questions: dict[tuple[str, str | None], _Question] = {}
        self._lock = threading.Lock()
        # A process's first request takes the long way: with it Flask starts what must run.
        self._awake = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._awake:
            try:
                body = self._hit(environ, start_response)
            except Exception:
                body = None  # the long way meets it again, and knows how to fail
            if body is not None:
                return body
        self._awake = True
        return self._application(environ, start_response)

    def _hit(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes] | None:
        """The response's body, sent on its way; None for whatever is the long way's."""
        path = environ["PATH_INFO"]
        if not path.startswith(_PREFIX) or not _is_plain(environ):
            return None
        started = monotonic()
        authorization = environ.get("HTTP_AUTHORIZATION")
        query = environ.get("QUERY_STRING", "")
        try:
            operation, plate, uf = _read(path)
            identity = admit(
                self._gatekeeper,
                operation,
                () if authorization is None else (authorization,),
                query.encode("latin-1"),
            )
            credential = identity.credential
            question = self._questions.get((path, credential))
            if question is None:
                question = self._remember(
                    (path, credential), vehicle_lookup(operation, plate, uf), uf is not None
                )
        except (_NotOurs, Refusal):
            return None
        served = self._gateway.at_hand(question.lookup, question.key)
        if served is None:
            return None
        size, request_id = len(served.body), new_request_id()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(size)),
            *success_headers(served),
            *_STANDING[environ["wsgi.url_scheme"]],
            ("X-Request-Id", request_id),
        ]
        self._answered(environ, question.rule, request_id, monotonic() - started)
        start_response("200 OK", headers)
        return () if environ["REQUEST_METHOD"] == "HEAD" else (served.body,)

    def _remember(
        self, name: tuple[str, str | None], lookup: Lookup, narrowed: bool
    ) -> "_Question":
        rule = f"{lookup.operation.path}/<plate>" + ("/<uf>" if narrowed else "")
        question = _Question(lookup, self._gateway.key(lookup, name[1]), rule)
        with self._lock:
            while len(self._questions) >= self._most:
                del self._questions[next(iter(self._questions))]
            self._questions[name] = question
        return question


class _NotOurs(Exception):
    """A path that the edge does not read."""


def _is_plain(environ: WSGIEnvironment) -> bool:
    """A GET or HEAD without a body, and without a word on how it is to be cached."""
    return (
        environ["REQUEST_METHOD"] in ("GET", "HEAD")
        and "HTTP_CACHE_CONTROL" not in environ
        and environ.get("CONTENT_LENGTH", "") in ("", "0")
        and "HTTP_TRANSFER_ENCODING" not in environ
        and environ["wsgi.url_scheme"] in _STANDING
    )


def _read(path: str) -> tuple[Operation, str, str | None]:
    """A path's operation, plate and uf as they are spelt; raises _NotOurs."""
    base, _, plate = path.rpartition("/")
    operation = _OPERATIONS.get(base)
    if operation is not None:
        return operation, plate, None
    base, _, plate, uf = *base.rpartition("/"), plate
    if base == RENAINF.path:
        return RENAINF, plate, uf
    raise _NotOurs
