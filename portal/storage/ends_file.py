"""The journal of ends in the data directory (``portal.storage.ends``): a JSON object a line."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from portal.storage.ends import KEPT_S, End

NAME: Final = "ends.jsonl"


class _Line(msgspec.Struct, frozen=True):
    """An end of the database with the id ``database``, which a restored database keeps."""

    database: str
    end: End


class EndsFile:
    """The ends of the database with the id ``database``. A file may have those of several."""

    def __init__(self, path: Path, database: str, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._database = database
        self._clock = clock

    @property
    def name(self) -> str:
        return str(self._path)

    def read(self) -> Sequence[End]:
        """Return the ends, and none if there is no file. Raises OSError."""
        return [line.end for line in self._lines() if line.database == self._database]

    def add(self, ends: Sequence[End]) -> None:
        """Add ends, and drop those that are older than KEPT_S. Raises OSError."""
        with self._locked():
            kept = [line for line in self._lines() if line.end.at > self._clock() - KEPT_S]
            known = {line.end.id for line in kept}
            kept += [_Line(self._database, end) for end in ends if end.id not in known]
            draft = self._beside(".new")
            written = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(written, "wb") as file:
                file.writelines(msgspec.json.encode(line) + b"\n" for line in kept)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)

    def _lines(self) -> Iterator[_Line]:
        with suppress(FileNotFoundError):
            for line in self._path.read_bytes().splitlines():
                # A later version may note ends of other kinds.
                with suppress(msgspec.DecodeError):
                    yield msgspec.json.decode(line, type=_Line)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Wait until no other process writes the file."""
        lock = os.open(self._beside(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):  # the file system has no locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _beside(self, ending: str) -> Path:
        return self._path.with_name(f"{self._path.name}{ending}")
