"""Uses the listening socket that systemd passes if the service has a socket unit.

systemd keeps the socket open while the service restarts. New connections then wait in the socket's
queue instead of being refused. sd_listen_fds(3) describes the protocol.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from granian._granian import SocketHolder
from granian.server.mp import MPServer

_FIRST_DESCRIPTOR = 3  # SD_LISTEN_FDS_START


class UnusableSocket(Exception):
    """The socket from systemd cannot be used. The message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class InheritedSocket:
    descriptor: int
    host: str
    port: int


def inherited_socket(environ: Mapping[str, str], pid: int) -> InheritedSocket | None:
    """Return the socket that systemd passed to process ``pid``, or None.

    Raises UnusableSocket for several sockets, because the portal listens on one address. Also
    raises it for a socket that is not TCP, because rate limits need the client's IP address.
    """
    if environ.get("LISTEN_PID") != str(pid) or not environ.get("LISTEN_FDS"):
        return None
    if environ["LISTEN_FDS"] != "1":
        raise UnusableSocket(f"systemd passed {environ['LISTEN_FDS']} sockets, one is expected")
    try:
        passed = socket.socket(fileno=_FIRST_DESCRIPTOR)
    except OSError as error:
        raise UnusableSocket(f"systemd passed no socket: {error.strerror}") from None
    try:
        if passed.family not in (socket.AF_INET, socket.AF_INET6):
            raise UnusableSocket("systemd passed a socket that is not TCP")
        host, port = passed.getsockname()[:2]
        return InheritedSocket(_FIRST_DESCRIPTOR, host, port)
    finally:
        passed.detach()


class ActivatableServer(MPServer):
    """A Granian server whose workers share the listening socket that systemd passed.

    If systemd passed no socket, each worker opens its own socket on the same port.
    """

    def __init__(
        self, target: str, *, inherited: InheritedSocket | None = None, **options: Any
    ) -> None:
        super().__init__(target, **options)
        self._inherited = inherited

    def _init_shared_socket(self) -> None:
        if self._inherited is None:
            super()._init_shared_socket()  # type: ignore[no-untyped-call]
            return
        descriptor = self._inherited.descriptor
        # Typed as Any, because Granian's type stubs lack these attributes and arguments.
        holder: Any = SocketHolder
        server: Any = self
        server._ssp = None
        server._sfd = descriptor
        server._sso = socket.socket(fileno=descriptor)
        server._shd = holder(descriptor, False, self.backlog)
