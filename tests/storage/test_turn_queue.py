"""Writers of one process queue for SQLite's write lock instead of polling for it."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoTurn

from portal.storage import sqlite
from portal.storage.opening import open_database
from portal.storage.turn_queue import TurnQueue
from tests.fakes import wait_until
from tests.fakes.closing import closed_later
from tests.fakes.one_tenant import ledger_of
from tests.gateway.ledgers import buy, spent

WRITERS = 250  # more than the connections in a process's pool


@contextmanager
def turn(queue: TurnQueue, until: float) -> Iterator[None]:
    queue.acquire(until)
    try:
        yield
    finally:
        queue.release()


def waiters(queue: TurnQueue) -> int:
    return len(queue._waiters)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock, as another process does."""
    with closing(sqlite3.connect(file, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        yield
        foreign.execute("ROLLBACK")


def test_crowd_of_writers_outlasts_a_lock_longer_than_the_pool_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "POOL_TIMEOUT_S", 0.2)
    database = closed_later(open_database(None, tmp_path), lambda database: database.dispose())
    ledger = ledger_of(database)
    with ThreadPoolExecutor(WRITERS) as pool:
        with locked(tmp_path / "portal.sqlite"):
            calls = [pool.submit(buy, ledger) for _ in range(WRITERS)]
            time.sleep(1.5)
            with database.reading() as db:  # waiting writers leave connections for readers
                assert db.exec_driver_sql("SELECT count(*) FROM ledger").scalar() == 0
        for call in calls:
            call.result()
    assert Counter(spent(ledger)) == {"answered": WRITERS}
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_wait_in_the_queue_ends_with_its_time(tmp_path: Path) -> None:
    database = closed_later(open_database(None, tmp_path), lambda database: database.dispose())
    with database.writing(), ThreadPoolExecutor(1) as pool:
        started = time.monotonic()

        def write() -> None:
            with database.writing(0.3):
                raise AssertionError("two writers at once")

        with pytest.raises(SQLAlchemyError):
            pool.submit(write).result()
        assert 0.3 <= time.monotonic() - started < 3
    with database.writing(0.3) as db:
        db.exec_driver_sql("DELETE FROM ledger")


def test_shortest_remaining_wait_is_served_first() -> None:
    queue, order = TurnQueue(), list[str]()

    def write(name: str, wait_s: float) -> None:
        with turn(queue, time.monotonic() + wait_s):
            order.append(name)

    threads = []
    with turn(queue, time.monotonic()):
        for number, (name, wait_s) in enumerate(
            [("opens", 60), ("opens later", 61), ("closes", 30)], start=1
        ):
            threads.append(threading.Thread(target=write, args=(name, wait_s)))
            threads[-1].start()
            wait_until(lambda number=number: waiters(queue) == number, "the waiter")  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order == ["closes", "opens", "opens later"]


def test_turns_never_overlap_and_none_is_lost() -> None:
    queue, inside, most = TurnQueue(), 0, 0

    def write(number: int) -> bool:
        nonlocal inside, most
        try:
            with turn(queue, time.monotonic() + (0.002 if number % 3 else 60)):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1
        except NoTurn:
            return False
        return True

    with ThreadPoolExecutor(64) as pool:
        done = list(pool.map(write, range(600)))
    assert most == 1
    assert all(done[::3])
    with turn(queue, time.monotonic()):
        assert waiters(queue) == 0
