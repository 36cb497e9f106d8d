"""Closes connections whose client takes no bytes of a response.

Granian 2.8 has no time-out for sending: a client that does not read would keep a thread, a
temporary file or the response's memory for as long as it likes. The kernel ends such a connection
if the socket has TCP_USER_TIMEOUT (RFC 5482; tcp(7)), also while the client's window is zero. The
send then fails, and Granian closes the response. Accepted sockets inherit the option from the
listening socket. Granian opens that socket itself, so it is found among the process's open files.

Linux alone has the option.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SEND_WITHIN_S: Final = 30
_OPEN_FILES: Final = Path("/proc/self/fd")
_POLL_S: Final = 0.05
_LISTENS_WITHIN_S: Final = 60


def set_send_timeout() -> None:
    """Set the time-out as soon as the process listens, in a thread of its own."""
    if hasattr(socket, "TCP_USER_TIMEOUT") and _OPEN_FILES.exists():
        threading.Thread(target=_set_when_listening, name="send-timeout", daemon=True).start()


def _set_when_listening() -> None:
    ends_at = time.monotonic() + _LISTENS_WITHIN_S
    while not _set_on_listening_sockets() and time.monotonic() < ends_at:
        time.sleep(_POLL_S)


def _set_on_listening_sockets() -> bool:
    """Return whether the process has a listening TCP socket."""
    is_found = False
    for entry in _OPEN_FILES.iterdir():
        with suppress(OSError), _borrowed_socket(int(entry.name)) as connection:
            is_tcp = connection.family in (socket.AF_INET, socket.AF_INET6)
            if is_tcp and connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                milliseconds = SEND_WITHIN_S * 1000
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
                is_found = True
    return is_found


@contextmanager
def _borrowed_socket(descriptor: int) -> Iterator[socket.socket]:
    """Yield the socket of another owner's descriptor. Raises OSError if it is no socket.

    The descriptor is neither closed nor duplicated. Most descriptors are files, also of SQLite, and
    when a process closes any descriptor of a file, even a duplicate, it loses its POSIX locks on
    the file (https://sqlite.org/howtocorrupt.html, section 2.2). Another process would then delete
    the write-ahead log, into which this process goes on to write. The owner may close the
    descriptor at any time. The options of whatever takes its number are then read or refused.
    """
    borrowed = socket.socket(fileno=descriptor)
    try:
        yield borrowed
    finally:
        borrowed.detach()
