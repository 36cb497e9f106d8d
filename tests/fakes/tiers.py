"""What the running test may start, by its markers."""

from typing import Literal

import pytest

Tier = Literal["slow", "long", "upstream"]
_running: list[pytest.Item] = []


def begin(test: pytest.Item) -> None:
    _running[:] = [test]


def require(*tiers: Tier) -> None:
    """Raise if the running test has none of these markers.

    A harness or a benchmark runs no test, and may start everything.
    """
    if not _running:
        return
    (test,) = _running
    if not any(test.get_closest_marker(tier) for tier in tiers):
        raise AssertionError(
            f"{test.nodeid} starts what make test-fast leaves out: mark it with "
            + " or ".join(f"@pytest.mark.{tier}" for tier in tiers)
        )
