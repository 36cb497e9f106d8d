"""The two kinds of database that the portal keeps its tables in, each empty when a test gets it.

The PostgreSQL server is the test run's own; whoever asks for it skips where none is installed or
may be started.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import pytest
from sqlalchemy import Engine, create_engine

from portal.storage import open_engine
from tests.fakes.closing import closed_later
from tests.fakes.ports import free_port

KINDS = ("sqlite", "postgresql")
_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@contextmanager
def opened(url: str | None, folder: Path, required: bool = True) -> Iterator[Engine]:
    """An engine for as long as a test lasts: what a failed test left open, psycopg would
    complain of in the midst of another."""
    engine = open_engine(url, folder, required)
    try:
        yield engine
    finally:
        engine.dispose()


def kept_open(url: str | None, folder: Path) -> Engine:
    """An engine until the test ends."""
    return closed_later(open_engine(url, folder), Engine.dispose)


@dataclass(frozen=True, slots=True)
class Database:
    """An empty database; other processes open the same one. ``url`` None: SQLite in ``folder``."""

    url: str | None
    folder: Path

    def open(self) -> Engine:
        """Until the test ends."""
        return kept_open(self.url, self.folder)


class PostgresProcess:
    """A server on a loopback port; ``stop`` and ``start`` again keep the port and the data."""

    def __init__(self) -> None:
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        self.port = free_port()
        self._initdb, self._pg_ctl = _program("initdb"), _program("pg_ctl")
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True)
        self._data = Path(self._folder.name) / "data"

    @property
    def url(self) -> str:
        return self._address("postgres")

    @property
    def pid(self) -> int:
        """Of the server's main process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    @property
    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"test_{uuid.uuid4().hex}"
        address = self.url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        with engine.connect() as db:
            db.exec_driver_sql(f'CREATE DATABASE "{name}"')
        engine.dispose()
        return self._address(name)

    def start(self) -> Self:
        settings = f"-p {self.port} -h 127.0.0.1 -k {self._folder.name} -F"
        log = str(Path(self._folder.name) / "log")
        if not self._control("-o", settings, "-l", log, "start"):
            pytest.skip("PostgreSQL could not be started here")
        return self

    def stop(self) -> None:
        """As a crash: every connection ends at once."""
        self._control("-m", "immediate", "stop")

    def pause(self) -> None:
        """Connected and silent: the kernel takes what is sent, nobody answers until ``resume``."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False
        ).stdout.splitlines()
        family = (tuple(map(int, line.split())) for line in listed)
        for pid in (self.pid, *(pid for pid, parent in family if parent == self.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def __enter__(self) -> Self:
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(self._folder.name, "nobody")
        if not self._run(self._initdb, "-D", str(self._data), "-U", "portal", "-A", "trust", "-N"):
            self._folder.cleanup()
            pytest.skip("PostgreSQL could not be set up here")
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_running:
            self.resume()  # a stopped process would not see its end coming
            self.stop()
        self._folder.cleanup()

    def _address(self, database: str) -> str:
        return f"postgresql://portal@127.0.0.1:{self.port}/{database}"

    def _control(self, *words: str) -> bool:
        return self._run(self._pg_ctl, "-D", str(self._data), "-w", *words)

    def _run(self, *command: str) -> bool:
        as_nobody = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
        done = subprocess.run(
            command, cwd="/", capture_output=True, timeout=60, check=False, **as_nobody
        )
        return done.returncode == 0


def _program(name: Literal["initdb", "pg_ctl"]) -> str:
    for place in (*_PLACES, None):
        if found := shutil.which(name, path=str(place) if place else None):
            return found
    pytest.skip(f"{name} is not installed")
