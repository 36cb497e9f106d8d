"""Threads that a worker process may start, within RLIMIT_NPROC and the cgroups' pids.max.

A thread that cannot be started would end a worker, and the answers of its paid calls with it.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from portal.system.open_file_limits import BLOCKING_THREADS, PANEL_THREADS

# Measured: 6 threads of an idle worker, then the lease's heartbeat, name look-ups and breakers; 3
# of the main process, which also starts replacements.
_WORKER_RESERVE = 20
_MAIN_RESERVE = 8
_MINIMUM = 4
_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")


class TooFewThreads(Exception):
    """The limits allow no portal. The text is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of a worker that serve requests, and those that make a page's lookups."""

    blocking: int
    panels: int

    def __str__(self) -> str:
        return f"{self.blocking} {self.panels}"


FULL_THREADS = Threads(BLOCKING_THREADS, PANEL_THREADS)


def read_threads(text: str) -> Threads:
    """Return what ``str`` made of Threads, FULL_THREADS from an empty text."""
    return Threads(*map(int, text.split())) if text else FULL_THREADS


def share_threads(free: int | None, workers: int) -> Threads:
    """Return a worker's share of the free threads, None for any number.

    One share more than workers is kept free, because during a reload a new worker runs beside the
    one it replaces. Raises TooFewThreads.
    """
    if free is None:
        return FULL_THREADS
    shares = workers + 1
    share = (free - _MAIN_RESERVE) // shares - _WORKER_RESERVE
    if share < 2 * _MINIMUM:
        needed = _MAIN_RESERVE + shares * (_WORKER_RESERVE + 2 * _MINIMUM)
        raise TooFewThreads(
            f"{free} more threads are allowed (ulimit -u, pids.max), {needed} are needed for "
            f"{workers} workers"
        )
    # A page holds one thread of the first kind and up to four of the second.
    blocking = min(BLOCKING_THREADS, max(_MINIMUM, share // 2))
    return Threads(blocking, min(PANEL_THREADS, share - blocking))


def free_threads() -> int | None:
    """Return how many threads this process's user and cgroups may start, None for any number."""
    found = [free for free in (_free_of_user(), *_free_of_cgroups()) if free is not None]
    return min(found, default=None)


def _free_of_user() -> int | None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    # The kernel exempts root. Other systems count processes, not threads.
    if os.getuid() == 0 or not _PROC.joinpath("self/status").exists():
        return None
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
            soft = hard
    return None if soft == resource.RLIM_INFINITY else max(0, soft - _threads_of_user())


def _threads_of_user() -> int:
    user, threads = str(os.getuid()), 0
    for status in _PROC.glob("[0-9]*/status"):
        with suppress(OSError, ValueError, KeyError):
            lines = (line.partition(":") for line in status.read_text().splitlines())
            fields = {name: value.split() for name, _, value in lines}
            threads += int(fields["Threads"][0]) if fields["Uid"][0] == user else 0
    return threads


def _free_of_cgroups() -> Iterator[int]:
    """Yield what each cgroup from this process's up to the root still allows."""
    for directory in cgroup_directories(_read(_PROC / "self/cgroup"), _CGROUPS):
        with suppress(ValueError):  # "max"
            allowed = int(_read(directory / "pids.max"))
            yield max(0, allowed - int(_read(directory / "pids.current")))


def cgroup_directories(memberships: str, root: Path) -> Iterator[Path]:
    """Yield the directories of the pids controller, the innermost first.

    ``memberships`` is the text of /proc/self/cgroup: "0::/path" (version 2) or "8:pids:/path".
    """
    for line in memberships.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base = root
        elif "pids" in controllers.split(","):
            base = root / "pids"
        else:
            continue
        inside = Path(path.lstrip("/"))
        yield from (base / each for each in (inside, *inside.parents))


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
