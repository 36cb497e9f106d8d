"""Another process holds a write lock: no request hangs, and no answer is lost.

``test_waits_for_the_write_lock_end_with_the_deadline`` checks how long requests wait.
"""

import csv
import io
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.processes import PortalProcess
from tests.outages.stored import PLATE, is_stored, lookup, serving, submit_lookup


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            database.execute("ROLLBACK")


def outcomes(server: PortalProcess) -> list[str]:
    printed = server.command_line("ledger", "--csv").stdout
    return [row["outcome"] for row in csv.DictReader(io.StringIO(printed))]


@pytest.mark.parametrize("name", ["cache.sqlite", "portal.sqlite"])
def test_foreign_write_lock_does_not_lose_a_paid_answer(upstream: FaultUpstream, name: str) -> None:
    gate = threading.Event()
    upstream.default(faults.held(gate))
    with serving(upstream) as server, ThreadPoolExecutor(1) as pool:
        answer = submit_lookup(pool, server, PLATE)
        upstream.wait_for_calls(1)
        with locked(server.data_dir / name):
            gate.set()
            assert answer.result().status == 200
        wait_until(lambda: is_stored(server, PLATE) == {True}, "the answer in the store")
        wait_until(lambda: outcomes(server) == ["answered"], "the end in the ledger")
        assert upstream.count() == 1


@pytest.mark.over_5_s("SQLite waits 5 s for a lock")
def test_foreign_write_lock_before_the_send_refuses_the_lookup(upstream: FaultUpstream) -> None:
    with (
        serving(upstream, DEADLINE="6") as server,
        locked(server.data_dir / "portal.sqlite"),
    ):
        refused = lookup(server, PLATE)
        assert (refused.status, upstream.count()) == (503, 0)
