"""How much a worker process does at once, within the system's limit of open files."""

import resource
from dataclasses import dataclass

# Threads a worker: more than the lookups that may hang in it, so that hits never queue behind.
BLOCKING_THREADS = 600
PANEL_THREADS = 1024
BACKLOG = 4096

# Open files of a worker, measured. Idle: 36, and some for what is opened in passing. Databases:
# 80 connections to the ledger and 64 to the cache, each with its log. SQLite keeps a closed
# connection's file open while the process holds a lock on it, so these numbers are reached once
# and stay.
_IDLE = 64
_DATABASES = 2 * (80 + 64) + 4
_A_LOOKUP = 2  # its lease and its connection to the upstream
_FEWEST = 8
_UNLIMITED = 1 << 20
_MACOS_MOST = 10_240  # OPEN_MAX: macOS refuses more, although its hard limit is infinite


@dataclass(frozen=True, slots=True)
class Capacity:
    """Client connections and upstream lookups that a worker may have at a time."""

    connections: int
    lookups: int

    @property
    def open_files(self) -> int:
        return _IDLE + _DATABASES + self.connections + _A_LOOKUP * self.lookups


MOST = Capacity(BACKLOG, BLOCKING_THREADS + PANEL_THREADS)


def capacity() -> Capacity:
    """What this process's limit of open files allows, at most MOST.

    The idle process and its databases come first. Half of the rest is for connections, so that
    lookups that hang never take all of them from hits.
    """
    left = open_files_limit() - _IDLE - _DATABASES
    lookups = max(_FEWEST, min(MOST.lookups, left // 2 // _A_LOOKUP))
    return Capacity(max(_FEWEST, min(MOST.connections, left - _A_LOOKUP * lookups)), lookups)


def open_files_limit() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _UNLIMITED if soft == resource.RLIM_INFINITY else soft


def raise_open_files_limit() -> None:
    """Raise the soft limit to the hard one, as far as the system allows. Child processes
    inherit it. Importing Granian 2.8 does the same, but does not document it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    for wanted in (hard, _MACOS_MOST):
        if wanted != resource.RLIM_INFINITY and wanted < soft:
            continue
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            continue
        return
