"""A webhook receiver and a mail server on loopback sockets."""

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import NamedTuple


class Posted(NamedTuple):
    """A request that a webhook receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve requests in a thread of its own, and close the server at the end."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class WebhookReceiver:
    """Answers each request with ``status``, and keeps the requests.

    With ``tls``, a server context, it serves https.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.status = 204
        self.location = ""
        self.posted: list[Posted] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.posted.append(Posted(self.path, headers, body))
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}/hook?x=1"

    @contextmanager
    def running(self) -> Iterator["WebhookReceiver"]:
        with serving(self._server):
            yield self


class MailReceiver:
    """A mail server that takes every message (RFC 5321), and keeps the messages."""

    def __init__(self) -> None:
        self.received: list[str] = []
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._say("220 ready")
                while line := self.rfile.readline().decode("latin-1").strip():
                    word = line.split()[0].upper()
                    if word == "DATA":
                        self._say("354 go on")
                        lines = []
                        while (part := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                            lines.append(part)
                        receiver.received.append("\n".join(lines))
                    elif word == "QUIT":
                        self._say("221 bye")
                        return
                    self._say("250 ok")

            def _say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    @contextmanager
    def running(self) -> Iterator["MailReceiver"]:
        with serving(self._server):
            yield self
