"""The lock of a data directory, on file systems with and without locks."""

import errno
import fcntl
from pathlib import Path

import pytest

from portal.storage.data_lock import DataLock


def test_second_server_is_not_alone(tmp_path: Path) -> None:
    first, second = DataLock(tmp_path), DataLock(tmp_path)
    assert (first.is_alone, second.is_alone) == (True, False)
    first.release()
    second.release()


def test_file_system_without_locks_does_not_prevent_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock = DataLock(tmp_path)
    lock.share()
    assert not lock.is_alone
    lock.release()
