"""One base address: one call within a total deadline, every failure translated here."""

import errno
import logging
import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable
from http.client import HTTPException
from http.cookiejar import DefaultCookiePolicy

import requests
from requests.adapters import BaseAdapter
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from portal.upstream.connection import Guard, GuardedAdapter, guarded
from portal.upstream.errors import Broken, Failing, NotSent, TimedOut, Unusable, UpstreamError
from portal.upstream.messages import Account, Attempt, Resource, Response

log = logging.getLogger(__name__)

MEBIBYTE = 1024 * 1024
BODY_CAP = 2 * MEBIBYTE
_CHUNK = 64 * 1024
_TOLD = (401, 402, 403, 429)  # an answer, and one that an operator may have to do something about
_FAULTS = (RequestException, HTTPError, HTTPException, OSError, ValueError)


STALE_CONNECTION = "stale_connection"  # the ledger's word for a send that nobody read


class _Stale(Exception):
    """A kept-alive connection turned out to be closed."""


class Origin:
    """The upstream at one base address.

    ``connect_timeout_s`` bounds DNS, connect and TLS; ``first_byte_timeout_s`` the wait for the
    headers; the deadline of a call bounds everything. ``transport`` replaces the wire, for the
    embedded sandbox.
    """

    def __init__(
        self,
        name: str,
        base_address: str,
        connect_timeout_s: float,
        first_byte_timeout_s: float,
        transport: Callable[[], BaseAdapter] = GuardedAdapter,
    ) -> None:
        self.name = name
        self._base_address = base_address
        self._connect_timeout_s = connect_timeout_s
        self._first_byte_timeout_s = first_byte_timeout_s
        self._transport = transport
        # A stack, not one a thread: the last connection used is the least likely to be stale.
        self._sessions: deque[requests.Session] = deque()
        self._fresh_works = True

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """One paid call; raises UpstreamError. The account hears of it before it leaves.

        Where the server closed an idle connection just while we wrote to it, the call is sent
        once more on a fresh one, and announced once more.
        """
        first = account.announce(self.name)
        try:
            return self._attempt(resource, first, deadline)
        except _Stale:
            pass
        try:
            second = account.announce(self.name)
        except UpstreamError:
            first.ended(Broken.outcome)  # the circuit has opened meanwhile: that was no idle end
            raise
        except BaseException:
            first.ended(STALE_CONNECTION)  # a limit refuses the second, and gets the first back
            raise
        outcome = Broken.outcome
        try:
            response = self._attempt(resource, second, deadline, fresh=True)
            outcome = STALE_CONNECTION  # the server is well: it had only let go of a connection
            return response
        except (Broken, NotSent):
            self._fresh_works = False
            raise
        finally:
            first.ended(outcome)

    def _attempt(
        self, resource: Resource, attempt: Attempt, deadline: float, fresh: bool = False
    ) -> Response:
        """One announced send, its end told to the attempt; a stale connection's is left open."""
        outcome, status = "maybe", None
        try:
            response = self._ask(resource, deadline, fresh)
            self._fresh_works = True
            status = response.status
            _judge(resource, response)
            outcome = "answered"
            if status in _TOLD:
                log.warning("%s: status %d", self.name, status)
            return response
        except _Stale:
            outcome = ""
            raise
        except UpstreamError as error:
            outcome = error.outcome
            log.warning("%s: %s", self.name, error)
            raise
        finally:
            if outcome:
                attempt.ended(outcome, status)

    def _ask(self, resource: Resource, deadline: float, fresh: bool) -> Response:
        # A report goes on a connection of its own: were a used one closed just now, nobody could
        # tell whether it had been charged (RFC 9112 §9.3.1).
        alone = fresh or resource.method == "POST"
        session = self._new_session() if alone else self._take_session()
        try:
            with guarded() as guard:
                try:
                    return self._exchange(session, resource, guard, deadline)
                except _FAULTS as error:
                    # Nothing was read on a used connection. While fresh ones fail too, that is
                    # an outage and no idle connection's end.
                    if guard.stale and not guard.late and self._fresh_works:
                        raise _Stale from None
                    raise _translate(error, guard) from None
        finally:
            if resource.method == "POST":
                session.close()
            else:
                self._sessions.append(session)

    def _take_session(self) -> requests.Session:
        try:
            return self._sessions.pop()
        except IndexError:
            return self._new_session()

    def _exchange(
        self, session: requests.Session, resource: Resource, guard: Guard, deadline: float
    ) -> Response:
        now = time.monotonic()
        if now >= deadline:
            raise NotSent("no time left")
        headers_by = min(now + self._connect_timeout_s + self._first_byte_timeout_s, deadline)
        guard.allow(headers_by)
        left = headers_by - now
        reply = session.send(
            self._prepare(resource),
            stream=True,
            allow_redirects=False,
            timeout=(min(self._connect_timeout_s, left), min(self._first_byte_timeout_s, left)),
        )
        with reply:
            guard.allow(deadline)
            body = _read(reply, guard)
        return Response(
            status=reply.status_code,
            body=body,
            origin=self.name,
            content_type=reply.headers.get("Content-Type", ""),
            retry_after_s=_retry_after(reply.headers.get("Retry-After")),
        )

    def _prepare(self, resource: Resource) -> requests.PreparedRequest:
        headers = {
            "Authorization": resource.credential,  # by header only: a query string is logged
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": "dossie-veicular",
        }
        if resource.body is not None:
            headers["Content-Type"] = "application/json"
        # Request.prepare, not Session.prepare_request: no .netrc, no cookies, no merged settings.
        return requests.Request(
            resource.method, self._base_address + resource.path, headers, data=resource.body
        ).prepare()

    def _new_session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        session.adapters.clear()
        for scheme in ("http://", "https://"):
            session.mount(scheme, self._transport())
        return session


