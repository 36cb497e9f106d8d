"""Two portals with two processes each write one trail: no gap, no fork, and a killed process."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier, Event
from typing import Final

import pytest

from portal.access.trail import Entry, Trail
from portal.storage.database import Database
from portal.storage.opening import open_database
from tests.fakes.databases import EmptyDatabase
from tests.fakes.one_tenant import subject_keys
from tests.fakes.preloaded import PRELOADED

pytestmark = pytest.mark.long

PROCESSES: Final = 4
THREADS: Final = 50
SECRET: Final = b"s" * 32


def trail_of(database: Database) -> Trail:
    return Trail(database, subject_keys(SECRET, lambda subject: f"tag-of-{subject}"))


def _entry(who: str, number: int, act: str) -> Entry:
    return Entry(
        who=who,
        kind="token",
        act=act,  # type: ignore[arg-type]
        face="api",
        vehicle=f"ABC{number % 10_000:04}",
        number=str(number),
    )


def _write(empty_database: EmptyDatabase, process: int, ready: Barrier, each: int) -> None:
    database = open_database(
        empty_database.url, empty_database.folder, required=False, create=False
    )
    trail = trail_of(database)
    ready.wait(60)

    def work(thread: int) -> None:
        for number in range(each):
            name = f"{process}.{thread}"
            if number % 2:
                with database.writing(120.0) as db:
                    trail.write(db, _entry(name, number, "issued"))
            else:
                trail.note(_entry(name, number, "asked"))
        trail.flush()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    trail.flush()
    database.dispose()


def test_50_threads_in_4_processes_leave_no_gap_and_no_fork(empty_database: EmptyDatabase) -> None:
    database, each = empty_database.open(), 4
    ready = PRELOADED.Barrier(PROCESSES)
    racers = [
        PRELOADED.Process(target=_write, args=(empty_database, process, ready, each))
        for process in range(PROCESSES)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(300)
    assert [racer.exitcode for racer in racers] == [0] * PROCESSES
    trail, count = trail_of(database), PROCESSES * THREADS * each
    found = trail.verify()
    assert (found.fault, found.rows, found.last.number) == (None, count, count)
    wanted = {(f"{p}.{t}", str(n)) for p in range(4) for t in range(THREADS) for n in range(each)}
    assert {(row.who, row.number) for row in trail.rows()} == wanted


def _work_until_killed(empty_database: EmptyDatabase, begun: Event) -> None:
    database = open_database(
        empty_database.url, empty_database.folder, required=False, create=False
    )
    trail = trail_of(database)
    for number in range(1_000_000):
        trail.add(_entry("killed", number, "issued"))
        if number == 20:
            begun.set()


def test_kill_loses_no_act_that_was_done_and_breaks_no_chain(empty_database: EmptyDatabase) -> None:
    database = empty_database.open()
    begun = PRELOADED.Event()
    worker = PRELOADED.Process(target=_work_until_killed, args=(empty_database, begun))
    worker.start()
    assert begun.wait(120)
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(60)
    trail = trail_of(database)
    done = [row.number for row in trail.rows()]
    assert done == [str(number) for number in range(len(done))]
    assert len(done) > 20
    trail.add(_entry("next", 0, "issued"))
    assert trail.verify().fault is None
