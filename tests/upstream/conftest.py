"""Fixtures of the upstream room's tests."""

import pytest

from portal.upstream import Breaker
from tests.upstream.playing import Played


@pytest.fixture
def played() -> Played:
    return Played()


@pytest.fixture
def breaker(played, clock) -> Breaker:
    return Breaker(played, "primary", clock)
