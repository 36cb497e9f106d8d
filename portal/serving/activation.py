"""Uses the listening socket that systemd passes if the service has a socket unit.

systemd keeps the socket open while the service restarts. New connections wait in the socket's queue
until the restarted service accepts them. sd_listen_fds(3) describes the protocol.
"""

import socket
from collections.abc import Mapping

DESCRIPTOR = 3  # SD_LISTEN_FDS_START, the file descriptor of the first socket


class UnusableSocket(Exception):
    """The socket from systemd cannot be used. The message is one line for the operator."""


def inherited_address(environ: Mapping[str, str], pid: int) -> tuple[str, int] | None:
    """Return host and port of the socket that systemd passed to process ``pid``.

    Returns None if systemd passed no socket. Raises UnusableSocket for several sockets, because the
    portal listens on one address. Also raises UnusableSocket if the socket is not TCP, because rate
    limits need the client's IP address.
    """
    if environ.get("LISTEN_PID") != str(pid) or not environ.get("LISTEN_FDS"):
        return None
    if environ["LISTEN_FDS"] != "1":
        raise UnusableSocket(f"systemd passed {environ['LISTEN_FDS']} sockets, one is expected")
    try:
        passed = socket.socket(fileno=DESCRIPTOR)
    except OSError as error:
        raise UnusableSocket(f"systemd passed no socket: {error.strerror}") from None
    try:
        if passed.family not in (socket.AF_INET, socket.AF_INET6):
            raise UnusableSocket("systemd passed a socket that is not TCP")
        host, port = passed.getsockname()[:2]
        return host, port
    finally:
        passed.detach()
