"""Removes the bytes of deleted rows from SQLite's write-ahead log (WAL) and pages.

``secure_delete`` overwrites a deleted row and a freed page with zeros. It does not overwrite the
copies that SQLite leaves when it balances a B-tree: SQLite moves rows to another page, and keeps
the old bytes in the unallocated space of the page (``rebuildPage`` in btree.c). In a test, 1 to 15
of 500 deleted vehicles were still found there. ``DeletedBytes`` overwrites this space.
"""

import contextlib
import os
import re
import sqlite3
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

# The settings of every connection to the database and to the cache. ``secure_delete`` overwrites
# deleted rows with zeros.
PRAGMAS = ("synchronous = NORMAL", "secure_delete = ON")
CHECKPOINT_TRIES = 40
CHECKPOINT_PAUSE_S = 0.02
# Other writers wait while a part of the file with this many bytes is searched and overwritten.
PART_BYTES = 16 * 1024 * 1024
_LOCK_WAIT_S = 1.0
# Seconds between two parts. Waiting writers poll for SQLite's lock with growing pauses.
_PAUSE_S = 0.03
# The size of a B-tree page's header by the page's type, which is the first byte of the page. Any
# other page (overflow or free) begins with a page number of four bytes, in a file of less than
# 2^25 pages thus with 0 or 1.
_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
_B_TREE = re.compile(b"[%s]" % re.escape(bytes(_HEADER_BYTES)))
_MOST_PAGES = 1 << 25


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


def file_uri(path: Path, mode: str) -> str:
    """Return the URI with which SQLite opens an existing file, in the mode "rw" or "ro"."""
    return f"file:{quote(str(path))}?mode={mode}"


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file at ``path``, or None if stat(2) fails."""
    try:
        status = os.stat(path)  # noqa: PTH116 called for every read; twice as fast as Path.stat
    except OSError:
        return None
    return status.st_dev, status.st_ino


class DeletedBytes:
    """Overwrites the bytes that deleted rows have left in a SQLite file.

    The file stays open until ``close``. When a process closes any descriptor of a file, the process
    loses all its POSIX locks on the file, including SQLite's
    (https://sqlite.org/howtocorrupt.html, section 2.2). The caller must therefore close all
    connections to the file before it calls ``close``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def overwrite(self) -> bool:
        """Empty the WAL, and overwrite the unallocated space of every page with zeros.

        Other writers wait only while PART_BYTES of the file are searched and overwritten. In a file
        with 2.1 GB of dossiers, beside 100 calls a second, the method took 2 to 3 s, and no call's
        row waited longer than 0.1 s. Returns False if a reader or a writer prevents this. Raises
        sqlite3.Error or OSError.
        """
        identity = file_identity(self._path)
        # Use a separate connection. A connection notices that pages in its cache have changed if
        # another connection commits, but not if it commits itself.
        address = file_uri(self._path, "rw")
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_LOCK_WAIT_S)
        with contextlib.closing(db):
            if not empty_log(db):
                return False
            file = self._open_file()
            is_large = os.fstat(file).st_size > PART_BYTES
            for position in range(0, os.fstat(file).st_size, PART_BYTES):
                # Most parts of a large file have only encrypted content, which is never moved.
                if is_large and not _remains(file, position):
                    continue
                with self._alone(db) as is_alone:
                    # The file may have been replaced by a new one, which the lock does not protect.
                    if not is_alone or file_identity(self._path) != identity:
                        return False
                    if remains := _remains(file, position):
                        for first, size in remains:
                            os.pwrite(file, bytes(size), first)
                        # A commit makes other connections read the changed pages again.
                        (version,) = db.execute("PRAGMA user_version").fetchone()
                        db.execute(f"PRAGMA user_version = {(version + 1) % 2**31}")
                if is_large:
                    time.sleep(_PAUSE_S)
            os.fdatasync(file)
            return empty_log(db)

    @contextlib.contextmanager
    def _alone(self, db: sqlite3.Connection) -> Iterator[bool]:
        """Hold SQLite's write lock while the WAL is empty. Yield False if that fails.

        Every page is then in the file, and no connection has a changed page that it could write.
        """
        log = self._path.with_name(f"{self._path.name}-wal")
        for _ in range(CHECKPOINT_TRIES):
            db.execute("BEGIN IMMEDIATE")
            try:
                if not log.exists() or not log.stat().st_size:
                    yield True
                    db.execute("COMMIT")
                    return
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            if not empty_log(db, tries=1):
                time.sleep(CHECKPOINT_PAUSE_S)
        yield False

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
        self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        return self._file


def _remains(file: int, position: int) -> list[tuple[int, int]]:
    """Return where unallocated space in a part of the file is not zero: positions and sizes."""
    head = os.pread(file, 100, 0)
    page_bytes = int.from_bytes(head[16:18]) if head[16:18] != b"\0\1" else 65536
    if os.fstat(file).st_size >= page_bytes * _MOST_PAGES:
        raise OSError("the file is too large")
    part, zeros, holes = os.pread(file, PART_BYTES, position), bytes(page_bytes), []
    # The pattern finds no first page of a file, which has the schema, but no data.
    for type_byte in _B_TREE.finditer(part[::page_bytes]):
        page = type_byte.start() * page_bytes
        first, end = _unallocated(part, page, page_bytes)
        # Most pages have zeros there. Only the others are examined further, which takes longer.
        if part[first:end] != zeros[: end - first] and _fits(part, page, end):
            holes.append((position + first, end - first))
    return holes


def _unallocated(part: bytes, page: int, page_bytes: int) -> tuple[int, int]:
    """Return where the unallocated space of a B-tree page begins and ends.

    It lies between the cell pointers and the cells (https://sqlite.org/fileformat2.html, section
    1.6). Returns an empty range for a page with an inconsistent header.
    """
    block, cells, start = struct.unpack_from(">HHH", part, page + 1)
    start = start or 65536
    first, end = page + _HEADER_BYTES[part[page]] + 2 * cells, page + start
    fits = first <= end <= page + page_bytes and (not block or block >= start)
    return (first, end) if fits else (page, page)


def _fits(part: bytes, page: int, end: int) -> bool:
    """Return whether no cell pointer leads into the unallocated space that ends at ``end``."""
    (cells,) = struct.unpack_from(">H", part, page + 3)
    pointers = struct.unpack_from(f">{cells}H", part, page + _HEADER_BYTES[part[page]])
    return min(pointers, default=end - page) >= end - page
