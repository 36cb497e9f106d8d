"""The engine works under a crowd, the secret key is made once."""

import math
import multiprocessing
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from portal.storage import (
    InvalidSecretKey,
    load_secret_key,
    open_engine,
    reading,
    spending,
    tokens,
)
from tests.fakes import free_port, wait_until
from tests.fakes.databases import Database, PostgresProcess, opened

SPAWN = multiprocessing.get_context("spawn")
_TOKEN = {
    "digest": "d" * 64,
    "namespace": "upstream",
    "name": "n" * 80,
    "scopes": "decode",
    "daily_limit": 2**31 - 1,
}


def postgresql_room() -> ModuleType:
    """Late: where psycopg is not installed its tests skip."""
    from portal.storage import postgresql

    return postgresql


def _load(folder: Path, keys: "multiprocessing.Queue[str]") -> None:
    keys.put(load_secret_key(folder))


def test_the_secret_key_is_the_same_for_all_that_race_and_its_owners_alone(tmp_path):
    keys = SPAWN.Queue()
    racers = [SPAWN.Process(target=_load, args=(tmp_path / "new", keys)) for _ in range(3)]
    for racer in racers:
        racer.start()
    made = {keys.get(timeout=60) for _ in racers}
    for racer in racers:
        racer.join(30)
    assert len(made) == 1
    assert len(made.pop()) == 64
    (path,) = (tmp_path / "new").iterdir()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", ["0f" * 32, "0F" * 32 + "\n", "\r\n" + "a1" * 32 + "\r\n"])
def test_an_existing_secret_key_is_used(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content.encode())
    assert load_secret_key(tmp_path) == content.strip()


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"chosen", b"0f" * 31, b"0f" * 33, b"0g" * 32, b"0f" * 32 + b" ", b"\xff"],
)
def test_a_secret_key_file_with_other_content_is_refused(tmp_path, content):
    """An empty key was accepted: anybody could sign a session or a dossier's code."""
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(InvalidSecretKey, match=r"64 hexadecimal characters$"):
        load_secret_key(tmp_path)
    assert (tmp_path / "secret_key").read_bytes() == content


def _open(database: Database, ended: "multiprocessing.Queue[str]") -> None:
    try:
        database.open().dispose()
    except Exception as error:
        ended.put(str(error))
    else:
        ended.put("")


def test_portals_that_start_at_once_on_an_empty_database_all_start(database):
    ended = SPAWN.Queue()
    racers = [SPAWN.Process(target=_open, args=(database, ended)) for _ in range(4)]
    for racer in racers:
        racer.start()
    assert {ended.get(timeout=60) for _ in racers} == {""}
    for racer in racers:
        racer.join(30)


def test_whoever_starts_while_the_database_is_away_uses_it_when_it_is_back(tmp_path, caplog):
    """A replaced worker must not die of it: the server takes that for a crash loop and ends."""
    with PostgresProcess() as server:
        open_engine(server.url, tmp_path).dispose()
        server.stop()
        with pytest.raises(OperationalError):
            open_engine(server.url, tmp_path)
        with opened(server.url, tmp_path, required=False) as engine:
            with pytest.raises(OperationalError), reading(engine) as db:
                db.execute(select(spending))
            server.start()
            with reading(engine) as db:
                assert db.execute(select(spending)).all() == []
    assert caplog.messages == ["the database is away: OperationalError"]


def test_whoever_starts_while_the_file_cannot_be_opened_uses_it_when_it_can(tmp_path, caplog):
    """The disk went read-only, or its mount is gone for a while."""
    open_engine(None, tmp_path / "data").dispose()
    (tmp_path / "data").rename(tmp_path / "kept")
    (tmp_path / "data").write_text("no directory")
    with pytest.raises(OSError, match="File exists"):
        open_engine(None, tmp_path / "data")
    with opened(None, tmp_path / "data", required=False) as engine:
        with pytest.raises(OperationalError), reading(engine) as db:
            db.execute(select(spending))
        (tmp_path / "data").unlink()
        (tmp_path / "kept").rename(tmp_path / "data")
        with reading(engine) as db:
            assert db.execute(select(spending)).all() == []
    assert caplog.messages == ["the database is away: FileExistsError"]


