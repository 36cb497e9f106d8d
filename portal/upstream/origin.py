"""Sends calls to one base address of the upstream, each within a deadline.

A ``requests`` adapter sends each call, without pooled connections or retries.
"""

import gzip
import io
import logging
import time
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict

from portal.system.error_kind import error_kind
from portal.system.sight import ClockSeen
from portal.upstream.errors import (
    ANSWERED,
    Broken,
    Failing,
    LocalFailure,
    TimedOut,
    Uncertain,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.http1 import LONGEST_BODY, Exchange
from portal.upstream.protocol import Account, Resource, Response
from portal.upstream.spares import Address, Spares

log = logging.getLogger(__name__)

# A response with one of these statuses is logged, because the operator may have to act.
_WARN_STATUSES = (401, 402, 403, 429)

# The content of a response is read only if the response has one of these statuses. A proxy or a web
# firewall sends pages with the same statuses, so the content must show that the upstream has
# answered. For other statuses the content does not matter, and a malformed content would raise an
# error that hides the status.
BODY_STATUSES: Final = (200, 400, 401, 403, 404, 407, 451)
_ACCEPTED: Final = 202
_PORTS: Final = {"http": 80, "https": 443}
_GZIP: Final = b"\x1f\x8b"
_MOST_LAYERS: Final = 3


class SingleUseAdapter(BaseAdapter):
    """Sends a request on a connection of ``spares``, which is closed after the response.

    The argument ``timeout`` of ``send`` has three numbers, in seconds. The first one limits name
    resolution, TCP and TLS together. The second one limits the wait for the complete head of the
    final response. The third one is the deadline of the whole exchange (monotonic seconds).
    ``send`` raises UpstreamError if it fails. The response has its decoded content, or none if its
    status is not in BODY_STATUSES. Redirects, cookies, proxies and .netrc are not supported.
    """

    def __init__(self, spares: Spares, address: Address) -> None:
        super().__init__()
        self._spares = spares
        self._address = address

    def send(  # type: ignore[override]  # further arguments have no effect
        self, request: requests.PreparedRequest, *, timeout: Any, **_: Any
    ) -> requests.Response:
        connect_s, first_byte_s, deadline = timeout
        now = time.monotonic()
        if now >= deadline:
            raise LocalFailure("no time left")
        until = min(now + connect_s, deadline)
        with self._spares.connection(self._address, until) as connection:
            exchange = Exchange(connection)
            until = min(time.monotonic() + first_byte_s, deadline)
            exchange.request(
                request.method or "GET",
                request.path_url,
                [("Host", urlsplit(request.url or "").netloc), *request.headers.items()],
                request.body if isinstance(request.body, bytes) else b"",
                until,
            )
            self._spares.open_next(self._address)
            head = exchange.response(until)
            content = b""
            if head.status_code in BODY_STATUSES:
                content = decoded(exchange.body(LONGEST_BODY, deadline))
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        response.status_code = head.status_code
        # HTTPHeaderDict joins repeated header fields into one value (RFC 9110 §5.3).
        fields = HTTPHeaderDict()
        for name, value in head.headers:
            fields.add(name.decode("latin-1"), value.decode("latin-1"))
        response.headers = CaseInsensitiveDict(fields)
        response.raw = io.BytesIO(content)
        return response

    def close(self) -> None:
        """Do nothing, because the adapter keeps no connection open."""


class Origin:
    """The upstream at one base address.

    ``connect_timeout_s`` limits DNS, connect and TLS together. ``first_byte_timeout_s`` limits the
    wait for the response headers. ``spares`` opens the connections. ``transport`` is another
    ``requests`` adapter. It must raise NotSent if it has sent nothing. Any other error means that
    the call may be charged, because a ConnectionError of ``requests`` may also be a reset after the
    request was sent. ``waiting`` returns a context manager, in which the origin sends a call and
    reads the response. The call's recorded duration includes the time that the context manager
    needs to exit.
    """

    def __init__(
        self,
        name: str,
        base_address: str,
        connect_timeout_s: float,
        first_byte_timeout_s: float,
        spares: Spares,
        transport: BaseAdapter | None = None,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.name = name
        # Parse the base address once, and not in every ``_prepare``, because parsing is slow.
        self._address = _normalized(base_address)
        self._timeout_s = (connect_timeout_s, first_byte_timeout_s)
        parts = urlsplit(self._address)
        self.host = Address(
            parts.hostname or "", parts.port or _PORTS[parts.scheme], parts.scheme == "https"
        )
        self._transport = transport or SingleUseAdapter(spares, self.host)
        self._waiting = waiting
        # The header Date of the last response, and when it came, in epoch seconds.
        self.dated: tuple[str, float] | None = None

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Record a call with ``account.begin``, and then send it. Raises UpstreamError."""
        attempt = account.begin(self.name)
        outcome, status = Uncertain.outcome, None
        try:
            response = self._exchange(resource, deadline)
            status = response.status
            response = _checked(resource, response)
            outcome = ANSWERED
            if status in _WARN_STATUSES:
                log.warning("%s: status %d", self.name, status)
            return response
        except UpstreamError as error:
            outcome = error.outcome
            log.warning("%s: %s", self.name, error)
            raise
        finally:
            attempt.finish(outcome, status)

    def clock_seen(self) -> ClockSeen | None:
        """Return how far this machine's clock is ahead of the last response's header Date."""
        if self.dated is None:
            return None
        sent, at = self.dated
        try:
            return ClockSeen(at, at - parsedate_to_datetime(sent).timestamp())
        except ValueError:
            return None

    def _exchange(self, resource: Resource, deadline: float) -> Response:
        request = self._prepare(resource)
        timeout: Any = (*self._timeout_s, deadline)
        try:
            with self._waiting(), self._transport.send(request, timeout=timeout) as reply:
                body = reply.content if reply.status_code in BODY_STATUSES else b""
                if sent := reply.headers.get("Date"):
                    self.dated = (sent, time.time())
        except requests.Timeout:
            raise TimedOut("no answer in time") from None
        except OSError as error:  # also the base class of every ``requests`` error
            raise Broken(f"closed before an answer: {error_kind(error)}") from None
        return Response(
            status=reply.status_code,
            body=body,
            origin=self.name,
            retry_after_s=_retry_after(reply.headers.get("Retry-After")),
        )

    def _prepare(self, resource: Resource) -> requests.PreparedRequest:
        headers = {
            # Send the credential here and not in the query, because servers log query strings.
            "Authorization": resource.credential,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Connection": "close",
            "User-Agent": "dossie-veicular",
        }
        if resource.body is not None:
            headers["Content-Type"] = "application/json"
        # Do not use Session.prepare_request, because it adds .netrc credentials and cookies.
        request = requests.PreparedRequest()
        request.method = resource.method
        request.url = self._address + resource.path
        request.prepare_headers(headers)
        request.prepare_body(resource.body, files=None)
        return request


def _normalized(base_address: str) -> str:
    """Return the address as the ``requests`` library encodes it, without a final slash."""
    request = requests.PreparedRequest()
    request.prepare_url(base_address, None)
    assert request.url is not None
    return request.url.rstrip("/")


def _checked(resource: Resource, response: Response) -> Response:
    status = response.status
    if status in BODY_STATUSES:
        return resource.check(response)
    if status >= 500:
        raise Failing(status)
    if status == _ACCEPTED:
        raise Unfit("the source still works on the answer", may_differ=True)
    if not 400 <= status < 500:
        raise Unusable(f"status {status} is no answer")
    return response


def _retry_after(text: str | None) -> float | None:
    """Convert a Retry-After header to seconds. Return None if it is absent or invalid."""
    if not text or not text.isascii():
        return None
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def decoded(body: bytes) -> bytes:
    """Return the body without layers of gzip and without a byte order mark. Raises Unusable.

    The body alone decides, and not the response's headers, because servers label plain JSON with
    content codings that do not exist, and compress a body twice. JSON never begins with the first
    bytes of a gzip member. A reader may ignore the mark, and a server must not send one (RFC 8259
    §8.1). The portal serves the decoded body, so it removes the mark.
    """
    for _ in range(_MOST_LAYERS):
        if not body.startswith(_GZIP):
            break
        body = _gunzip(body)
    return body.removeprefix(BOM_UTF8)


def _gunzip(body: bytes) -> bytes:
    """Decompress all members of a gzip body (RFC 1952 §2.2). Raises Unusable.

    Decompression stops after LONGEST_BODY bytes, so that a decompression bomb cannot fill the
    memory.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as members:
            plain = members.read(LONGEST_BODY + 1)
    except (OSError, EOFError, zlib.error):
        raise Unusable("bad gzip") from None
    if len(plain) > LONGEST_BODY:
        raise Unusable("body too large")
    return plain
