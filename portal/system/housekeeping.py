"""Runs periodic tasks in one of the processes that share a data directory."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from portal.system.scheduler import PeriodicTask, run_task

_READ_BYTES: Final = 4096


class Housekeeping:
    """Tasks that one process at a time runs, and that run once for all processes.

    ``file`` has a lock, and the times at which the tasks last began (epoch seconds). If the file
    cannot be locked, each process runs the tasks.
    """

    def __init__(
        self, file: Path, *tasks: PeriodicTask, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = file
        self._tasks = tasks
        self._clock = clock

    def run_due(self) -> None:
        """Run the tasks that are due, unless another process is running tasks.

        The scheduler calls this method. If a task fails, its error is logged.
        """
        with self._locked() as file:
            if file is None:
                return
            began_at = self._read(file)
            for index, task in enumerate(self._tasks):
                if 0 <= self._clock() - began_at[index] < task.every_s:
                    continue
                began_at[index] = self._clock()
                os.pwrite(file, json.dumps(began_at).encode().ljust(_READ_BYTES), 0)
                run_task(task.do)

    @contextmanager
    def _locked(self) -> Iterator[int | None]:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            yield None
            return
        except OSError:  # the file system has no locks
            pass
        try:
            yield file
        finally:
            os.close(file)

    def _read(self, file: int) -> list[float]:
        """Return when each task last began. Tasks of a new file begin after their period."""
        try:
            times = [float(at) for at in json.loads(os.pread(file, _READ_BYTES, 0))]
        except (ValueError, TypeError):
            times = []
        if len(times) == len(self._tasks):
            return times
        times = [self._clock()] * len(self._tasks)
        os.pwrite(file, json.dumps(times).encode().ljust(_READ_BYTES), 0)
        return times
