"""A naive and a careful client that reuse connections, to test the oracle."""

import http.client
import select
import socket
import threading
import time
from urllib.parse import urlsplit

import h11

from portal.upstream.errors import Broken, Failing, TimedOut, Unusable, UpstreamError
from portal.upstream.protocol import Resource, Response
from tests.hostile.streams.oracle import Account


def _judged(status: int, body: bytes) -> Response:
    if status >= 500:
        raise Failing(status)
    if status != 200 and not 400 <= status < 500:
        raise Unusable(f"status {status}")
    return Response(status, body, "primary")


class _ClosedOnError(http.client.HTTPResponse):
    """Closes the socket of a response whose head cannot be read."""

    def begin(self) -> None:
        try:
            super().begin()
        except BaseException:
            self.close()
            raise


class NaiveClient:
    """http.client on one kept-alive connection.

    The client handles no interim response except 100. It repeats a request that failed on a used
    connection, and records the first attempt as free of charge.
    """

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=0.5)
        self._connection.response_class = _ClosedOnError
        self._is_used = False
        self._lock = threading.Lock()

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        with self._lock:
            row = account.begin("primary")
            try:
                try:
                    response = self._ask(resource)
                except ConnectionError:
                    if not self._is_used:
                        raise
                    row.finish("stale_connection")
                    row = account.begin("primary")
                    response = self._ask(resource)
                answer = _judged(response[0], response[1])
                answer = resource.check(answer)
            except UpstreamError as error:
                row.finish(error.outcome)
                raise
            except (OSError, http.client.HTTPException) as error:
                row.finish(Broken.outcome)
                raise Broken(repr(error)) from error
            row.finish("answered", answer.status)
            return answer

    def close(self) -> None:
        self._connection.close()

    def _ask(self, resource: Resource) -> tuple[int, bytes]:
        try:
            self._connection.request(resource.method, resource.path, resource.body)
            with self._connection.getresponse() as response:
                body = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        self._is_used = True
        return response.status, body


class CarefulClient:
    """h11 on one connection, reused only if no bytes follow the last answer.

    The client repeats no request, and skips empty lines before a response.
    """

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).hostname, urlsplit(url).port
        self._connection: socket.socket | None = None
        self._parser = h11.Connection(h11.CLIENT)
        self._has_heard = False
        self._lock = threading.Lock()

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        with self._lock:
            row = account.begin("primary")
            try:
                answer = _judged(*self._ask(resource, deadline))
                answer = resource.check(answer)
            except UpstreamError as error:
                self.close()
                row.finish(error.outcome)
                raise
            row.finish("answered", answer.status)
            return answer

    def _ask(self, resource: Resource, deadline: float) -> tuple[int, bytes]:
        if self._connection is not None and _readable(self._connection):
            self.close()
        if self._connection is None:
            self._connection = socket.create_connection(self._address)
            self._parser = h11.Connection(h11.CLIENT)
        self._has_heard = False
        body = resource.body or b""
        fields = [("Host", "x"), ("Content-Length", str(len(body)))]
        request = h11.Request(method=resource.method, target=resource.path, headers=fields)
        events = (request, h11.Data(data=body), h11.EndOfMessage())
        try:
            self._connection.sendall(b"".join(self._parser.send(each) or b"" for each in events))
        except OSError as error:  # do not read on, because h11 would not report this error
            raise Broken(repr(error)) from error
        status, content = 0, b""
        while not isinstance(event := self._next_event(deadline), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                content += event.data
        states = self._parser.our_state, self._parser.their_state
        if states == (h11.DONE, h11.DONE) and self._parser.trailing_data == (b"", False):
            self._parser.start_next_cycle()
        else:
            self.close()
        return status, content

    def _next_event(self, deadline: float) -> object:
        assert self._connection is not None
        try:
            while (event := self._parser.next_event()) is h11.NEED_DATA:
                self._connection.settimeout(max(0.001, deadline - time.monotonic()))
                data = self._connection.recv(65_536)
                if data and not self._has_heard:
                    data = data.lstrip(b"\r\n")
                    self._has_heard = bool(data)
                    if not data:
                        continue
                self._parser.receive_data(data)
            return event
        except TimeoutError as error:
            raise TimedOut("late") from error
        except (OSError, h11.RemoteProtocolError) as error:
            raise (Unusable if self._has_heard else Broken)(repr(error)) from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _readable(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
