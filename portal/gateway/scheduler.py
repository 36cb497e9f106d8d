"""Periodic tasks of a server process, run on one background thread."""

import logging
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    every_s: float
    do: Callable[[], object]


class Scheduler:
    """Runs the tasks after the first ``start``; its thread ends when the object is freed.

    A failed task is logged and runs again when it is next due.
    """

    def __init__(self, *tasks: PeriodicTask, clock: Callable[[], float] = time.monotonic) -> None:
        self._tasks = tasks
        self._clock = clock
        self._due = [clock() + task.every_s for task in tasks]
        self._lock = threading.Lock()
        self._started = False
        self._running = threading.Lock()  # the thread holds it while it runs tasks
        self._ended = False

    def start(self) -> None:
        """Start the thread, unless it is running.

        It is called with every request, so that the thread starts after the fork and a failed start
        is retried.
        """
        if self._started:
            return
        with self._lock:
            if self._started:
                return
            thread = threading.Thread(
                target=_run, args=(weakref.ref(self),), name="scheduler", daemon=True
            )
            try:
                thread.start()
                self._started = True
            except RuntimeError:
                log.warning("cannot start the scheduler thread")

    def stop(self) -> None:
        """Wait for the tasks that are being run, then stop permanently.

        The resources that the tasks use may be closed afterwards.
        """
        with self._running:
            self._ended = True

    def run_due(self) -> float:
        """Run the tasks that are due and return the seconds until the next one."""
        for index, task in enumerate(self._tasks):
            now = self._clock()
            if now >= self._due[index]:
                self._due[index] = now + task.every_s
                _run_task(task)
        return max(0.0, min(self._due) - self._clock())

    def run_all(self) -> None:
        """Run every task once, due or not; called at process exit."""
        for task in self._tasks:
            _run_task(task)


def _run_task(task: PeriodicTask) -> None:
    try:
        task.do()
    except Exception as error:
        log.warning("a scheduled task failed: %s", type(error).__name__)


def _run(reference: "weakref.ref[Scheduler]") -> None:
    while (scheduler := reference()) is not None:
        with scheduler._running:
            if scheduler._ended:
                return
            pause = scheduler.run_due()
        del scheduler  # hold no reference while sleeping, so that the object can be freed
        time.sleep(min(pause, 1.0))
