"""Options of the production server and setup of its workers."""

import errno
import os
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from portal import factory
from portal.serving import inherited, server
from portal.serving import process as serving
from portal.settings import Settings
from portal.system import process
from portal.upstream.breaker import Breaker
from tests.fakes import free_port

LONGEST_DEADLINE_S = 600.0


class RecordedServer:
    """Replaces Granian's server: records its options and serves nothing."""

    options: dict[str, Any]

    def __init__(self, _target: str, **options: Any) -> None:
        RecordedServer.options = options

    def serve(self) -> None:
        pass


@pytest.fixture
def readonly_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no temporary directory writable, as ``docker run --read-only`` does."""

    def none_writable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none_writable)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The server's options that ``python app.py`` sets for the longest deadline."""
    monkeypatch.setattr(server, "Server", RecordedServer)
    monkeypatch.setattr(serving, "set_up_logging", lambda *_: None)
    for name, value in {
        inherited.SHARED_DIR_VARIABLE: "",  # set here so that monkeypatch restores it
        "PORTAL_DATA_DIR": str(tmp_path),
        "PORTAL_DEADLINE": str(LONGEST_DEADLINE_S),
        "HOST": "127.0.0.1",
        "PORT": str(free_port()),
    }.items():
        monkeypatch.setitem(os.environ, name, value)
    serving.main()
    return RecordedServer.options


def test_stop_timeout_exceeds_longest_request(started: dict[str, Any]) -> None:
    """With a shorter timeout, the answer of a paid call could be lost."""
    assert started["workers_kill_timeout"] > LONGEST_DEADLINE_S


@pytest.mark.parametrize("token", ["operator", None])
def test_probe_expires_later_than_deadline(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    token: str | None,
) -> None:
    """If a breaker's probe call expired earlier, a second one would run beside it."""
    longest: list[float] = []

    def noted(*given: Any) -> Breaker:
        longest.append(given[-1])
        return Breaker(*given)

    monkeypatch.setattr(factory, "Breaker", noted)
    settings = Settings(
        data_dir=tmp_path,
        upstream_url="http://127.0.0.1:1",
        upstream_token=token,
        deadline=LONGEST_DEADLINE_S,
    )
    assert factory.Portal(settings, b"key").breakers
    assert [each > LONGEST_DEADLINE_S for each in longest] == [True]


def test_shared_directory_is_outside_data_and_removed(
    started: dict[str, Any], tmp_path: Path
) -> None:
    shared = Path(os.environ[inherited.SHARED_DIR_VARIABLE])
    assert not shared.is_relative_to(tmp_path)
    assert not shared.exists()


def test_server_starts_with_read_only_root(readonly_root: None, started: dict[str, Any]) -> None:
    """The server starts without the workers' shared directory."""
    assert started["workers_kill_timeout"] > LONGEST_DEADLINE_S


def test_worker_without_shared_directory_runs_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(inherited.SHARED_DIR_VARIABLE, str(tmp_path / "gone"))
    assert inherited.join_shared_directory(2) is None


@pytest.mark.parametrize(
    ("available", "workers", "expected"),
    [
        ({0, 1}, 2, [{0}, {1}]),  # in a reload, a third worker shares a processor
        ({2, 5, 7}, 3, [{2}, {5}, {7}]),
        ({0, 1, 2, 3}, 2, []),
        ({0}, 2, []),
    ],
)
def test_workers_are_pinned_if_processors_match_workers(
    monkeypatch: pytest.MonkeyPatch,
    available: set[int],
    workers: int,
    expected: list[set[int]],
) -> None:
    chosen: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: available, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, to: chosen.append(to), raising=False)
    for number in range(3):
        process.pin_to_processor(number, workers)
    assert chosen == expected


def test_refused_processor_pinning_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", refused, raising=False)
    process.pin_to_processor(0, 1)


def test_missing_processor_pinning_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    process.pin_to_processor(0, len(getattr(os, "sched_getaffinity", lambda _: [0])(0)))


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in process._SCHED_SETATTR,
    reason="the system has no sched_setattr that the portal knows",
)
def test_batch_policy_and_niceness_are_inherited() -> None:
    found: list[tuple[int, int]] = []

    def choose() -> None:  # run in a new thread, because the thread keeps both properties
        niceness = os.getpriority(os.PRIO_PROCESS, 0) + 1
        assert process.use_batch_policy(niceness)
        child = threading.Thread(target=read)
        child.start()
        child.join()
        found.append((os.SCHED_BATCH, niceness))

    def read() -> None:
        number = threading.get_native_id()
        found.append((os.sched_getscheduler(number), os.getpriority(os.PRIO_PROCESS, number)))

    thread = threading.Thread(target=choose)
    thread.start()
    thread.join()
    assert len(found) == 2
    assert found[0] == found[1]


def test_system_without_the_call_keeps_its_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SCHED_SETATTR", {})
    assert not process.use_batch_policy(0)


def test_refused_lower_priority_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may forbid a lower priority. The batch process must still run."""

    def refused(_: int) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refused)
    process.lower_priority(10)


def test_batch_process_builds_no_pages(tmp_path: Path) -> None:
    """Building pages would take two thirds of the processor time at start-up."""
    settings = Settings.from_environment({"PORTAL_DATA_DIR": str(tmp_path)})
    portal = factory.Portal(settings, b"key", factory.ServerProcess(batch_holder="holder"))
    with closing(portal):
        portal.scheduler.run_all()
        assert not {"app", "assets", "pool"} & vars(portal).keys()
