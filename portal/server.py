"""The production server: Granian with the options that held under load."""

import contextlib
import logging
import math
import os
import signal
import socket
import threading
import time
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from portal.capacity import BACKLOG, BLOCKING_THREADS, MOST, capacity, open_files_limit

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


def cannot_listen(host: str, port: int) -> str | None:
    """Why the address cannot be bound, or None.

    The server itself shares its port among its workers, so it would share it with a stranger's
    server too, and answer half of the requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.strerror or str(error)
    return None


def keep_to_a_processor(number: int, workers: int) -> None:
    """Let worker ``number`` run on one processor, where there are as many as workers.

    Its threads take turns at the interpreter's lock wherever they run; from one processor to
    another each turn waits for a wake-up. Where processors are more or fewer, or nobody may choose
    among them, the system places the workers.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        # In a reload a newcomer meets the one it replaces: it has no processor of its own yet.
        if number < workers == len(processors):
            os.sched_setaffinity(0, {processors[number]})


def end_with_parent(every_s: float = 1.0) -> None:
    """Let this worker end when the main process is gone: Granian's would go on alone.

    And let SIGTERM end it while it loads: until Granian sets its own handlers, a forked worker
    has the main process's, which would swallow the signal and hold up the stop until it is killed.
    """
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_s)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()
