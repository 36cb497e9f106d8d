"""The SQL engine under load and in outages, and creation of the secret key."""

import math
import multiprocessing
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from portal.storage.database import Database
from portal.storage.opening import open_database
from portal.storage.secret import load_secret_key
from portal.storage.tables import call_counters, tokens
from portal.system.start_refused import StartRefused
from tests.fakes import free_port, wait_until
from tests.fakes.databases import EmptyDatabase, PostgresProcess, opened
from tests.fakes.preloaded import PRELOADED

_TOKEN = {
    "digest": "d" * 64,
    "namespace": "upstream",
    "name": "n" * 80,
    "scopes": "decode",
    "daily_limit": 2**31 - 1,
}


def postgresql_module() -> ModuleType:
    """Import lazily, because these tests are skipped where psycopg is not installed."""
    from portal.storage import postgresql

    return postgresql


def _load(folder: Path, keys: "multiprocessing.Queue[str]") -> None:
    keys.put(load_secret_key(folder))


def test_concurrent_starts_create_one_private_secret_key(tmp_path: Path) -> None:
    keys = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=_load, args=(tmp_path / "new", keys)) for _ in range(3)]
    for racer in racers:
        racer.start()
    keys_read = {keys.get(timeout=60) for _ in racers}
    for racer in racers:
        racer.join(30)
    assert len(keys_read) == 1
    assert len(keys_read.pop()) == 64
    (path,) = (tmp_path / "new").iterdir()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", ["0f" * 32, "0F" * 32 + "\n", "\r\n" + "a1" * 32 + "\r\n"])
def test_existing_secret_key_is_used(tmp_path: Path, content: str) -> None:
    (tmp_path / "secret_key").write_bytes(content.encode())
    assert load_secret_key(tmp_path) == content.strip()


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"chosen", b"0f" * 31, b"0f" * 33, b"0g" * 32, b"0f" * 32 + b" ", b"\xff"],
)
def test_invalid_secret_key_file_is_rejected(tmp_path: Path, content: bytes) -> None:
    """Regression: an empty key was accepted, so anyone could forge sessions."""
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(StartRefused, match=r"64 hexadecimal characters$"):
        load_secret_key(tmp_path)
    assert (tmp_path / "secret_key").read_bytes() == content


def _open(empty_database: EmptyDatabase, ended: "multiprocessing.Queue[str]") -> None:
    """Put into ``ended`` the error's text, else "alembic" if it was loaded, else ""."""
    try:
        empty_database.open().dispose()
    except Exception as error:
        ended.put(str(error))
    else:
        ended.put("alembic" if "alembic" in sys.modules else "")


def test_concurrent_starts_on_an_empty_database_succeed(empty_database: str) -> None:
    ended = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=_open, args=(empty_database, ended)) for _ in range(4)]
    for racer in racers:
        racer.start()
    assert {ended.get(timeout=60) for _ in racers} <= {"", "alembic"}
    for racer in racers:
        racer.join(30)


def test_start_on_an_up_to_date_database_does_not_load_alembic(
    empty_database: EmptyDatabase,
) -> None:
    empty_database.open().dispose()
    ended = PRELOADED.Queue()
    start = PRELOADED.Process(target=_open, args=(empty_database, ended))
    start.start()
    assert ended.get(timeout=60) == ""
    start.join(30)


@pytest.mark.long
@pytest.mark.slow
def test_engine_opened_in_an_outage_recovers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A restarted worker must not exit, because crashing workers end the server."""
    with PostgresProcess() as server:
        open_database(server.url, tmp_path).dispose()
        server.stop()
        with pytest.raises(OperationalError):
            open_database(server.url, tmp_path)
        with opened(server.url, tmp_path, required=False) as database:
            with pytest.raises(OperationalError), database.reading() as db:
                db.execute(select(call_counters))
            server.start()
            with database.reading() as db:
                assert db.execute(select(call_counters)).all() == []
    assert caplog.messages == ["the database is away: OperationalError"]


def test_engine_opened_without_its_file_recovers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A mount may be missing for a while, and then the database file is missing."""
    open_database(None, tmp_path / "data").dispose()
    (tmp_path / "data").rename(tmp_path / "kept")
    (tmp_path / "data").write_text("no directory")
    with pytest.raises(OSError, match="File exists"):
        open_database(None, tmp_path / "data")
    with opened(None, tmp_path / "data", required=False) as database:
        with pytest.raises(OperationalError), database.reading() as db:
            db.execute(select(call_counters))
        (tmp_path / "data").unlink()
        (tmp_path / "kept").rename(tmp_path / "data")
        with database.reading() as db:
            assert db.execute(select(call_counters)).all() == []
    assert caplog.messages == ["the database is away: FileExistsError, EEXIST"]


