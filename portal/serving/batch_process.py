"""Runs batches (lookups of long lists of plates) in a separate process, the batch process.

The batch process has a lower priority than the workers. If a worker ran batches, the threads of the
batches would delay each answer from the cache by up to the interpreter's switch interval (5 ms).

A worker requests the batch process by a file in the shared directory. The main process starts the
batch process, replaces a killed batch process, and stops the batch process with the server.
"""

import gc
import logging
import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from portal.system.process import lower_priority
from portal.system.scheduler import run_task

log = logging.getLogger(__name__)

# With a higher niceness, the batch process would be paused for too long within its transactions,
# while other lookups wait for SQLite's lock (docs/decisions/0012).
NICENESS: Final = 15
IDLE_S: Final = 20.0  # seconds without work after which the batch process ends
_CHECKED_EVERY_S: Final = 0.5
_START_AGAIN_S: Final = 2.0  # seconds before a failed batch process is replaced
_REQUEST: Final = "batches"  # a file


def batch_request(shared: Path | None) -> Callable[[], None] | None:
    """Return a function that requests the batch process, or None without a shared directory."""
    return partial(_ask, shared / _REQUEST) if shared else None


def _ask(file: Path) -> None:
    with suppress(OSError):  # the main process has ended
        file.touch()


class BatchProcess:
    """Starts and stops the batch process. Only the main process creates a BatchProcess."""

    def __init__(self, shared: Path) -> None:
        self._request = shared / _REQUEST
        # Like Granian, use "fork" only if it is the default start method.
        method = multiprocessing.get_start_method()
        self._context: Any = multiprocessing.get_context("fork" if method == "fork" else "spawn")
        # The batch process claims the items of batches (plates or Renavams) under this name. A
        # process that replaces a killed batch process gets the same name, so that it can release
        # the killed process's items at once. This is safe, because two batch processes never run
        # at the same time.
        self._holder = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="batches", daemon=True)
        self._thread.start()

    def begin_stop(self) -> None:
        """Tell the batch process to end after its lookups in progress."""
        with self._lock:
            self._stopping.set()
            if self._process is not None and self._process.is_alive():
                self._process.terminate()

    def stop(self, timeout_s: float) -> None:
        """Stop the batch process, and kill it if it still runs after ``timeout_s`` seconds."""
        self.begin_stop()
        self._thread.join(timeout_s)
        with self._lock:
            if self._process is not None and self._process.is_alive():
                log.warning("the batch process did not end in time and is killed")
                self._process.kill()

    def _watch(self) -> None:
        while not self._stopping.wait(_CHECKED_EVERY_S):
            if not self._request.exists():
                continue
            process = self._start()
            if process is not None:
                process.join()
            if self._stopping.is_set():
                return
            if process is None or process.exitcode:
                log.warning("the batch process ended unexpectedly")
                self._stopping.wait(_START_AGAIN_S)
            # No work is forgotten, because the workers repeat the request while there is work.
            self._request.unlink(missing_ok=True)

    def _start(self) -> BaseProcess | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            process: BaseProcess = self._context.Process(
                target=run_batches, args=(self._holder,), name="batches"
            )
            try:
                process.start()
            except OSError as error:
                log.warning("cannot start the batch process: %s", error.strerror)
                return None
            self._process = process
            return process


def run_batches(holder: str) -> None:
    """Run batches until the server stops or there is no work for IDLE_S seconds."""
    parent = os.getppid()
    stopping = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stopping.set())
    lower_priority(NICENESS)

    # Imported late, so that the imports run with the lower priority.
    from portal.factory import Portal, ServerProcess, environment_settings
    from portal.serving.inherited import inherited_data_key, join_shared_directory
    from portal.web.observability.logs import set_up_logging

    settings = environment_settings()
    set_up_logging(settings.secrets, settings.log_format)
    process = ServerProcess(join_shared_directory(), batch_holder=holder)
    portal = Portal(settings, inherited_data_key(), process)
    runner = portal.batch_runner
    gc.freeze()  # later garbage collections skip the present objects
    # Run both now, because the scheduler waits half a second first.
    for task in (portal.item_leases.release_all, runner.tick):
        run_task(task)
    portal.scheduler.start()
    busy_at = time.monotonic()
    while not stopping.wait(_CHECKED_EVERY_S) and os.getppid() == parent:
        if runner.active or runner.has_work or portal.store.has_unstored:
            busy_at = time.monotonic()
        elif time.monotonic() - busy_at > IDLE_S:
            break
    portal.finish()
    portal.close()
