"""Empty databases of both kinds that the portal supports: SQLite and PostgreSQL.

The PostgreSQL server belongs to the test run. A test that uses it is skipped where PostgreSQL is
not installed or cannot be started.
"""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import pytest
from sqlalchemy import create_engine

from portal.storage.database import Database
from portal.storage.opening import open_database
from tests.fakes import tiers
from tests.fakes.closing import closed_later
from tests.fakes.ports import free_port

KINDS = ("sqlite", pytest.param("postgresql", marks=(pytest.mark.slow, pytest.mark.long)))
_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@contextmanager
def opened(url: str | None, folder: Path, required: bool = True) -> Iterator[Database]:
    """Yield the database of a portal and dispose it afterwards.

    Otherwise, connections that a failed test leaves open make psycopg warn in a later test.
    """
    database = open_database(url, folder, required)
    try:
        yield database
    finally:
        database.dispose()


def kept_open(url: str | None, folder: Path) -> Database:
    """Return a database that is disposed at the end of the test."""
    return closed_later(open_database(url, folder), Database.dispose)


@dataclass(frozen=True, slots=True)
class EmptyDatabase:
    """An empty database that other processes can open too.

    If ``url`` is None, the database is an SQLite file in ``folder``.
    """

    url: str | None
    folder: Path

    def open(self) -> Database:
        """Return a database that is disposed at the end of the test."""
        return kept_open(self.url, self.folder)


class PostgresProcess:
    """A PostgreSQL server on a loopback port. A restart keeps the port and the data."""

    def __init__(self) -> None:
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        self.port = free_port()
        self._pg_ctl = _program("pg_ctl")
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True)
        self._data = Path(self._folder.name) / "data"

    @property
    def default_url(self) -> str:
        """The URL without a time-out, so that the portal's own time-out applies."""
        return f"postgresql://portal@127.0.0.1:{self.port}/postgres"

    @property
    def url(self) -> str:
        """The URL with a connect time-out of 60 s, for slow or busy machines."""
        return self._address("postgres")

    @property
    def pid(self) -> int:
        """The process id of the server's main process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    @property
    def log(self) -> Path:
        """The file of the server's log."""
        return Path(self._folder.name) / "log"

    @property
    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def new_database(self) -> str:
        """Create an empty database and return its URL."""
        name = f"test_{uuid.uuid4().hex}"
        address = self.url.replace("postgresql://", "postgresql+psycopg://")
        database = create_engine(address, isolation_level="AUTOCOMMIT")
        with database.engine.connect() as db:
            db.exec_driver_sql(f'CREATE DATABASE "{name}"')
        database.dispose()
        return self._address(name)

    def dump(self, url: str) -> bytes:
        """Return a dump of the database at ``url``, as ``pg_dump --format=custom`` makes it."""
        return self._client("pg_dump", url, "--format=custom")

    def restore(self, url: str, dump: bytes, *options: str) -> None:
        self._client("pg_restore", url, "--no-owner", *options, stdin=dump)

    def _client(
        self, program: Literal["pg_dump", "pg_restore"], url: str, *options: str, stdin: bytes = b""
    ) -> bytes:
        command = [_program(program), *options, f"--dbname={url}"]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> Self:
        tiers.require("slow")
        settings = f"-p {self.port} -h 127.0.0.1 -k {self._folder.name} -F"
        if not self._control("-o", settings, "-l", str(self.log), "start"):
            pytest.skip("PostgreSQL could not be started here")
        return self

    def stop(self) -> None:
        """Stop as in a crash, which ends every connection at once."""
        self._control("-m", "immediate", "stop")

    def pause(self) -> None:
        """Suspend the server. Connections stay open but get no answer until ``resume``."""
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
        empty = _empty_data_directory()
        if empty is None or not _run("cp", "-R", str(empty), str(self._data)):
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
            self.resume()  # a suspended server would not handle the stop signal
            self.stop()
        self._folder.cleanup()

    def _address(self, database: str) -> str:
        return f"postgresql://portal@127.0.0.1:{self.port}/{database}?connect_timeout=60"

    def _control(self, *words: str) -> bool:
        return _run(self._pg_ctl, "-D", str(self._data), "-w", *words)


@cache
def _empty_data_directory() -> Path | None:
    """Return a data directory for servers to copy, or None if initdb fails.

    A copy takes a tenth of initdb's processor time.
    """
    directory = tempfile.TemporaryDirectory(prefix="initdb-", ignore_cleanup_errors=True)
    atexit.register(directory.cleanup)
    if os.geteuid() == 0:
        shutil.chown(directory.name, "nobody")
    data = Path(directory.name) / "data"
    options = ("-U", "portal", "-A", "trust", "-N", "--wal-segsize=1")
    return data if _run(_program("initdb"), "-D", str(data), *options) else None


def _run(*command: str) -> bool:
    """Run a command, but never as root; return whether its exit code is 0."""
    is_root = os.geteuid() == 0
    done = subprocess.run(
        command,
        cwd="/",
        capture_output=True,
        timeout=60,
        check=False,
        user="nobody" if is_root else None,
        group="nogroup" if is_root else None,
    )
    return done.returncode == 0


def _program(name: Literal["initdb", "pg_ctl", "pg_dump", "pg_restore"]) -> str:
    for place in (*_PLACES, None):
        if found := shutil.which(name, path=str(place) if place else None):
            return found
    pytest.skip(f"{name} is not installed")
