"""Fixtures of the tests of portal.upstream."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.upstream.breaker import Breaker
from tests.fakes import Clock, FaultUpstream
from tests.fakes.tls import certified, trusting
from tests.upstream.scripted_origin import ScriptedOrigin


@pytest.fixture(params=["http", "https"])
def upstream(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FaultUpstream]:
    """An upstream over HTTP or HTTPS. A fault must have the same effect on both."""
    tls = certified() if request.param == "https" else None
    with trusting(tmp_path), FaultUpstream(tls=tls) as running:
        yield running


@pytest.fixture
def scripted() -> ScriptedOrigin:
    return ScriptedOrigin()


@pytest.fixture
def breaker(scripted: ScriptedOrigin, clock: Clock) -> Breaker:
    return Breaker(scripted, "primary", clock)