@pytest.mark.parametrize("kept", [0, 4096])
def test_required_engine_rejects_a_corrupt_file(tmp_path: Path, kept: int) -> None:
    """``kept`` is the number of intact bytes before the corrupt ones."""
    open_database(None, tmp_path).dispose()
    file = tmp_path / "portal.sqlite"
    file.write_bytes(file.read_bytes()[:kept] + bytes(range(256)) * 64)
    with pytest.raises(OSError, match="is corrupt: restore it"):
        open_database(None, tmp_path)


@pytest.mark.long
@pytest.mark.slow
def test_pool_opens_at_most_eight_connections(postgres: PostgresProcess, tmp_path: Path) -> None:
    """Regression: four processes with 32 connections each exceeded a server's limit of 100."""
    counted = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend'"  # not the server's own autovacuum
    )

    def ask(_: int) -> int:
        with database.engine.begin() as db:
            db.execute(text("SELECT pg_sleep(0.01)"))
            return int(db.execute(counted).scalar_one())

    with opened(postgres.new_database(), tmp_path) as database, ThreadPoolExecutor(40) as pool:
        assert max(pool.map(ask, range(80))) <= 8


@pytest.mark.long
@pytest.mark.slow
def test_pool_waiters_stay_while_connections_are_returned(
    postgres: PostgresProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: some of 128 concurrent cache misses gave up after 2 s."""
    monkeypatch.setattr(postgresql_module(), "POOL_TIMEOUT_S", 1.5)

    def ask(_: int) -> int:
        with database.engine.begin() as db:
            return int(db.execute(text("SELECT 1 FROM pg_sleep(0.3)")).scalar_one())

    with opened(postgres.new_database(), tmp_path) as database, ThreadPoolExecutor(64) as pool:
        assert list(pool.map(ask, range(64))) == [1] * 64  # 8 connections × 8 sleeps of 0.3 s


@pytest.mark.long
@pytest.mark.slow
def test_pool_waiters_stay_while_connections_are_opened(
    postgres: PostgresProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: on a busy machine, waiters gave up before the connections opened."""
    monkeypatch.setattr(postgresql_module(), "POOL_TIMEOUT_S", 2.5)
    connection_class = postgresql_module()._Connection
    connect, serially, all_opened = connection_class.connect, threading.Lock(), threading.Barrier(8)

    def slow_connect(*given: Any, **named: Any) -> Any:
        with serially:
            time.sleep(0.5)
            return connect(*given, **named)

    def ask(number: int) -> None:
        with database.engine.connect():
            if number < 8:
                all_opened.wait()

    with opened(postgres.new_database(), tmp_path) as database, ThreadPoolExecutor(9) as pool:
        database.dispose()
        monkeypatch.setattr(connection_class, "connect", slow_connect)
        asks = [pool.submit(ask, number) for number in range(8)]
        pool_of_engine: Any = database.engine.pool  # untyped, because its class needs psycopg
        wait_until(lambda: not pool_of_engine._turns._free, "all permits in use")
        asks.append(pool.submit(ask, 8))
        for each in asks:
            each.result()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("live_at", "longest_s"), [(-math.inf, 60.0), (math.inf, 0.0)])
def test_pool_waiter_times_out(
    postgres: PostgresProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    live_at: float,
    longest_s: float,
) -> None:
    monkeypatch.setattr(postgresql_module(), "POOL_TIMEOUT_S", 0.2)
    monkeypatch.setattr(postgresql_module(), "LONGEST_WAIT_S", longest_s)
    with opened(postgres.new_database(), tmp_path) as database:
        with ExitStack() as connections:
            for _ in range(8):
                connections.enter_context(database.engine.connect())
            pool: Any = database.engine.pool  # untyped, because its class needs psycopg
            monkeypatch.setattr(pool._turns, "_progress_at", live_at)
            started = time.monotonic()
            with pytest.raises(NoConnectionFree):
                database.engine.connect()
            assert time.monotonic() - started < 30
        database.engine.connect().close()


@pytest.mark.long
@pytest.mark.slow
def test_pool_serves_waiters_in_order(postgres: PostgresProcess, tmp_path: Path) -> None:
    """A new caller does not get a returned connection before the waiters."""
    served: list[int] = []

    def ask(number: int) -> None:
        with database.engine.connect():
            served.append(number)

    with opened(postgres.new_database(), tmp_path) as database, ExitStack() as connections:
        pool: Any = database.engine.pool  # untyped, because its class needs psycopg
        queue = pool._turns._waiters
        first = database.engine.connect()
        for _ in range(7):
            connections.enter_context(database.engine.connect())
        waiters = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for number, waiter in enumerate(waiters, 1):
            waiter.start()
            wait_until(partial(lambda count: len(queue) == count, number), "a place in the queue")
        first.close()
        for waiter in waiters:
            waiter.join(30)
    assert served == list(range(20))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.over_5_s("40 callers wait in turn for eight connections")
