"""Removes the bytes of deleted rows from SQLite's write-ahead log and pages."""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

# The settings of every connection to the database and to the cache. ``secure_delete`` overwrites
# deleted rows with zeros.
PRAGMAS = ("synchronous = NORMAL", "secure_delete = ON")
CHECKPOINT_TRIES = 40
CHECKPOINT_PAUSE_S = 0.02
_CHUNK = 4 * 1024 * 1024


def empty_log(db: sqlite3.Connection, tries: int = CHECKPOINT_TRIES) -> bool:
    """Checkpoint and truncate the write-ahead log. Return whether the log was truncated.

    The function waits for readers that prevent the truncation, by default at most 0.8 s. The
    function polls and sets ``busy_timeout`` to 0, because SQLite's own busy handler would hold the
    write lock while it waits.
    """
    (busy_timeout,) = db.execute("PRAGMA busy_timeout").fetchone()
    db.execute("PRAGMA busy_timeout = 0")
    try:
        for attempt in range(tries):
            if attempt:
                time.sleep(CHECKPOINT_PAUSE_S)
            # Run PASSIVE first. PASSIVE writes to the disk without the write lock. TRUNCATE, which
            # holds the lock, then has little work left.
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return True
        return False
    finally:
        db.execute(f"PRAGMA busy_timeout = {busy_timeout}")


def leave_no_trace(db: sqlite3.Connection, pages: "PageSearch", traces: Sequence[bytes]) -> bool:
    """Remove the remains of deleted rows from the write-ahead log and the pages.

    When SQLite balances a B-tree, it moves rows between pages and does not clear the old copies
    (``rebuildPage`` in btree.c), even with ``secure_delete``. In a test, 1 to 15 of 500 deleted
    vehicles were still found in the file. Only VACUUM removes these copies. ``traces`` are byte
    strings that identify the deleted rows. VACUUM runs only if the file contains one of the traces.

    Returns False if a reader, a writer or a full disk prevents the removal.
    """
    if not empty_log(db):
        return False
    if not pages.hold(traces):
        return True
    try:
        db.execute("VACUUM")
    except sqlite3.OperationalError:
        return False
    return empty_log(db)


class PageSearch:
    """Searches a SQLite file for bytes.

    The file stays open until ``close``. When a process closes any descriptor of a file, the process
    loses all its POSIX locks on the file, including SQLite's
    (https://sqlite.org/howtocorrupt.html, section 2.2). The caller must therefore close all
    connections to the file before it calls ``close``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def hold(self, traces: Sequence[bytes]) -> bool:
        """Return whether any of the byte strings in ``traces`` is in the file."""
        if not traces:
            return False
        wanted = re.compile(b"|".join(map(re.escape, traces)))
        overlap = max(map(len, traces)) - 1
        file, position, before = self._open_file(), 0, b""
        while chunk := os.pread(file, _CHUNK, position):
            if wanted.search(before + chunk):
                return True
            before = chunk[-overlap:] if overlap else b""
            position += len(chunk)
        return False

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open_file(self) -> int:
        if self._file is not None:
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), self._path.stat()):
                    return self._file
            self.close()  # closing is safe, because no connection to the old file is open
        self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return self._file
