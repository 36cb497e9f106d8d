"""The production server: Granian with options tested under load."""

import logging
import math
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from portal.system.capacity import (
    BACKLOG,
    FULL_CAPACITY,
    capacity,
    open_files_limit,
)
from portal.system.thread_limits import FULL_THREADS, Threads

log = logging.getLogger(__name__)

# Granian's log records propagate to the root logger: formatted as JSON, with secrets redacted.
_LOG_CONFIG = {"loggers": {name: {"propagate": True} for name in ("_granian", "granian.access")}}


def serve(
    target: str,
    host: str,
    port: int,
    workers: int,
    home: Path,
    longest_request_s: float,
    threads: Threads = FULL_THREADS,
) -> None:
    """Serve an application until SIGTERM or Ctrl-C.

    ``target`` is its factory, as "module:name". A stop waits for requests in progress, at most
    ``longest_request_s`` seconds.
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
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=threads.blocking,
        backlog=BACKLOG,
        # Limits the open connections. With a low limit, idle connections would block new ones.
        backpressure=allowed.connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=10_000),
        respawn_failed_workers=True,
        workers_kill_timeout=math.ceil(longest_request_s),
        working_dir=home,
        log_level=LogLevels.error,  # Granian's warnings are advice on the options above
        log_dictconfig=_LOG_CONFIG,
        log_access=False,  # the path contains the plate; the application logs its own line
    ).serve()
