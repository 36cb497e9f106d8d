"""A worker's share of the threads that the user and the cgroups allow."""

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from portal.system import thread_limits
from portal.system.start_refused import StartRefused
from portal.system.thread_limits import (
    FULL_THREADS,
    Threads,
    cgroup_directories,
    free_threads,
    read_threads,
    share_threads,
)

Group = Callable[..., None]


@pytest.mark.parametrize(
    ("free", "workers", "expected"),
    [
        (None, 2, FULL_THREADS),
        (96_000, 2, FULL_THREADS),
        (500, 2, Threads(72, 72)),
        (500, 8, Threads(17, 17)),
        (92, 2, Threads(4, 4)),
    ],
)
def test_share_of_the_free_threads(free: int | None, workers: int, expected: Threads) -> None:
    assert share_threads(free, workers) == expected


@pytest.mark.parametrize("free", [92, 200, 512, 1000, 4000, 8000])
@pytest.mark.parametrize("workers", [1, 2])
def test_shares_stay_within_the_limit_during_a_reload(free: int, workers: int) -> None:
    share = share_threads(free, workers)
    assert (share.blocking + share.panels + 6) * (workers + 1) + 3 <= free


@pytest.mark.parametrize("threads", [FULL_THREADS, Threads(4, 5)])
def test_workers_read_their_share(threads: Threads) -> None:
    assert read_threads(str(threads)) == threads
    assert read_threads("") == FULL_THREADS


def test_too_few_threads_are_refused_with_the_number_needed() -> None:
    with pytest.raises(StartRefused, match=r"^91 more threads .* 92 are needed for 2 workers$"):
        share_threads(91, 2)


@pytest.mark.parametrize(
    ("memberships", "expected"),
    [
        ("0::/a/b\n", ["/a/b", "/a", ""]),
        ("8:pids:/docker/1\n7:cpu:/x\n", ["/pids/docker/1", "/pids/docker", "/pids"]),
        ("0::/\n", [""]),
        ("", []),
    ],
)
def test_cgroups_of_both_versions(memberships: str, expected: list[str]) -> None:
    found = [str(each) for each in cgroup_directories(memberships, Path("/cgroups"))]
    assert found == ["/cgroups" + each for each in expected]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Group:
    """Return a function that sets a cgroup's limit and use. The user has no limit."""
    monkeypatch.setattr(thread_limits, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(thread_limits, "_CGROUPS", tmp_path / "cgroup")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/a/b\n")

    def group(path: str, most: str, used: str) -> None:
        folder = tmp_path / "cgroup" / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pids.max").write_text(f"{most}\n")
        (folder / "pids.current").write_text(f"{used}\n")

    return group


def test_narrowest_cgroup_counts(system: Group) -> None:
    assert free_threads() is None
    system("a/b", "max", "12")
    assert free_threads() is None
    system("a", "512", "100")
    assert free_threads() == 412
    system("a/b", "400", "12")
    assert free_threads() == 388
    system("a", "100", "101")
    assert free_threads() == 0


def test_limit_of_the_user_counts_its_threads(
    system: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (512, 512))
    for pid, user, threads in ((1, 0, 50), (2, 1000, 7), (3, 1000, 5)):
        status = tmp_path / f"proc/{pid}/status"
        status.parent.mkdir()
        status.write_text(f"Name:\tx\nUid:\t{user}\t0\t0\t0\nThreads:\t{threads}\n")
    (tmp_path / "proc/self/status").touch()
    assert free_threads() == 500
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert free_threads() is None
