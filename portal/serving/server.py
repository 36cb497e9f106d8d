"""The production server: Granian with the options that held under load."""

import logging
import math
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from portal.system.capacity import BACKLOG, BLOCKING_THREADS, MOST, capacity, open_files_limit

log = logging.getLogger(__name__)

# The server's own lines leave as all others do: as JSON, with nothing secret in them.
_THROUGH_THE_ROOT = {
    "loggers": {name: {"propagate": True} for name in ("_granian", "granian.access")}
}


def serve(
    target: str, host: str, port: int, workers: int, home: Path, longest_request_s: float
) -> None:
    """Serve the application factory ``target`` ("module:name") until SIGTERM or Ctrl-C.

    A stop waits for requests under way, but not beyond ``longest_request_s``.
    """
    allowed = capacity()
    if allowed != MOST:
        log.warning(
            "%d open files are allowed (ulimit -n), %d are needed: a worker serves %d connections "
            "and %d lookups at a time",
            open_files_limit(),
            MOST.open_files,
            allowed.connections,
            allowed.lookups,
        )
    Server(
        target,
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=BLOCKING_THREADS,
        backlog=BACKLOG,
        # Counts connections: low values let idle ones block everybody.
        backpressure=allowed.connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=10_000),
        respawn_failed_workers=True,
        workers_kill_timeout=math.ceil(longest_request_s),
        working_dir=home,
        log_level=LogLevels.error,  # its warnings are advice on the numbers above
        log_dictconfig=_THROUGH_THE_ROOT,
        log_access=False,  # the path holds the plate: the application logs its own line
    ).serve()
