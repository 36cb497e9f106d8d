"""Runs the periodic tasks of a server process on one background thread."""

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
    """Runs the tasks from ``start`` until ``stop`` or until the Scheduler is garbage-collected.

    If a task fails, the scheduler logs the error, and runs the task again at its next due time.
    """

    def __init__(self, *tasks: PeriodicTask, clock: Callable[[], float] = time.monotonic) -> None:
        self._tasks = tasks
        self._clock = clock
        self._due = [clock() + task.every_s for task in tasks]
        self._lock = threading.Lock()
        self._started = False
        self._running = threading.Lock()  # locked while the thread runs tasks
        self._ended = False

    def start(self) -> None:
        """Start the scheduler's thread, unless it is running.

        Each request to the Flask application calls ``start``, because a forked worker process does
        not have its parent's threads. If the thread cannot be started, the next request calls
        ``start`` again.
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
        """Wait for running tasks to end, and stop the scheduler permanently.

        After ``stop`` has returned, the caller may close resources that the tasks use.
        """
        with self._running:
            self._ended = True

    def run_due(self) -> float:
        """Run the tasks that are due, and return the seconds until the next task is due."""
        for index, task in enumerate(self._tasks):
            now = self._clock()
            if now >= self._due[index]:
                self._due[index] = now + task.every_s
                _run_task(task)
        return max(0.0, min(self._due) - self._clock())

    def run_all(self) -> None:
        """Run every task once, even if it is not due. Processes call ``run_all`` when they exit."""
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
        del scheduler  # hold no reference while sleeping, so that the scheduler can be freed
        time.sleep(min(pause, 1.0))
