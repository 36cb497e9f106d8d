"""What must happen now and then in every server process, on one thread of its own."""

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
    """Runs chores from the first ``start`` on; its thread ends with it. A failed chore is told
    of and tried again at its next turn."""

    def __init__(self, *chores: PeriodicTask, clock: Callable[[], float] = time.monotonic) -> None:
        self._chores = chores
        self._clock = clock
        self._due = [clock() + chore.every_s for chore in chores]
        self._lock = threading.Lock()
        self._started = False
        self._at_it = threading.Lock()  # held by the thread while it does chores
        self._ended = False

    def start(self) -> None:
        """Cheap to call again: with every request, so that threads begin after the fork, and
        that one which could not begin is tried again."""
        if self._started:
            return
        with self._lock:
            if self._started:
                return
            thread = threading.Thread(
                target=_keep_house, args=(weakref.ref(self),), name="housekeeper", daemon=True
            )
            try:
                thread.start()
                self._started = True
            except RuntimeError:
                log.warning("the housekeeper found no thread")

    def stop(self) -> None:
        """For good, and only once the chore at hand is done: what chores use may then be closed."""
        with self._at_it:
            self._ended = True

    def do_what_is_due(self) -> float:
        """Run what is due; seconds until the next chore."""
        for index, chore in enumerate(self._chores):
            now = self._clock()
            if now >= self._due[index]:
                self._due[index] = now + chore.every_s
                _attempt(chore)
        return max(0.0, min(self._due) - self._clock())

    def do_all(self) -> None:
        """Every chore once, due or not: when a process ends."""
        for chore in self._chores:
            _attempt(chore)


def _attempt(chore: PeriodicTask) -> None:
    try:
        chore.do()
    except Exception as error:
        log.warning("a chore failed: %s", type(error).__name__)


def _keep_house(keeper: "weakref.ref[Scheduler]") -> None:
    while (house := keeper()) is not None:
        with house._at_it:
            if house._ended:
                return
            pause = house.do_what_is_due()
        del house  # while it sleeps nothing holds it
        time.sleep(min(pause, 1.0))
