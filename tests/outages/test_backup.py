"""Backups made while a server writes, and restored into a new data directory."""

import csv
import fcntl
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, in_turn
from tests.outages.test_dossiers import issue
from tests.outages.visitor import signed_in

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}
ONLY_IF_CACHED = {**HEADER, "Cache-Control": "only-if-cached"}
PLATES = [f"ABC{at // 100}D{at % 100:02}" for at in range(80)]
LATER = [f"KLM{at // 100 % 10}{chr(65 + at // 1000)}{at % 100:02}" for at in range(20_000)]


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url)) as running:
        yield running


def asks(plates: list[str], headers: dict[str, str] = HEADER) -> list[Ask]:
    return [Ask(path_of("decode", plate), headers) for plate in plates]


def succeeded(server: PortalProcess, *words: str) -> str:
    done = server.command_line(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(server: PortalProcess, reason: str, *words: str) -> None:
    done = server.command_line(*words)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.count("\n") == 1
    assert reason in done.stderr


def ledger_of(server: PortalProcess) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(succeeded(server, "ledger", "--csv"))))


def test_everything_paid_returns_after_the_data_directory_is_lost(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    token = succeeded(server, "token", "issue", "ana").splitlines()[-1]
    link = issue(server)
    paper = server.get(f"{link}.pdf").content
    made = server.post("/api/v1/batches", json={"plates": PLATES[:3]}, headers=HEADER).json()
    assert {each.status for each in in_turn(server.port, asks(PLATES), 16)} == {200}

    upstream.default(faults.slow_first_byte(0.05))
    before, file = upstream.count(), tmp_path / "backup"
    done, later = threading.Event(), iter(LATER)

    def write() -> None:
        while not done.is_set() or upstream.count() < during + 10:
            assert in_turn(server.port, asks([next(later)]), 1)[0].status == 200

    during = before
    with ThreadPoolExecutor(4) as writers:
        writing = [writers.submit(write) for _ in range(4)]
        upstream.wait_for_calls(before + 10)
        printed = succeeded(server, "backup", str(file))
        during = upstream.count()
        done.set()
        for each in writing:
            each.result()
    assert printed.startswith("Backed up cache.sqlite, portal.sqlite, secret_key (")
    assert during < upstream.count()  # lookups continued after the backup
    refused(server, "exists", "backup", str(file))
    refused(server, "a portal is using", "restore", str(file))
    ledger = ledger_of(server)

    server.stop()
    shutil.rmtree(server.data_dir)
    assert "Restored cache.sqlite, portal.sqlite, secret_key (" in succeeded(
        server, "restore", str(file)
    )
    refused(server, "exists", "restore", str(file))
    server.start()

    asked = upstream.count()
    restored = ledger_of(server)
    # A ledger row is written before its call is sent. Each of four writers may have such a row.
    assert before + 10 <= len(restored) <= during + 4
    lost_outcome = {"maybe"}  # of calls in flight during the backup
    for row, was in zip(restored, ledger, strict=False):
        assert row == was or row["outcome"] in lost_outcome
    answered = [row for row in restored if row["outcome"] == "answered"]
    cached = in_turn(server.port, asks(LATER[: during + 50], ONLY_IF_CACHED), 8)
    found = sum(each.status == 200 for each in cached)
    assert {each.status for each in cached} == {200, 504}
    # The restored cache holds every answer from before the backup, and some later ones.
    assert {each.status for each in in_turn(server.port, asks(PLATES), 16)} == {200}
    assert 0 < found <= len(answered) - before + 4
    assert server.get(path_of("decode", PLATES[0]), headers={"Authorization": token}).ok
    assert server.get(f"{link}.pdf").content == paper
    batch = server.get(f"/api/v1/batches/{made['id']}", headers=HEADER)
    assert batch.json()["counts"] == made["counts"]
    assert upstream.count() == asked


def test_quiet_backup_restores_an_equal_ledger_and_history(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    cookie = signed_in(server)
    for plate in PLATES[:5]:
        assert server.get(f"/placa/{plate}?completo=1", headers=cookie).status_code == 200
    ledger, file = ledger_of(server), tmp_path / "backup"
    succeeded(server, "backup", str(file), "--without-key")
    key = (server.data_dir / "secret_key").read_text()
    server.stop()
    shutil.rmtree(server.data_dir)
    refused(server, "set PORTAL_SECRET_KEY", "restore", str(file))
    server.data_dir.mkdir(exist_ok=True)
    (server.data_dir / "secret_key").write_text(key)
    succeeded(server, "restore", str(file))
    server.start()
    assert ledger_of(server) == ledger
    assert PLATES[4] in server.get("/", headers=cookie).text  # the session and the history are back
    assert len(ledger) == upstream.count() == 15


def test_purges_after_the_backup_are_repeated(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    purged, kept = PLATES[:2]
    assert {each.status for each in in_turn(server.port, asks([purged, kept]), 2)} == {200}
    file, former = tmp_path / "backup", tmp_path / "former"
    succeeded(server, "backup", str(file))
    succeeded(server, "purge", purged)
    server.stop()
    server.data_dir.rename(former)
    done = server.command_line("restore", str(file))
    assert (done.returncode, "are back: purge them again" in done.stderr) == (0, True)
    shutil.rmtree(server.data_dir)
    printed = succeeded(server, "restore", str(file), "--purges-of", str(former))
    assert "Repeated 2 later purges." in printed  # the last of each spelling of the plate
    server.start()
    (gone, there) = (
        server.get(path_of("decode", plate), headers=ONLY_IF_CACHED).status_code
        for plate in (purged, kept)
    )
    assert (gone, there) == (504, 200)

    def is_erased() -> bool:
        stored = server.data_dir.glob("cache.sqlite*")
        return not any(purged.encode() in each.read_bytes() for each in stored)

    wait_until(is_erased, "the next sweep")


_KILLED_RESTORE = """
import os, signal, sys
from pathlib import Path
from portal.storage.backup import restore

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

folder = Path(sys.argv[2])
names = ("cache.sqlite", "portal.sqlite", "secret_key")
restore(Path(sys.argv[1]), {name: folder / name for name in names}, False, kill)
"""


def copies_in(folder: Path) -> list[Path]:
    return [*folder.glob(".restore-*"), *folder.glob(".backup-*")]


def kill_restore(file: Path, folder: Path) -> Path:
    """Kill a restore into ``folder``, and return the folder that it leaves there."""
    words = [sys.executable, "-c", _KILLED_RESTORE, str(file), str(folder)]
    assert subprocess.run(words, cwd=CHECKOUT, check=False).returncode == -signal.SIGKILL
    (left,) = copies_in(folder)
    return left


def test_copies_of_a_killed_restore_are_removed(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    """Regression: the copies stayed for good, and a purge exited 0 beside them."""
    plate, file, data = PLATES[0], tmp_path / "backup", server.data_dir
    assert server.get(path_of("decode", plate), headers=HEADER).status_code == 200
    succeeded(server, "backup", str(file))
    server.stop()
    shutil.rmtree(data)
    assert plate.encode() in (kill_restore(file, data) / "cache.sqlite").read_bytes()
    succeeded(server, "restore", str(file))
    assert copies_in(data) == []

    (data / ".restore-killed").mkdir()
    server.start()
    assert copies_in(data) == []

    copy = data / ".backup-running"
    copy.mkdir()
    lock = os.open(copy, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    purged = server.command_line("purge", plate)
    assert (purged.returncode, str(copy) in purged.stderr) == (1, True)
    os.close(lock)
    succeeded(server, "purge", plate)
    assert copies_in(data) == []

    (tmp_path / ".backup-killed").mkdir()
    succeeded(server, "backup", str(tmp_path / "second"))
    assert copies_in(tmp_path) == []


@pytest.mark.long
def test_backup_with_redis_holds_the_database_alone(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    with RedisProcess() as store:
        settings = managed(upstream.url) | {
            "PORTAL_REDIS_URL": store.url,
            "PORTAL_SECRET_KEY": "what portals share",
        }
        with PortalProcess(settings) as server:
            printed = succeeded(server, "backup", str(tmp_path / "backup"))
    assert printed.startswith("Backed up portal.sqlite (")
