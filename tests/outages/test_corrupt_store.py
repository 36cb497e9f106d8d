"""A process that finds cache.sqlite corrupt sets it aside and creates a new one."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.effort import long
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.processes import PortalProcess
from tests.outages.stored import PLATE, is_stored, lookup, serving

pytestmark = pytest.mark.long

Damage = Callable[[Path], None]


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with serving(upstream) as running:
        yield running


def broken_files(server: PortalProcess) -> list[str]:
    names = [path.name for path in server.data_dir.glob("cache.sqlite.broken-*")]
    return [name for name in names if not name.endswith(("-wal", "-shm"))]


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(file.stat().st_size))


def wrong_header(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"SQLite format 9\0")


def cut(file: Path) -> None:
    """Keep half of the SQLite pages. Some of them refer to lost pages."""
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 8192 * 4096)


def scrambled(file: Path) -> None:
    """Overwrite every page but the first."""
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(os.urandom(file.stat().st_size - 4096))


def expect_recovery(server: PortalProcess) -> None:
    """Check that one file was set aside and logged once, and that storing and purging work."""
    assert {lookup(server, f"ABC1D{number:02}").status for number in range(60)} == {200}
    assert len(broken_files(server)) == 1
    assert server.output.count("cache.sqlite is corrupt") == 1
    assert is_stored(server, "ABC1D07") == {True}
    assert server.get("/readyz").status_code == 200
    done = server.command_line("purge", "ABC1D07")
    assert done.returncode == 0, done.stderr
    assert "Deleted cache.sqlite.broken-" in done.stdout
    assert list(server.data_dir.glob("cache.sqlite.broken-*")) == []
    wait_until(lambda: is_stored(server, "ABC1D07") == {False}, "the purge in every worker", 2)


@pytest.mark.parametrize("damage", [garbage, *long(wrong_header, cut, scrambled)])
def test_corrupt_store_is_set_aside_at_the_start(server: PortalProcess, damage: Damage) -> None:
    for number in range(60):
        lookup(server, f"XYZ1A{number:02}")
    server.stop()
    with closing(sqlite3.connect(server.data_dir / "cache.sqlite")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else the WAL would hold intact pages
    damage(server.data_dir / "cache.sqlite")
    server.start()
    expect_recovery(server)


@pytest.mark.parametrize("damage", [scrambled, *long(garbage)])
def test_corrupt_store_is_set_aside_at_run_time(server: PortalProcess, damage: Damage) -> None:
    for number in range(60):
        lookup(server, f"XYZ1A{number:02}")
    with closing(sqlite3.connect(server.data_dir / "cache.sqlite")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damage(server.data_dir / "cache.sqlite")
    workers = server.worker_pids()
    expect_recovery(server)
    assert server.worker_pids() == workers


def test_purge_sets_a_corrupt_store_aside_and_deletes_it(server: PortalProcess) -> None:
    lookup(server, PLATE)
    server.stop()
    garbage(server.data_dir / "cache.sqlite")
    done = server.command_line("purge", PLATE)
    assert done.returncode == 0, done.stderr
    assert list(server.data_dir.glob("cache.sqlite.broken-*")) == []
