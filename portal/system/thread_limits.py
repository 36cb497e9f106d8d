"""Computes how many threads a worker may start, from RLIMIT_NPROC and the cgroups' pids.max.

A worker that cannot start a thread exits, and loses the answers to its paid calls in progress.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from portal.system.open_file_limits import BLOCKING_THREADS, PANEL_THREADS
from portal.system.start_refused import StartRefused

# Threads that serve no request. An idle worker has 6 such threads. A worker starts more of them to
# renew leases (locks on lookups), to resolve host names, to open spare connections (at most 8), and
# to ping Redis or the database after a failure. The main process has 3 threads, and starts more
# while it replaces workers.
_WORKER_RESERVE = 20
_MAIN_RESERVE = 8
_MINIMUM = 4
_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Threads:
    """The numbers of a worker's threads.

    ``blocking`` threads serve requests, and ``panels`` threads look up data for pages.
    """

    blocking: int
    panels: int

    def __str__(self) -> str:
        return f"{self.blocking} {self.panels}"


FULL_THREADS = Threads(BLOCKING_THREADS, PANEL_THREADS)


def read_threads(text: str) -> Threads:
    """Parse the ``str()`` of a Threads object. Return FULL_THREADS for an empty text."""
    return Threads(*map(int, text.split())) if text else FULL_THREADS


def share_threads(free: int | None, workers: int) -> Threads:
    """Return each worker's share of the free threads.

    ``free`` is None if there is no limit. The threads are divided into ``workers`` + 1 shares,
    because during a reload a new worker runs beside the old worker. Raises StartRefused if the
    limits of threads are too low.
    """
    if free is None:
        return FULL_THREADS
    shares = workers + 1
    share = (free - _MAIN_RESERVE) // shares - _WORKER_RESERVE
    if share < 2 * _MINIMUM:
        needed = _MAIN_RESERVE + shares * (_WORKER_RESERVE + 2 * _MINIMUM)
        raise StartRefused(
            f"{free} more threads are allowed (ulimit -u, pids.max), {needed} are needed for "
            f"{workers} workers"
        )
    # A page uses one blocking thread and up to four panel threads, so at least half of the share is
    # for panel threads.
    blocking = min(BLOCKING_THREADS, max(_MINIMUM, share // 2))
    return Threads(blocking, min(PANEL_THREADS, share - blocking))


def free_threads() -> int | None:
    """Return how many more threads this process may start, or None if there is no limit."""
    limits = [free for free in (_free_of_user(), *_free_of_cgroups()) if free is not None]
    return min(limits, default=None)


def _free_of_user() -> int | None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    # The kernel does not limit root's threads. A system without /proc is not Linux, and on such a
    # system RLIMIT_NPROC limits processes, not threads.
    if os.getuid() == 0 or not _PROC.joinpath("self/status").exists():
        return None
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
            soft = hard
    if soft == resource.RLIM_INFINITY:
        return None
    user, threads = str(os.getuid()), 0
    for status in _PROC.glob("[0-9]*/status"):
        with suppress(OSError, ValueError, KeyError):
            lines = (line.partition(":") for line in status.read_text().splitlines())
            fields = {name: value.split() for name, _, value in lines}
            threads += int(fields["Threads"][0]) if fields["Uid"][0] == user else 0
    return max(0, soft - threads)


def _free_of_cgroups() -> Iterator[int]:
    """Yield how many more threads this process's cgroup and each of its parents allow."""
    with suppress(OSError):
        for directory in cgroup_directories((_PROC / "self/cgroup").read_text(), _CGROUPS):
            with suppress(OSError, ValueError):  # "max" means no limit
                allowed = int((directory / "pids.max").read_text())
                yield max(0, allowed - int((directory / "pids.current").read_text()))


def cgroup_directories(memberships: str, root: Path) -> Iterator[Path]:
    """Yield the directories of the cgroups that limit threads, the innermost first.

    ``memberships`` is the text of /proc/self/cgroup, with lines such as "0::/path" (cgroup version
    2) or "8:pids:/path" (version 1).
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
        yield from (base / folder for folder in (inside, *inside.parents))
