"""A PostgreSQL server of the test's own; skips where none is installed or may be started."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.fakes import free_port

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _program(name: str) -> str:
    for place in (*_PLACES, None):
        if found := shutil.which(name, path=str(place) if place else None):
            return found
    pytest.skip(f"{name} is not installed")


class PostgresProcess:
    """``url`` opens an empty database over TCP on the loopback address."""

    def __init__(self) -> None:
        self.port = free_port()
        self._initdb, self._pg_ctl = _program("initdb"), _program("pg_ctl")
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True)
        self._data = Path(self._folder.name) / "data"
        self._running = False

    @property
    def url(self) -> str:
        return f"postgresql://portal@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(self._folder.name, "nobody")
        made = self._run(self._initdb, "-D", str(self._data), "-U", "portal", "-A", "trust", "-N")
        settings = f"-p {self.port} -h 127.0.0.1 -k {self._folder.name} -F"
        log = str(Path(self._folder.name) / "log")
        started = made and self._run(
            self._pg_ctl, "-D", str(self._data), "-o", settings, "-l", log, "-w", "start"
        )
        if not started:
            self._folder.cleanup()
            pytest.skip("PostgreSQL could not be started here")
        self._running = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._running:
            self._run(self._pg_ctl, "-D", str(self._data), "-m", "immediate", "-w", "stop")
        self._folder.cleanup()

    def _run(self, *command: str) -> bool:
        as_nobody = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
        done = subprocess.run(
            command, cwd="/", capture_output=True, timeout=60, check=False, **as_nobody
        )
        return done.returncode == 0
