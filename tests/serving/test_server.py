"""The server is started with what the settings ask for."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from portal import factory
from portal.serving import process as serving
from portal.serving import server
from portal.settings import Settings
from portal.system import process
from portal.upstream import Breaker, PayerBreaker
from tests.fakes import free_port

LONGEST_DEADLINE_S = 600.0


class RecordedServer:
    """In the place of Granian's: notes its options and serves nothing."""

    options: dict[str, Any]

    def __init__(self, _target: str, **options: Any) -> None:
        RecordedServer.options = options

    def serve(self) -> None:
        pass


@pytest.fixture
def readonly_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in ``docker run --read-only``: no temporary directory, memory and the data alone."""

    def none_writable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none_writable)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The options of the server that ``python app.py`` starts for the longest deadline."""
    monkeypatch.setattr(server, "Server", RecordedServer)
    monkeypatch.setattr(serving, "set_up_logging", lambda _secrets: None)
    for name, value in {
        serving.SHARED_DIR_VARIABLE: "",  # and put back afterwards
        "PORTAL_DATA_DIR": str(tmp_path),
        "PORTAL_DEADLINE": str(LONGEST_DEADLINE_S),
        "HOST": "127.0.0.1",
        "PORT": str(free_port()),
    }.items():
        monkeypatch.setitem(os.environ, name, value)
    serving.main()
    return RecordedServer.options


def test_a_stop_waits_for_the_longest_request_there_can_be(started: dict[str, Any]) -> None:
    """Cut off earlier, a paid answer would reach nobody."""
    assert started["workers_kill_timeout"] > LONGEST_DEADLINE_S


@pytest.mark.parametrize(("kind", "token"), [(Breaker, "operator"), (PayerBreaker, None)])
def test_a_probe_may_last_as_long_as_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: type[Breaker | PayerBreaker],
    token: str | None,
) -> None:
    """Taken for dead earlier, a second probe would go beside it."""
    longest: list[float] = []

    def noted(*given: Any) -> Breaker | PayerBreaker:
        longest.append(given[-1])
        return kind(*given)

    monkeypatch.setattr(factory, kind.__name__, noted)
    settings = Settings(
        data_dir=tmp_path,
        upstream_url="http://127.0.0.1:1",
        upstream_token=token,
        deadline=LONGEST_DEADLINE_S,
    )
    factory.create_app(settings).extensions["closing"].close()
    assert [each > LONGEST_DEADLINE_S for each in longest] == [True]


def test_the_workers_share_apart_from_the_data_and_nothing_stays_behind(
    started: dict[str, Any], tmp_path: Path
) -> None:
    shared = Path(os.environ[serving.SHARED_DIR_VARIABLE])
    assert not shared.is_relative_to(tmp_path)
    assert not shared.exists()


def test_it_starts_where_nothing_but_the_data_is_writable(
    readonly_root: None, started: dict[str, Any]
) -> None:
    """Sharing is a gain, never a condition of the start."""
    assert started["workers_kill_timeout"] > LONGEST_DEADLINE_S


def test_a_worker_whose_directory_is_gone_or_full_counts_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(serving.SHARED_DIR_VARIABLE, str(tmp_path / "gone"))
    assert serving._join_shared_directory(2) is None


@pytest.mark.parametrize(
    ("available", "workers", "kept_to"),
    [
        ({0, 1}, 2, [{0}, {1}]),  # in a reload a third meets one that still ends
        ({2, 5, 7}, 3, [{2}, {5}, {7}]),
        ({0, 1, 2, 3}, 2, []),
        ({0}, 2, []),
    ],
)
def test_workers_keep_to_processors_of_their_own_where_there_are_as_many(
    monkeypatch: pytest.MonkeyPatch,
    available: set[int],
    workers: int,
    kept_to: list[set[int]],
) -> None:
    chosen: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: available, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, to: chosen.append(to), raising=False)
    for number in range(3):
        process.pin_to_processor(number, workers)
    assert chosen == kept_to


def test_a_worker_that_may_not_choose_its_processor_runs_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", refused, raising=False)
    process.pin_to_processor(0, 1)


def test_where_the_system_places_no_process_workers_run_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    process.pin_to_processor(0, len(getattr(os, "sched_getaffinity", lambda _: [0])(0)))