@pytest.mark.parametrize("kept", [0, 4096])
def test_a_start_on_a_corrupt_file_is_refused_in_one_line(tmp_path, kept):
    """Its first page or any other; a worker that is replaced meanwhile must not die of it."""
    open_engine(None, tmp_path).dispose()
    file = tmp_path / "portal.sqlite"
    file.write_bytes(file.read_bytes()[:kept] + bytes(range(256)) * 64)
    with pytest.raises(OSError, match="is corrupt: restore it"):
        open_engine(None, tmp_path)


def test_a_crowd_takes_few_connections_of_the_server_that_all_machines_share(postgres, tmp_path):
    """At 32 a process, four processes were refused by a server that takes a hundred."""
    counted = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend'"  # the server's own vacuum comes by as it likes
    )

    def ask(_: int) -> int:
        with engine.begin() as db:
            db.execute(text("SELECT pg_sleep(0.01)"))
            return int(db.execute(counted).scalar_one())

    with opened(postgres.new_database(), tmp_path) as engine, ThreadPoolExecutor(40) as pool:
        assert max(pool.map(ask, range(80))) <= 8


def test_a_crowd_stands_in_line_for_as_long_as_it_moves(postgres, tmp_path, monkeypatch):
    """Two seconds were all that anybody waited: 128 misses at once, and some were told that the
    ledger was away."""
    monkeypatch.setattr(postgresql_room(), "POOL_TIMEOUT_S", 1.5)

    def ask(_: int) -> int:
        with engine.begin() as db:
            return int(db.execute(text("SELECT 1 FROM pg_sleep(0.3)")).scalar_one())

    with opened(postgres.new_database(), tmp_path) as engine, ThreadPoolExecutor(64) as pool:
        assert list(pool.map(ask, range(64))) == [1] * 64  # eight turns of 0.3 s


@pytest.mark.parametrize(("moved_at", "longest_s"), [(-math.inf, 60.0), (math.inf, 0.0)])
def test_nobody_stays_in_a_line_that_stands_still_nor_for_ever_in_one_that_moves(
    postgres, tmp_path, monkeypatch, moved_at, longest_s
):
    monkeypatch.setattr(postgresql_room(), "POOL_TIMEOUT_S", 0.2)
    monkeypatch.setattr(postgresql_room(), "LONGEST_WAIT_S", longest_s)
    with opened(postgres.new_database(), tmp_path) as engine:
        with ExitStack() as all_of_them:
            for _ in range(8):
                all_of_them.enter_context(engine.connect())
            monkeypatch.setattr(engine.pool, "_returned_at", moved_at)
            started = time.monotonic()
            with pytest.raises(NoConnectionFree):
                engine.connect()
            assert time.monotonic() - started < 30
        engine.connect().close()


def test_who_came_first_is_served_first(postgres, tmp_path):
    """A newcomer that finds a connection just put back does not take it from who waits."""
    served: list[int] = []

    def ask(number: int) -> None:
        with engine.connect():
            served.append(number)

    with opened(postgres.new_database(), tmp_path) as engine, ExitStack() as all_of_them:
        line = engine.pool._waiters
        first = engine.connect()
        for _ in range(7):
            all_of_them.enter_context(engine.connect())
        waiters = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for number, waiter in enumerate(waiters, 1):
            waiter.start()
            wait_until(lambda n=number: len(line) == n, "a place in the line")
        first.close()
        for waiter in waiters:
            waiter.join(30)
    assert served == list(range(20))


def test_with_the_database_away_nobody_stays_in_line_and_no_place_is_lost(tmp_path, monkeypatch):
    """Refused at once, then silent: each costs everybody seconds; back, it serves eight again."""
    monkeypatch.setattr(postgresql_room(), "POOL_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgresql_room(), "ANSWER_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgresql_room(), "LONGEST_WAIT_S", 600.0)

    def ask(_: int) -> str:
        try:
            with reading(engine) as db:
                return str(db.execute(text("SELECT 1")).scalar())
        except (OperationalError, NoConnectionFree) as error:
            return type(error).__name__

    with (
        PostgresProcess() as server,
        opened(server.url, tmp_path) as engine,
        ThreadPoolExecutor(40) as pool,
    ):
        for leave, come_back in ((server.stop, server.start), (server.pause, server.resume)):
            leave()
            assert "1" not in set(pool.map(ask, range(40)))
            come_back()
            with ExitStack() as all_of_them:
                for _ in range(8):
                    all_of_them.enter_context(engine.connect())
        assert set(pool.map(ask, range(40))) == {"1"}


