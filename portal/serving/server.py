"""Starts the production server, Granian, with options that were tested under load."""

import logging
import math
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from portal.serving.activation import ActivatableServer, InheritedSocket
from portal.serving.draining import Draining
from portal.system.open_file_limits import (
    BACKLOG,
    FULL_CAPACITY,
    capacity,
    open_files_limit,
)
from portal.system.thread_limits import FULL_THREADS, Threads

log = logging.getLogger(__name__)

# These loggers propagate to the root logger, whose handlers redact secrets.
_LOG_CONFIG = {"loggers": {name: {"propagate": True} for name in ("_granian", "granian.access")}}


class DrainingServer(ActivatableServer):
    """A Granian server that announces its stop after SIGTERM, and stops ``drain_s`` seconds later.

    A second SIGTERM, or Ctrl-C, stops the server at once. ``before_stop`` is called before the
    workers are asked to end.
    """

    def __init__(
        self,
        target: str,
        *,
        drain_s: float,
        draining: Draining,
        before_stop: Callable[[], None] | None,
        **options: Any,
    ) -> None:
        super().__init__(target, **options)
        self._drain_s = drain_s
        self._draining = draining
        self._before_stop = before_stop

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
    target: str,
    host: str,
    port: int,
    workers: int,
    home: Path,
    longest_request_s: float,
    threads: Threads = FULL_THREADS,
    drain_s: float = 0.0,
    draining: Draining | None = None,
    before_stop: Callable[[], None] | None = None,
    inherited: InheritedSocket | None = None,
) -> None:
    """Serve the application that ``target`` ("module:function") returns, until SIGTERM or Ctrl-C.

    After SIGTERM, ``draining`` announces the stop, and the server accepts requests for another
    ``drain_s`` seconds. It then calls ``before_stop`` and waits at most ``longest_request_s``
    seconds for requests in progress. With the socket ``inherited``, ``host`` and ``port`` are not
    used.
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
    DrainingServer(
        target,
        inherited=inherited,
        drain_s=drain_s,
        draining=draining or Draining(None),
        before_stop=before_stop,
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=threads.blocking,
        backlog=BACKLOG,
        # The maximum number of open connections. At the maximum, idle connections keep new ones
        # waiting.
        backpressure=allowed.connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=10_000),
        respawn_failed_workers=True,
        workers_kill_timeout=math.ceil(longest_request_s),
        working_dir=home,
        # Hides Granian's warnings about the options of this call.
        log_level=LogLevels.error,
        log_dictconfig=_LOG_CONFIG,
        log_access=False,  # would log paths, which contain plates
    ).serve()
