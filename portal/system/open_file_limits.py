"""Computes from the open-file limit how many connections and lookups a worker may have."""

import resource
from dataclasses import dataclass

from portal.system.start_refused import StartRefused

# The number of threads with which a worker serves requests. The number is high, so that requests
# with cached answers find a free thread while many lookups hang.
BLOCKING_THREADS = 600
# The number of threads with which a worker looks up the data of pages.
PANEL_THREADS = 1024
# The length of the listening socket's queue, and the largest number of a worker's connections.
BACKLOG = 4096

# Open files of a worker. An idle worker has 36 open files (measured). _IDLE_FILES also has a
# reserve of 20 for short-lived files. A worker has at most 16 connections to the SQLite database
# and 64 to the SQLite cache. Each connection opens two files, the data and the write-ahead log. The
# files of closed connections count too, because SQLite keeps them open while the process holds a
# lock on the data.
_IDLE_FILES = 56
_DATABASE_FILES = 2 * (16 + 64) + 4
# The largest number of a worker's spare connections to each of the upstream's two base addresses.
# The batch process may have more of them, but it serves no clients.
MOST_SPARES = 4
_SPARE_FILES = 2 * MOST_SPARES
_FILES_PER_LOOKUP = 2  # the lookup's lock file, and the connection to the upstream
_FIXED_FILES = _IDLE_FILES + _DATABASE_FILES + _SPARE_FILES
_MINIMUM = 8
_UNLIMITED = 1 << 20
_MACOS_LIMIT = 10_240  # OPEN_MAX; macOS refuses a higher limit, although its hard limit is infinite


@dataclass(frozen=True, slots=True)
class Capacity:
    """The numbers of client connections and upstream lookups that a worker may have at once."""

    connections: int
    lookups: int

    @property
    def open_files(self) -> int:
        return _FIXED_FILES + self.connections + _FILES_PER_LOOKUP * self.lookups


FULL_CAPACITY = Capacity(BACKLOG, BLOCKING_THREADS + PANEL_THREADS)


MINIMUM_CAPACITY = Capacity(_MINIMUM, _MINIMUM)


def require_open_files() -> None:
    """Raise StartRefused if the limit of open files is too low for MINIMUM_CAPACITY."""
    if open_files_limit() < MINIMUM_CAPACITY.open_files:
        raise StartRefused(
            f"{open_files_limit()} open files are allowed (ulimit -n), "
            f"{MINIMUM_CAPACITY.open_files} are needed"
        )


def capacity() -> Capacity:
    """Return the capacity that the limit of open files allows, at most FULL_CAPACITY.

    The idle process, the database, the cache and spare connections need a fixed number of files.
    Lookups may use at most half of the remaining files, so that clients can still connect while
    lookups hang.
    """
    remaining = open_files_limit() - _FIXED_FILES
    lookups = max(_MINIMUM, min(FULL_CAPACITY.lookups, remaining // 2 // _FILES_PER_LOOKUP))
    return Capacity(
        max(_MINIMUM, min(FULL_CAPACITY.connections, remaining - _FILES_PER_LOOKUP * lookups)),
        lookups,
    )


def open_files_limit() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _UNLIMITED if soft == resource.RLIM_INFINITY else soft


def raise_open_files_limit() -> None:
    """Raise the soft limit of open files to the hard limit, as far as the system allows.

    Child processes inherit the limit. The import of Granian 2.8 raises the limit too, but this side
    effect is undocumented, and the portal does not rely on it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    for wanted in (hard, _MACOS_LIMIT):
        if wanted != resource.RLIM_INFINITY and wanted < soft:
            continue
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            continue
        return