def test_a_machine_that_vanishes_in_mid_transaction_holds_up_nobody_for_long(postgres, tmp_path):
    """Its server lets go of the row it holds: all others count their calls in it."""
    asked = {"statement_timeout": "5s", "idle_in_transaction_session_timeout": "5s"}
    with opened(postgres.new_database(), tmp_path) as engine, reading(engine) as db:
        assert {name: db.execute(text(f"SHOW {name}")).scalar() for name in asked} == asked
    impatient = postgres.url + "?options=-c%20statement_timeout=7s"
    with opened(impatient, tmp_path) as engine, reading(engine) as db:
        assert db.execute(text("SHOW statement_timeout")).scalar() == "7s"


def test_no_error_tells_the_password_of_the_database(tmp_path, caplog):
    address = f"postgresql://ana:hush%2Dhush@127.0.0.1:{free_port()}/portal?password=hush-hush"
    pytest.importorskip("psycopg")
    with pytest.raises(OperationalError) as caught:
        open_engine(address, tmp_path)
    open_engine(address, tmp_path, required=False).dispose()
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "refused" in shown
    assert "hush" not in shown.replace(address, "")


def test_a_file_named_by_its_address_is_its_owners_alone(tmp_path):
    path = tmp_path / "new" / "kept.sqlite"
    open_engine(f"sqlite:///{path}", tmp_path).dispose()
    assert path.stat().st_mode & 0o077 == 0


def test_tables_are_made_and_a_second_opening_keeps_what_is_there(database):
    where = database.url, database.folder
    with opened(*where) as engine, engine.begin() as db:
        db.execute(
            insert(spending).values(namespace="upstream", day="2026-11-01", payer="day", calls=3)
        )
    with opened(*where) as engine, reading(engine) as db:
        assert db.execute(select(spending.c.calls)).scalar() == 3


def test_moments_and_numbers_come_back_as_they_went(engine):
    """PostgreSQL's real would keep six digits of a moment's ten."""
    moment = 1_790_000_000.123456
    with engine.begin() as db:
        db.execute(insert(tokens).values(**_TOKEN, created_at=moment, expires_at=None))
    with reading(engine) as db:
        row = db.execute(select(tokens)).one()
    assert (row.created_at, row.expires_at, row.daily_limit) == (moment, None, 2**31 - 1)


def test_a_reader_neither_waits_for_a_writer_nor_holds_one_up(engine):
    with engine.begin() as writer:
        writer.execute(
            insert(spending).values(namespace="upstream", day="2026-11-01", payer="day", calls=1)
        )
        with reading(engine) as reader:
            assert reader.execute(select(spending.c.calls)).all() == []
    with reading(engine) as reader:
        assert reader.execute(select(spending.c.calls)).all() == [(1,)]
        with engine.begin() as writer:
            writer.execute(
                insert(spending).values(
                    namespace="upstream", day="2026-11-02", payer="day", calls=2
                )
            )


@pytest.mark.parametrize("pragma", ["journal_mode", "secure_delete"])
def test_deleted_rows_are_overwritten_and_readers_never_block(tmp_path, pragma):
    with opened(None, tmp_path) as engine, reading(engine) as db:
        value = db.exec_driver_sql(f"PRAGMA {pragma}").scalar()
    assert value in ("wal", 1)


def test_only_the_start_makes_the_file_so_that_it_is_never_everybodys(tmp_path):
    """Deleted under a running portal, SQLite would make a new one: readable by all, empty."""
    with opened(None, tmp_path / "a b?c#d%") as engine:
        (tmp_path / "a b?c#d%" / "portal.sqlite").unlink()
        engine.dispose()
        with pytest.raises(OperationalError), reading(engine) as db:
            db.execute(select(spending))
    assert not (tmp_path / "a b?c#d%" / "portal.sqlite").exists()
