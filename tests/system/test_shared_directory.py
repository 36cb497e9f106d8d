"""What workers share lies apart from the data, takes its room at once, and is tidied up."""

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

SPAWN = multiprocessing.get_context("spawn")
KIBIBYTE = 1024


def _share_and_wait(home: Path) -> None:
    made = SharedDirectory(home, KIBIBYTE)
    (home / "made").write_text(made.path.name)
    signal.pause()


def _claim_and_wait(directory: Path, told: Path) -> None:
    told.write_text(str(claim_worker_id(directory)))
    signal.pause()


def killed(process: multiprocessing.process.BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(20)


def directories(home: Path) -> set[str]:
    return {each.name for each in home.iterdir() if each.is_dir()}


def test_it_is_empty_its_owners_alone_and_gone_when_removed(tmp_path: Path) -> None:
    made = SharedDirectory(tmp_path, KIBIBYTE)
    assert list(made.path.iterdir()) == []
    assert made.path.stat().st_mode & 0o777 == 0o700
    made.remove()
    assert directories(tmp_path) == set()


def test_portals_beside_each_other_never_meet(tmp_path: Path) -> None:
    one, other = SharedDirectory(tmp_path, KIBIBYTE), SharedDirectory(tmp_path, KIBIBYTE)
    assert directories(tmp_path) == {one.path.name, other.path.name}
    one.remove()
    other.remove()


def test_what_a_killed_server_left_is_removed_by_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "somebody-elses").mkdir()
    server = SPAWN.Process(target=_share_and_wait, args=(tmp_path,))
    server.start()
    wait_until((tmp_path / "made").exists, "the directory of the server")
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    left = (tmp_path / "made").read_text()
    assert directories(tmp_path) == {left, "somebody-elses"}  # it lives: nobody touches it
    killed(server)
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    assert directories(tmp_path) == {"somebody-elses"}


def test_what_a_server_killed_while_making_it_left_goes_but_not_one_being_made(
    tmp_path: Path,
) -> None:
    left, begun = (tmp_path / f"new-dossie-veicular-{name}" for name in ("left", "begun"))
    for each in (left, begun):
        each.mkdir(mode=0o700)
    hour_ago = time.time() - 3600
    os.utime(left, (hour_ago, hour_ago))
    SharedDirectory(tmp_path, KIBIBYTE).remove()
    assert directories(tmp_path) == {begun.name}


def test_a_home_without_room_is_passed_over_and_left_clean(
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
    made = make_shared_directory([tmp_path / "missing", full, roomy], KIBIBYTE)
    assert made is not None
    assert made.path.parent == roomy
    assert directories(full) == set()
    assert make_shared_directory([full], KIBIBYTE) is None
    made.remove()


def test_where_no_temporary_directory_is_writable_there_is_one_home_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container with a read-only root: memory is still there, and the portal starts."""

    def none_writable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none_writable)
    assert list(candidate_parents()) == [Path("/dev/shm")]
    refused = (home / "missing" for home in candidate_parents())
    assert make_shared_directory(refused, KIBIBYTE) is None


def test_a_temporary_directory_is_looked_for_only_when_memory_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The looking writes a file: on memory that has the room nobody needs to."""
    asked: list[str] = []
    monkeypatch.setattr(tempfile, "gettempdir", lambda: asked.append("asked") or str(tmp_path))
    candidates = candidate_parents()
    assert (next(candidates), asked) == (Path("/dev/shm"), [])
    assert (next(candidates), asked) == (tmp_path, ["asked"])


def test_a_number_is_one_living_process_s_and_passes_to_who_replaces_it(tmp_path: Path) -> None:
    """Counters go on in a dead worker's files: however many die, the room does not grow."""
    workers = [
        SPAWN.Process(target=_claim_and_wait, args=(tmp_path, tmp_path / f"told-{index}"))
        for index in range(2)
    ]
    for worker in workers:
        worker.start()
    told = [tmp_path / "told-0", tmp_path / "told-1"]
    wait_until(lambda: all(each.exists() and each.read_text() for each in told), "their numbers")
    assert sorted(int(each.read_text()) for each in told) == [0, 1]
    killed(workers[0])
    assert claim_worker_id(tmp_path) == int(told[0].read_text())
    assert claim_worker_id(tmp_path) == 2
    killed(workers[1])


def test_room_is_taken_at_once_and_nothing_held_is_touched(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(b"held")
    reserve(file, 3_000_000)
    assert file.stat().st_size == 3_000_000
    assert file.stat().st_blocks * 512 >= 3_000_000
    assert file.read_bytes()[:6] == b"held\x00\x00"
    reserve(file, 10)
    assert file.stat().st_size == 3_000_000
