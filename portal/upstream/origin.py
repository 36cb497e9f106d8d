"""Sends calls to one base address of the upstream, each within a deadline."""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from email.utils import parsedate_to_datetime

import requests
from requests.adapters import BaseAdapter

from portal.system.error_kind import error_kind
from portal.upstream.errors import (
    ANSWERED,
    Broken,
    Failing,
    TimedOut,
    Uncertain,
    Unusable,
    UpstreamError,
)
from portal.upstream.protocol import Account, Resource, Response
from portal.upstream.transport import BODY_STATUSES, SingleUseAdapter

log = logging.getLogger(__name__)

# A response with one of these statuses is logged, because the operator may have to act.
_WARN_STATUSES = (401, 402, 403, 429)


class Origin:
    """The upstream at one base address.

    ``connect_timeout_s`` limits DNS, connect and TLS together. ``first_byte_timeout_s`` limits the
    wait for the response headers. ``transport`` takes a call's deadline (monotonic seconds) and
    returns the ``requests`` adapter for this call. The adapter must raise NotSent if it has sent
    nothing. Any other error means that the call may be charged, because a ConnectionError of
    ``requests`` may also be a reset after the request was sent. ``waiting`` returns a context
    manager, in which the origin sends a call and reads the response. The call's recorded duration
    includes the time that the context manager needs to exit.
    """

    def __init__(
        self,
        name: str,
        base_address: str,
        connect_timeout_s: float,
        first_byte_timeout_s: float,
        transport: Callable[[float], BaseAdapter] = SingleUseAdapter,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.name = name
        # Parse the base address once, and not in every ``_prepare``, because parsing is slow.
        self._address = _normalized(base_address)
        self._timeout_s = (connect_timeout_s, first_byte_timeout_s)
        self._transport = transport
        self._waiting = waiting

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

    def _exchange(self, resource: Resource, deadline: float) -> Response:
        adapter = self._transport(deadline)
        request = self._prepare(resource)
        try:
            with self._waiting(), adapter.send(request, timeout=self._timeout_s) as reply:
                body = reply.content if reply.status_code in BODY_STATUSES else b""
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
