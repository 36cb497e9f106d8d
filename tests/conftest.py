"""Fixtures for all tests, and the guard that blocks access to the network."""

import gc
import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from portal.storage.database import Database
from tests import run_folder
from tests.fakes import (
    Clock,
    FaultUpstream,
    checkouts,
    closing,
    network_guard,
    pdf_children,
    start_cache,
    template_cache,
    tiers,
)
from tests.fakes.clock import RunningClock
from tests.fakes.databases import KINDS, EmptyDatabase, PostgresProcess, opened
from tests.fakes.in_process import InProcessPortal, built, managed

TESTS = Path(__file__).parent
# Each test in these folders starts a process: a server or a browser.
SLOW_FOLDERS = frozenset({"browser", "outages", "states"})
UPSTREAMS = frozenset({"upstream", "secondary"})  # fixtures

PortalFactory = Callable[..., InProcessPortal]


# No test depends on wall-clock speed, so examples have no deadline.
settings.register_profile("dossie", deadline=None)
settings.load_profile("dossie")


def pytest_configure(config: pytest.Config) -> None:
    # At its default thresholds, the garbage collector takes a seventh of a page test's time.
    gc.set_threshold(50_000, 20, 20)
    patch = pytest.MonkeyPatch()
    for name in [name for name in os.environ if name.startswith("PORTAL_")]:
        patch.delenv(name)  # a developer's own settings
    network_guard.install(patch)
    config.add_cleanup(patch.undo)
    config.add_cleanup(run_folder.make())
    if folder := run_folder.path():
        template_cache.install(folder / "templates")
    start_cache.install()
    checkouts.install()
    pdf_children.install()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the modules first, so that each is compiled by one process alone.

    pytest compiles the assertions of a module in 25 ms and stores the result. Processes that import
    all modules in one order would compile each module at the same time.
    """
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not number or session.config.args != ["tests"]:
        return
    modules = sorted(TESTS.rglob("test_*.py"))
    for module in modules[int(number) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        # pytest imports the module again, and reports the error.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(
                ".".join(module.relative_to(TESTS.parent).with_suffix("").parts)
            )


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Mark the tests of a folder ``slow``, and those with an upstream's fixture ``upstream``.

    Slow tests run last, and browser tests after the other slow tests.
    """
    for item in items:
        if _folder(item.path) in SLOW_FOLDERS:
            item.add_marker("slow")
        if UPSTREAMS & {*item.fixturenames}:
            item.add_marker("upstream")
    items.sort(key=lambda item: (is_slow(item), _folder(item.path) == "browser"))


@cache
def _folder(path: Path) -> str:
    """Return the folder in ``tests`` of a module, or the name of one that is in none."""
    return path.relative_to(TESTS).parts[0]


def pytest_collection_finish() -> None:
    """Hide the 7,000 collected tests and all modules from the garbage collector.

    A full collection that visits these objects takes a seventh of a fast test's time.
    """
    gc.collect()
    gc.freeze()


def is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the fakes know the test. Skip slow tests after SLOW_TESTS_UNTIL (epoch seconds).

    CI sets SLOW_TESTS_UNTIL, so that a run on a slow machine ends in time. The summary counts the
    skipped tests.
    """
    tiers.begin(item)
    checkouts.take_found()
    until = os.environ.get("SLOW_TESTS_UNTIL")
    if until and is_slow(item) and time.time() > float(until):
        pytest.skip("SLOW_TESTS_UNTIL has passed")


# The directories and modules whose tests run without a second connection of one thread.
ONE_CONNECTION = {"web", "access", "batch", "issued", "gateway", "storage", "test_batches.py"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Close registered resources after the fixtures' teardown.

    The test fails if a thread has taken a second connection of a pool while it held one.
    """
    try:
        yield
    finally:
        closing.close_all()
        found = checkouts.take_found()
    if found and ONE_CONNECTION & {*item.path.relative_to(TESTS).parts}:
        pytest.fail(f"{len(found)} second connections, the first at:\n{found[0]}")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def upstream() -> Iterator[FaultUpstream]:
    """The primary upstream. It answers correctly unless a test sets a fault."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture
def secondary() -> Iterator[FaultUpstream]:
    """The secondary upstream, with the same paths as the primary one."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresProcess]:
    """One PostgreSQL server, shared by the tests that do not stop it."""
    with PostgresProcess() as server:
        yield server


@pytest.fixture(params=KINDS)
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> EmptyDatabase:
    """An empty SQLite or PostgreSQL database, according to the parameter."""
    if request.param == "sqlite":
        return EmptyDatabase(None, tmp_path)
    server: PostgresProcess = request.getfixturevalue("postgres")
    return EmptyDatabase(server.new_database(), tmp_path)


@pytest.fixture
def database(empty_database: EmptyDatabase) -> Iterator[Database]:
    """The portal's database in ``empty_database``."""
    with opened(empty_database.url, empty_database.folder) as database:
        yield database


@pytest.fixture
def portal(tmp_path: Path, upstream: FaultUpstream) -> Iterator[PortalFactory]:
    """Return a function that builds portals in this process.

    ``portal()`` uses ``upstream`` with the operator's token (managed mode). ``portal(env)`` uses
    the settings in ``env``, by their full PORTAL_ names. ``portal({})`` uses the built-in sandbox
    (demo mode). Keyword arguments add settings without the prefix: ``portal(FRESH_DECODE="60")``.
    All portals of a test use one data directory, so a second portal acts as the restarted first
    one.
    """
    clock = RunningClock()
    with ExitStack() as open_portals:

        def build(env: Mapping[str, str] | None = None, **named: str) -> InProcessPortal:
            base = managed(upstream.url) if env is None else env
            settings = {**base, **{f"PORTAL_{name}": value for name, value in named.items()}}
            return open_portals.enter_context(built(tmp_path / "data", settings, clock))

        yield build
