"""Fixtures of the upstream room's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.upstream import Breaker
from tests.fakes import FaultUpstream
from tests.fakes.tls import certified, trusting
from tests.upstream.scripted_origin import Played


@pytest.fixture(params=["http", "https"])
def upstream(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FaultUpstream]:
    """Under both schemes: a fault must mean the same whichever an address has."""
    tls = certified() if request.param == "https" else None
    with trusting(tmp_path), FaultUpstream(tls=tls) as running:
        yield running


@pytest.fixture
def played() -> Played:
    return Played()


@pytest.fixture
def breaker(played: Played, clock) -> Breaker:
    return Breaker(played, "primary", clock)