def _translate(error: Exception, guard: Guard) -> UpstreamError:
    """The library's failure in our words: what matters is whether anything had left."""
    if isinstance(error, UpstreamError):
        return error
    late = isinstance(error, requests.exceptions.ReadTimeout)
    # A TLS handshake that hangs is a read time-out too, and nothing had left.
    if not guard.connected and (guard.dialled or not late):
        return NotSent(f"could not connect: {_innermost(error)}")
    if late:
        return TimedOut("no answer in time")
    if guard.late:
        return TimedOut("no whole answer in time")
    return Broken(f"closed before an answer: {_innermost(error)}")


def _innermost(error: BaseException) -> str:
    """The kind of failure at the bottom of the libraries' own, without their texts, which hold
    addresses: its class, and what TLS or the system calls it."""
    for _ in range(16):  # far deeper than any nests
        told = (error.__cause__, getattr(error, "reason", None), *error.args)
        inner = next((each for each in told if isinstance(each, Exception)), None)
        if inner is None:
            break
        error = inner
    kind = type(error).__name__
    match error:
        case ssl.SSLCertVerificationError():
            return f"{kind}, {error.verify_message.partition(',')[0]}"
        case ssl.SSLError():
            name = getattr(error, "reason", None)  # Python's own have none
        case OSError(errno=int(number)):
            name = errno.errorcode.get(number)
        case _:
            name = None
    return f"{kind}, {name}" if name else kind


def _read(reply: requests.Response, guard: Guard) -> bytes:
    """The body whole, decoded, at most BODY_CAP long; what was charged and is no body: Unusable."""
    chunks: list[bytes] = []
    size = 0
    try:
        # read1 returns what has come; read would wait for a full buffer and outlast a drip.
        while chunk := reply.raw.read1(_CHUNK, decode_content=False):
            size += len(chunk)
            if size > BODY_CAP:
                raise Unusable("body too large")
            chunks.append(chunk)
    except _FAULTS as error:
        if guard.late:
            raise TimedOut("body too slow") from None
        raise Unusable("body broken off") from error
    announced = reply.headers.get("Content-Length", "")
    # A chunked body cut short has raised already; one without a length ends with its connection,
    # and is whole unless it was we who ended it.
    ended_by_peer = reply.raw.chunked or not guard.late
    whole = int(announced) == size if announced.isdecimal() else ended_by_peer
    if not whole:
        raise TimedOut("body too slow") if guard.late else Unusable("body shorter than announced")
    return _decode(b"".join(chunks), reply.headers.get("Content-Encoding", ""))


def _decode(body: bytes, encoding: str) -> bytes:
    """Undo gzip under the same cap: a bomb is never unpacked further than that."""
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            inflater = zlib.decompressobj(wbits=31)
            try:
                plain = inflater.decompress(body, BODY_CAP + 1)
            except zlib.error:
                raise Unusable("bad gzip") from None
            if len(plain) > BODY_CAP or not inflater.eof:
                raise Unusable("body too large or cut")
            return plain
        case _:
            raise Unusable("unknown content encoding")


def _judge(resource: Resource, response: Response) -> None:
    status = response.status
    if status == 200:
        resource.check(response.body)
    elif status >= 500:
        raise Failing(status)
    elif not 400 <= status < 500:
        raise Unusable(f"status {status} is no answer")


def _retry_after(text: str | None) -> float | None:
    """Delta seconds only; a date is rare and read as none (RFC 9110 §10.2.3)."""
    return float(text) if text and text.isascii() and text.isdecimal() and len(text) < 7 else None