def test_pool_fails_fast_in_an_outage_and_keeps_its_capacity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL refuses connections, then hangs. Afterwards all eight connections are usable."""
    monkeypatch.setattr(postgresql_module(), "POOL_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgresql_module(), "ANSWER_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgresql_module(), "LONGEST_WAIT_S", 600.0)

    def ask(_: int) -> str:
        try:
            with database.reading() as db:
                return str(db.execute(text("SELECT 1")).scalar())
        except (OperationalError, NoConnectionFree) as error:
            return type(error).__name__

    with (
        PostgresProcess() as server,
        opened(server.default_url, tmp_path) as database,
        ThreadPoolExecutor(40) as pool,
    ):
        for stop, restore in ((server.stop, server.start), (server.pause, server.resume)):
            stop()
            assert "1" not in set(pool.map(ask, range(40)))
            restore()
            with ExitStack() as connections:
                for _ in range(8):
                    connections.enter_context(database.engine.connect())
        assert set(pool.map(ask, range(40))) == {"1"}


@pytest.mark.long
@pytest.mark.slow
def test_sessions_have_server_timeouts_that_the_url_overrides(
    postgres: PostgresProcess, tmp_path: Path
) -> None:
    """PostgreSQL must release the row locks of a machine that has lost its connection."""
    expected = {"statement_timeout": "5s", "idle_in_transaction_session_timeout": "5s"}
    with opened(postgres.new_database(), tmp_path) as database, database.reading() as db:
        assert {name: db.execute(text(f"SHOW {name}")).scalar() for name in expected} == expected
    with_own_timeout = postgres.url + "&options=-c%20statement_timeout=7s"
    with opened(with_own_timeout, tmp_path) as database, database.reading() as db:
        assert db.execute(text("SHOW statement_timeout")).scalar() == "7s"


def test_connection_errors_omit_the_database_password(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    address = f"postgresql://ana:hush%2Dhush@127.0.0.1:{free_port()}/portal?password=hush-hush"
    pytest.importorskip("psycopg")
    with pytest.raises(OperationalError) as caught:
        open_database(address, tmp_path)
    open_database(address, tmp_path, required=False).dispose()
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "refused" in shown
    assert "hush" not in shown.replace(address, "")


def test_sqlite_file_from_a_url_is_private_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kept.sqlite"
    open_database(f"sqlite:///{path}", tmp_path).dispose()
    assert path.stat().st_mode & 0o077 == 0


def test_second_opening_keeps_existing_rows(empty_database: EmptyDatabase) -> None:
    where = empty_database.url, empty_database.folder
    with opened(*where) as database, database.engine.begin() as db:
        db.execute(
            insert(call_counters).values(
                namespace="upstream", day="2026-11-01", payer="day", calls=3
            )
        )
    with opened(*where) as database, database.reading() as db:
        assert db.execute(select(call_counters.c.calls)).scalar() == 3


def test_timestamps_and_integers_round_trip_exactly(database: Database) -> None:
    """PostgreSQL's type ``real`` would keep six of a timestamp's ten digits."""
    timestamp = 1_790_000_000.123456
    with database.engine.begin() as db:
        db.execute(insert(tokens).values(**_TOKEN, created_at=timestamp, expires_at=None))
    with database.reading() as db:
        row = db.execute(select(tokens)).one()
    assert (row.created_at, row.expires_at, row.daily_limit) == (timestamp, None, 2**31 - 1)


def test_reader_and_writer_do_not_block_each_other(database: Database) -> None:
    with database.writing() as writer:
        writer.execute(
            insert(call_counters).values(
                namespace="upstream", day="2026-11-01", payer="day", calls=1
            )
        )
        with database.reading() as reader:
            assert reader.execute(select(call_counters.c.calls)).all() == []
    with database.reading() as reader:
        assert reader.execute(select(call_counters.c.calls)).all() == [(1,)]
        with database.engine.begin() as writer:
            writer.execute(
                insert(call_counters).values(
                    namespace="upstream", day="2026-11-02", payer="day", calls=2
                )
            )


@pytest.mark.parametrize("pragma", ["journal_mode", "secure_delete"])
def test_sqlite_uses_wal_and_secure_delete(tmp_path: Path, pragma: str) -> None:
    with opened(None, tmp_path) as database, database.reading() as db:
        value = db.exec_driver_sql(f"PRAGMA {pragma}").scalar()
    assert value in ("wal", 1)


def test_connection_does_not_recreate_a_deleted_file(tmp_path: Path) -> None:
    """SQLite by default would create an empty file that other users can read."""
    with opened(None, tmp_path / "a b?c#d%") as database:
        (tmp_path / "a b?c#d%" / "portal.sqlite").unlink()
        database.dispose()
        with pytest.raises(OperationalError), database.reading() as db:
            db.execute(select(call_counters))
    assert not (tmp_path / "a b?c#d%" / "portal.sqlite").exists()
