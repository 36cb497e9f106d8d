"""Fixtures that every room's tests may use, and the guard that keeps tests off the network."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine

from tests.fakes import Clock, FaultUpstream, closing, network_guard
from tests.fakes.databases import KINDS, Database, PostgresProcess, opened
from tests.fakes.in_process import InProcessPortal, built, managed

PortalFactory = Callable[..., InProcessPortal]


# No test depends on wall-clock speed, so examples have no deadline.
settings.register_profile("dossie", deadline=None)
settings.load_profile("dossie")


def pytest_configure(config: pytest.Config) -> None:
    patch = pytest.MonkeyPatch()
    network_guard.install(patch)
    config.add_cleanup(patch.undo)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set for a portal of their own must not reach a test."""
    for name in [name for name in os.environ if name.startswith("PORTAL_")]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """After every other fixture: they come later, and so they end before."""
    yield
    closing.close_all()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def upstream() -> Iterator[FaultUpstream]:
    """The primary: answers well until told otherwise."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture
def secondary() -> Iterator[FaultUpstream]:
    """A second base address with the same paths."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresProcess]:
    """One server for all tests that leave it running."""
    with PostgresProcess() as server:
        yield server


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database, of each kind in turn."""
    if request.param == "sqlite":
        return Database(None, tmp_path)
    server: PostgresProcess = request.getfixturevalue("postgres")
    return Database(server.new_database(), tmp_path)


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    """That database, opened."""
    with opened(database.url, database.folder) as engine:
        yield engine


@pytest.fixture
def portal(tmp_path: Path, upstream: FaultUpstream) -> Iterator[PortalFactory]:
    """Builds portals in this process: ``portal()`` is managed, in front of ``upstream``.

    ``portal(env)`` takes the full PORTAL_ names in place of that; ``portal({})`` is the demo.
    Named settings come on top without the prefix: ``portal(FRESH_DECODE="60")``. Every portal
    of a test has the same data directory, as a restarted one would.
    """
    with ExitStack() as open_ones:

        def build(env: Mapping[str, str] | None = None, **named: str) -> InProcessPortal:
            chosen = managed(upstream.url) if env is None else env
            settings = {**chosen, **{f"PORTAL_{name}": value for name, value in named.items()}}
            return open_ones.enter_context(built(tmp_path / "data", settings))

        yield build
