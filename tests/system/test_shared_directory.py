"""Shared directory of the workers: location, preallocation, locking and cleanup."""

import errno
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path

import pytest

from portal.system import shared_directory
from portal.system.shared_directory import (
    SharedDirectory,
    candidate_parents,
    claim_worker_id,
    make_shared_directory,
    reserve,
)
from tests.fakes import wait_until
from tests.fakes.preloaded import PRELOADED

KIBIBYTE = 1024


def _share_and_wait(parent: Path) -> None:
    shared = SharedDirectory(parent, KIBIBYTE)
    (parent / "shared").write_text(shared.path.name)
    signal.pause()


def _claim_and_wait(directory: Path, output: Path) -> None:
    output.write_text(str(claim_worker_id(directory)))
    signal.pause()


def kill(process: multiprocessing.process.BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(20)


def directories(parent: Path) -> set[str]:
    return {each.name for each in parent.iterdir() if each.is_dir()}


def test_directory_is_empty_private_and_removed(tmp_path: Path) -> None:
    shared = SharedDirectory(tmp_path, KIBIBYTE)
    assert list(shared.path.iterdir()) == []
    assert shared.path.stat().st_mode & 0o777 == 0o700
    shared.remove()
    assert directories(tmp_path) == set()


def test_two_portals_have_separate_directories(tmp_path: Path) -> None:
    one, other = SharedDirectory(tmp_path, KIBIBYTE), SharedDirectory(tmp_path, KIBIBYTE)
    assert directories(tmp_path) == {one.path.name, other.path.name}
    one.remove()
    other.remove()


def test_next_start_removes_directory_of_killed_server(tmp_path: Path) -> None:
    (tmp_path / "unrelated").mkdir()
    server = PRELOADED.Process(target=_share_and_wait, args=(tmp_path,))
    server.start()
    shared = tmp_path / "shared"
    wait_until(lambda: shared.exists() and shared.read_text(), "the directory of the server")
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    abandoned = shared.read_text()
    assert directories(tmp_path) == {abandoned, "unrelated"}  # the server is still alive
    kill(server)
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    assert directories(tmp_path) == {"unrelated"}


def test_next_start_removes_only_old_unlocked_directories(
    tmp_path: Path,
) -> None:
    abandoned, recent = (
        tmp_path / f"new-dossie-veicular-{name}" for name in ("abandoned", "recent")
    )
    for each in (abandoned, recent):
        each.mkdir(mode=0o700)
    hour_ago = time.time() - 3600
    os.utime(abandoned, (hour_ago, hour_ago))
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    assert directories(tmp_path) == {recent.name}


def test_parent_without_room_is_skipped_and_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, roomy = tmp_path / "full", tmp_path / "roomy"
    full.mkdir()
    roomy.mkdir()

    def no_room(path: Path, size: int) -> None:
        if path.is_relative_to(full):
            raise OSError(errno.ENOSPC, "full")
        reserve(path, size)

    monkeypatch.setattr(shared_directory, "reserve", no_room)
    shared = make_shared_directory([tmp_path / "missing", full, roomy], KIBIBYTE)
    assert shared is not None
    assert shared.path.parent == roomy
    assert directories(full) == set()
    assert make_shared_directory([full], KIBIBYTE) is None
    shared.remove()


def test_missing_temporary_directory_is_no_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container with a read-only root has /dev/shm only."""

    def none_writable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none_writable)
    assert list(candidate_parents()) == [Path("/dev/shm")]
    refused = (parent / "missing" for parent in candidate_parents())
    assert make_shared_directory(refused, KIBIBYTE) is None


def test_temporary_directory_is_determined_lazily(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """tempfile.gettempdir writes a file, which is unnecessary if /dev/shm suffices."""
    asked: list[str] = []

    def gettempdir() -> str:
        asked.append("asked")
        return str(tmp_path)

    monkeypatch.setattr(tempfile, "gettempdir", gettempdir)
    candidates = candidate_parents()
    assert (next(candidates), asked) == (Path("/dev/shm"), [])
    assert (next(candidates), asked) == (tmp_path, ["asked"])


def test_worker_id_passes_from_dead_to_new_process(tmp_path: Path) -> None:
    """The new process reuses the dead worker's files, so the directory does not grow."""
    workers = [
        PRELOADED.Process(target=_claim_and_wait, args=(tmp_path, tmp_path / f"output-{index}"))
        for index in range(2)
    ]
    for worker in workers:
        worker.start()
    output = [tmp_path / "output-0", tmp_path / "output-1"]
    wait_until(lambda: all(each.exists() and each.read_text() for each in output), "their numbers")
    assert sorted(int(each.read_text()) for each in output) == [0, 1]
    kill(workers[0])
    assert claim_worker_id(tmp_path) == int(output[0].read_text())
    assert claim_worker_id(tmp_path) == 2
    kill(workers[1])


def test_reserve_allocates_space_and_keeps_content(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(b"held")
    reserve(file, 3_000_000)
    assert file.stat().st_size == 3_000_000
    assert file.stat().st_blocks * 512 >= 3_000_000
    assert file.read_bytes()[:6] == b"held\x00\x00"
    reserve(file, 10)
    assert file.stat().st_size == 3_000_000
