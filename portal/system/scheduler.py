"""Runs the periodic tasks of a server process on background threads."""

import logging
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

log = logging.getLogger(__name__)


MAIN_THREAD: Final = "scheduler"
# Tasks that are due within this time run at once, because each wake-up takes processor time.
_TOGETHER_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """A task that runs every ``every_s`` seconds on the thread with the name ``thread``.

    A slow task delays the other tasks of its thread.
    """

    every_s: float
    do: Callable[[], object]
    thread: str = MAIN_THREAD


class Scheduler:
    """Runs the tasks from ``start`` until ``stop`` or until the Scheduler is garbage-collected.

    If a task fails, the scheduler logs the error, and runs the task again at its next due time.
    """

    def __init__(self, *tasks: PeriodicTask, clock: Callable[[], float] = time.monotonic) -> None:
        self._tasks = tasks
        self._clock = clock
        self._due = [clock() + task.every_s for task in tasks]
        self._lock = threading.Lock()
        self._started: set[str] = set()
        # The lock of each thread is held while the thread runs tasks.
        self._running = {task.thread: threading.Lock() for task in tasks}
        self._ended = False

    def start(self) -> None:
        """Start the scheduler's threads, unless they are running.

        Each request to the Flask application calls ``start``, because a forked worker process does
        not have its parent's threads. If a thread cannot be started, the next request calls
        ``start`` again.
        """
        if len(self._started) == len(self._running):
            return
        with self._lock:
            for name in self._running:
                if name not in self._started:
                    self._start_thread(name)

    def _start_thread(self, name: str) -> None:
        thread = threading.Thread(
            target=_run, args=(weakref.ref(self), name), name=name, daemon=True
        )
        try:
            thread.start()
            self._started.add(name)
        except RuntimeError:
            log.warning("cannot start the thread %s", name)

    def stop(self) -> None:
        """Wait for running tasks to end, and stop the scheduler permanently.

        After ``stop`` has returned, the caller may close resources that the tasks use.
        """
        with ExitStack() as waiting:
            for lock in self._running.values():
                waiting.enter_context(lock)
            self._ended = True

    def run_due(self, thread: str = MAIN_THREAD) -> float:
        """Run the due tasks of a thread, and return the seconds until its next task is due."""
        own = [index for index, task in enumerate(self._tasks) if task.thread == thread]
        for index in own:
            now = self._clock()
            if now >= self._due[index] - _TOGETHER_S:
                self._due[index] = now + self._tasks[index].every_s
                run_task(self._tasks[index].do)
        return max(0.0, min(self._due[index] for index in own) - self._clock())

    def run_all(self) -> None:
        """Run every task once, even if it is not due. Processes call ``run_all`` when they exit."""
        for task in self._tasks:
            run_task(task.do)


def run_task(do: Callable[[], object]) -> None:
    try:
        do()
    except Exception as error:
        log.warning("a scheduled task failed: %s", type(error).__name__)


def _run(reference: "weakref.ref[Scheduler]", thread: str) -> None:
    while (scheduler := reference()) is not None:
        with scheduler._running[thread]:
            if scheduler._ended:
                return
            pause = scheduler.run_due(thread)
        del scheduler  # hold no reference while sleeping, so that the scheduler can be freed
        time.sleep(min(pause, 1.0))
