"""Concurrency limits of a worker, computed from the limit of open files."""

import resource
from collections.abc import Callable

import pytest

from portal.system.open_file_limits import FULL_CAPACITY, Capacity, capacity, raise_open_files_limit

INFINITE = resource.RLIM_INFINITY
Limits = tuple[int, int]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Limits]]:
    """Return a function that fakes the limits of open files and records changes.

    ``granted`` is the highest soft limit that the system accepts.
    """

    def fake_limits(soft: int, hard: int, granted: int | None = None) -> list[Limits]:
        held = [(soft, hard)]

        def set_to(_: int, to: Limits) -> None:
            if granted is not None and (to[0] == INFINITE or to[0] > granted):
                raise ValueError("not allowed to raise maximum limit")
            held.append(to)

        monkeypatch.setattr(resource, "getrlimit", lambda _: held[-1])
        monkeypatch.setattr(resource, "setrlimit", set_to)
        return held

    return fake_limits


@pytest.mark.parametrize(
    ("soft", "hard", "granted", "expected_limits"),
    [
        (1024, 524_288, None, [(524_288, 524_288)]),
        (1024, 1024, None, []),
        (256, INFINITE, 10_240, [(10_240, INFINITE)]),  # macOS refuses more
        (20_000, INFINITE, 10_240, []),
        (1024, 4096, 1024, []),  # the system refuses any increase
    ],
)
def test_soft_limit_is_raised_as_far_as_allowed(
    limits: Callable[..., list[Limits]],
    soft: int,
    hard: int,
    granted: int | None,
    expected_limits: list[Limits],
) -> None:
    held = limits(soft, hard, granted)
    raise_open_files_limit()
    assert held[1:] == expected_limits


@pytest.mark.parametrize("soft", [FULL_CAPACITY.open_files, 524_288, INFINITE])
def test_sufficient_limit_gives_full_capacity(
    limits: Callable[..., list[Limits]], soft: int
) -> None:
    limits(soft, INFINITE)
    assert capacity() == FULL_CAPACITY


@pytest.mark.parametrize("soft", [1024, 2048, 4096, FULL_CAPACITY.open_files - 1])
def test_low_limit_bounds_connections_and_lookups(
    limits: Callable[..., list[Limits]], soft: int
) -> None:
    limits(soft, soft)
    allowed = capacity()
    assert allowed.open_files <= soft
    assert allowed.lookups < allowed.connections
    assert allowed != FULL_CAPACITY


@pytest.mark.parametrize("soft", [64, 240])
def test_tiny_limit_gives_minimum_capacity(limits: Callable[..., list[Limits]], soft: int) -> None:
    limits(soft, soft)
    assert capacity() == Capacity(8, 8)
