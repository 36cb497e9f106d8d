"""Starts the production server, Granian, with options that were tested under load."""

import logging
import math
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from portal.serving.activation import DESCRIPTOR
from portal.system.open_file_limits import (
    BACKLOG,
    FULL_CAPACITY,
    capacity,
    open_files_limit,
)
from portal.system.thread_limits import FULL_THREADS, Threads

log = logging.getLogger(__name__)

# Granian closes a connection without a complete request head after this time, whether the
# connection is idle or its client is slow. Clients that poll by the minute, and proxies with the
# 60 s of nginx, must not meet a connection that is being closed.
IDLE_S = 75
# Granian applies this configuration in the main process and in each worker. Granian's loggers get
# no handlers of their own. Their messages go to the root logger, whose handlers redact secrets.
_LOG_CONFIG = {"loggers": {name: {"propagate": True} for name in ("_granian", "granian.access")}}


class Draining:
    """Announces in ``/readyz`` that the server is about to stop, so that proxies avoid it.

    The main process creates a file in the directory that it shares with its workers. While the file
    exists, the workers answer ``/readyz`` with 503 and all other requests as before. Does nothing
    without a shared directory.
    """

    def __init__(self, shared: Path | None) -> None:
        self._file = shared / "draining" if shared else None

    def begin(self) -> bool:
        """Announce the stop to the workers. Return False if the file cannot be created."""
        with suppress(OSError):
            if self._file is not None:
                self._file.touch()
                return True
        return False

    def has_begun(self) -> bool:
        return self._file is not None and self._file.exists()


class Server(MPServer):
    """A Granian server that announces its stop before it stops.

    After SIGTERM, the server announces the stop in ``/readyz``, and stops ``drain_s`` seconds
    later. A second SIGTERM, or Ctrl-C, stops the server at once. The server calls ``before_stop``
    before it tells the workers to end. If ``is_activated``, the workers share the listening socket
    that systemd passed. Otherwise each worker opens its own socket on the same port.
    """

    def __init__(
        self,
        target: str,
        *,
        drain_s: float,
        draining: Draining,
        before_stop: Callable[[], None] | None,
        is_activated: bool,
        **options: Any,
    ) -> None:
        super().__init__(target, **options)
        self._is_activated = is_activated
        self._drain_s = drain_s
        self._draining = draining
        self._before_stop = before_stop

    def _init_shared_socket(self) -> None:
        if not self._is_activated:
            super()._init_shared_socket()  # type: ignore[no-untyped-call]
            return
        # Granian binds its own socket, and has no public way to take another (Granian 2.8.7,
        # ``tests/serving/test_activation.py``).
        # Use the type Any, because Granian's type stubs lack these attributes and arguments.
        holder: Any = SocketHolder
        server: Any = self
        server._ssp = None
        server._sfd = DESCRIPTOR
        server._sso = socket.socket(fileno=DESCRIPTOR)
        server._shd = holder(DESCRIPTOR, False, self.backlog)

    def shutdown(self, exit_code: int = 0) -> None:
        if self._before_stop is not None:
            self._before_stop()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def signal_handler_interrupt(self, *args: Any, **named: Any) -> None:
        is_first_term = args[:1] == (signal.SIGTERM,) and not self._draining.has_begun()
        if not is_first_term or not self._drain_s or not self._draining.begin():
            super().signal_handler_interrupt(*args, **named)  # type: ignore[no-untyped-call]
            return
        end = threading.Timer(self._drain_s, super().signal_handler_interrupt, args, named)
        end.daemon = True
        end.start()


def serve(
    target: str, *, home: Path, longest_request_s: float, threads: Threads, **options: Any
) -> None:
    """Serve the application that ``target`` ("module:function") returns, until SIGTERM or Ctrl-C.

    A stopping server waits at most ``longest_request_s`` seconds for requests in progress.
    ``options`` are further arguments of ``Server``.
    """
    allowed = capacity()
    if allowed != FULL_CAPACITY:
        log.warning(
            "%d open files are allowed (ulimit -n), %d are needed: a worker serves %d connections "
            "and %d lookups at a time",
            open_files_limit(),
            FULL_CAPACITY.open_files,
            allowed.connections,
            allowed.lookups,
        )
    if threads != FULL_THREADS:
        log.warning(
            "the allowed threads (ulimit -u, pids.max) are fewer than needed: a worker serves %d "
            "requests and %d lookups of pages at a time",
            threads.blocking,
            threads.panels,
        )
    Server(
        target,
        factory=True,
        interface=Interfaces.WSGI,
        blocking_threads=threads.blocking,
        backlog=BACKLOG,
        # The maximum number of open connections, including idle connections. Further connections
        # wait until an open connection is closed.
        backpressure=allowed.connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_S * 1000),
        respawn_failed_workers=True,
        workers_kill_timeout=math.ceil(longest_request_s),
        working_dir=home,
        # This level hides Granian's warnings about the options of this call.
        log_level=LogLevels.error,
        log_dictconfig=_LOG_CONFIG,
        log_access=False,  # an access log would contain paths with plates
        **options,
    ).serve()
