"""File leases: a key has at most one holder at a time among all processes."""

import errno
import fcntl
import os
import signal
import time
from pathlib import Path

import pytest

from portal.gateway.backend_choice import remove_lease_files
from portal.gateway.lookup import Failure
from portal.gateway.single_flight import FileLeases
from tests.fakes import Clock, wait_until
from tests.fakes.preloaded import PRELOADED
from tests.gateway.gateways import bench


@pytest.fixture
def leases(tmp_path: Path) -> FileLeases:
    return FileLeases(tmp_path / "leases")


def _hold(folder: Path, seconds: float) -> None:
    with FileLeases(folder).hold("tag:key") as fence:
        (folder / "held").write_text(str(fence))
        time.sleep(seconds)


def _count(folder: Path, rounds: int) -> None:
    """Increment a number that only the lease holder may change: read, wait, write."""
    leases, number = FileLeases(folder / "leases"), folder / "number"
    done = 0
    while done < rounds:
        with leases.hold("tag:key") as fence:
            if fence is None:
                continue
            before = int(number.read_text())
            time.sleep(0)
            number.write_text(str(before + 1))
            done += 1


def test_second_caller_gets_no_fence_while_lease_is_held(leases: FileLeases) -> None:
    with leases.hold("tag:key") as first, leases.hold("tag:key") as second:
        assert first is not None
        assert second is None
    with leases.hold("tag:key") as third:
        assert third is not None
        assert third > first


def test_leases_of_different_keys_are_independent(leases: FileLeases) -> None:
    with leases.hold("tag:one") as one, leases.hold("tag:two") as two:
        assert None not in (one, two)


def test_lease_files_are_the_owners_alone(leases: FileLeases, tmp_path: Path) -> None:
    """A file's name has the keyed hash of a vehicle that was looked up."""
    folder = tmp_path / "leases"
    with leases.hold("tag:first"), leases.hold("tag:second"):  # the first makes the folder
        modes = [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600, 0o600]


def test_lease_is_held_in_a_directory_that_another_process_has_just_made(
    leases: FileLeases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def open_in_missing_directory(path: Path, flags: int, mode: int = 0o777) -> int:
        if not path.parent.exists():
            path.parent.mkdir()
            raise FileNotFoundError(errno.ENOENT, "no directory")
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", open_in_missing_directory)
    with leases.hold("tag:key") as first, leases.hold("tag:key") as second:
        assert first is not None
        assert second is None


def test_forgotten_vehicle_leaves_no_lease_but_those_that_are_held(
    leases: FileLeases, tmp_path: Path
) -> None:
    with leases.hold("tag:held"):
        for name in ("tag-killed", "tag-too", "tag2-of-another"):
            (tmp_path / "leases" / name).touch()
        leases.forget("tag")
        left = sorted(path.name for path in (tmp_path / "leases").iterdir())
        assert left == ["tag-held", "tag2-of-another"]
        leases.remove_released()
        assert [path.name for path in (tmp_path / "leases").iterdir()] == ["tag-held"]


def test_released_lease_leaves_no_file(leases: FileLeases, tmp_path: Path) -> None:
    for number in range(10):
        with leases.hold(f"tag:{number}"):
            pass
    assert list((tmp_path / "leases").iterdir()) == []


def test_one_process_holds_a_lease_at_a_time(tmp_path: Path) -> None:
    """Lease files are created and removed while the processes compete for them."""
    (tmp_path / "number").write_text("0")
    workers = [PRELOADED.Process(target=_count, args=(tmp_path, 200)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert (tmp_path / "number").read_text() == "600"


def test_lease_of_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "leases"
    holder = PRELOADED.Process(target=_hold, args=(folder, 60))
    holder.start()
    wait_until(lambda: (folder / "held").exists(), "the hold")
    leases = FileLeases(folder)
    with leases.hold("tag:key") as refused:
        assert refused is None
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join(20)
    with leases.hold("tag:key") as fence:
        assert fence is not None


def test_start_removes_leases_of_killed_holders_alone(leases: FileLeases, tmp_path: Path) -> None:
    """``flask batch`` may hold a lease while a server starts in the same directory."""
    with leases.hold("tag:held") as first:
        (tmp_path / "leases" / "tag-killed").touch()
        remove_lease_files(tmp_path)
        assert [each.name for each in (tmp_path / "leases").iterdir()] == ["tag-held"]
        with FileLeases(tmp_path / "leases").hold("tag:held") as second:
            assert (first is not None, second) == (True, None)


def test_every_caller_leads_in_unwritable_directory(tmp_path: Path) -> None:
    """On a full disk no lease file can be created, but lookups are not rejected."""
    (tmp_path / "file").write_text("")
    blocked = FileLeases(tmp_path / "file" / "leases")
    with blocked.hold("tag:key") as one, blocked.hold("tag:key") as two:
        assert None not in (one, two)


@pytest.mark.parametrize("trouble", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_every_caller_leads_without_file_locks(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, trouble: int
) -> None:
    """Lookups are served if a network file system has no flock or no free locks."""

    def refuse(*_: object) -> None:
        raise OSError(trouble, os.strerror(trouble))

    monkeypatch.setattr(fcntl, "flock", refuse)
    leases = FileLeases(tmp_path / "leases")
    with leases.hold("tag:key") as one, leases.hold("tag:key") as two:
        assert None not in (one, two)
    left = list((tmp_path / "leases").iterdir())
    # Another process may hold the file's lock, except on a file system without locks.
    assert bool(left) == (trouble != errno.EOPNOTSUPP)
    assert bench(tmp_path, clock, leases=leases).decode().status == 200


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_exhausted_process_raises_unreachable(
    leases: FileLeases, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Without a lease, concurrent lookups would each pay for the same answer."""

    def refuse(*_: object) -> None:
        raise OSError(number, "")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(Failure) as caught, leases.hold("tag:key"):
            pass
    assert caught.value.kind == "unreachable"
    with leases.hold("tag:key") as fence:
        assert fence is not None
