"""A locked ledger and a frozen PostgreSQL delay lookups, not stored answers."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine, make_url

from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, in_turn, one, together

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}
# Longer than the portal accepts a cached token without the database.
LOCKED_S = 8.0
STORED = path_of("decode", "ZZZ9Z99")
PROMISED_S = 0.1
SLOWER = 10


@pytest.fixture
def stoppable() -> Iterator[PostgresProcess]:
    with PostgresProcess() as server:
        yield server


@contextmanager
def locked_ledger(url: str) -> Iterator[None]:
    database = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with database.engine.connect() as db:
        db.exec_driver_sql("LOCK TABLE ledger IN ACCESS EXCLUSIVE MODE")
        yield
        db.rollback()
    database.dispose()


def misses(count: int) -> list[Ask]:
    return [Ask(path_of("decode", f"ABC1D{number:02}"), HEADER) for number in range(count)]


def percentile_99(answers: list[Answer]) -> float:
    return sorted(answer.seconds for answer in answers)[len(answers) * 99 // 100]


def undisturbed(server: PortalProcess, hit: Ask) -> list[Answer]:
    """Return the answers to hits before the fault."""
    return in_turn(server.port, [hit] * 1000, clients=2)


def assert_as_fast(answers: list[Answer], before: list[Answer]) -> None:
    """Assert that 99 % of hits take at most 0.1 s, or ten times as long as before.

    A hit that waits for the database takes 2 s or more.
    """
    assert Counter(answer.status for answer in answers) == {200: len(answers)}
    assert percentile_99(answers) <= max(PROMISED_S, SLOWER * percentile_99(before))


def test_hits_of_issued_tokens_beside_a_locked_ledger(
    postgres: PostgresProcess, upstream: FaultUpstream
) -> None:
    url = postgres.new_database()
    env = managed(upstream.url) | {"PORTAL_DATABASE_URL": url}
    with PortalProcess(env, workers=1) as server:
        token = server.command_line("token", "issue", "ana").stdout.split()[-1]
        hit = Ask(STORED, {"Authorization": token})
        assert one(server.port, hit).status == 200
        before = undisturbed(server, hit)
        with locked_ledger(url):
            crowd = threading.Thread(target=together, args=(server.port, misses(40)))
            crowd.start()
            answers: list[Answer] = []
            ends_at = time.monotonic() + LOCKED_S
            while time.monotonic() < ends_at:
                answers += in_turn(server.port, [hit] * 100, clients=2)
        crowd.join()
        assert_as_fast(answers, before)


def test_hits_and_pages_beside_a_frozen_database(
    stoppable: PostgresProcess, upstream: FaultUpstream
) -> None:
    env = managed(upstream.url) | {"PORTAL_DATABASE_URL": stoppable.default_url}
    with PortalProcess(env, workers=1) as server:
        hit = Ask(STORED, HEADER)
        assert one(server.port, hit).status == 200
        before = undisturbed(server, hit)
        stoppable.pause()
        try:
            crowd = threading.Thread(target=together, args=(server.port, misses(20)))
            crowd.start()
            answers = in_turn(server.port, [hit] * 2000, clients=2)
            assert_as_fast(answers, before)
            crowd.join()
        finally:
            stoppable.resume()
