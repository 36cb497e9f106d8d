"""The engine works under a crowd, the secret key is made once."""

import multiprocessing
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from portal.storage import load_secret_key, open_engine, reading, spending

SPAWN = multiprocessing.get_context("spawn")


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


def test_a_key_that_is_there_is_kept(tmp_path):
    (tmp_path / "secret_key").write_text("chosen\n")
    assert load_secret_key(tmp_path) == "chosen"


def test_tables_are_made_and_a_second_opening_keeps_what_is_there(tmp_path):
    first = open_engine(None, tmp_path)
    with first.begin() as db:
        db.execute(insert(spending).values(day="2026-11-01", payer="day", calls=3))
    first.dispose()
    second = open_engine(None, tmp_path)
    with reading(second) as db:
        assert db.execute(select(spending.c.calls)).scalar() == 3
    second.dispose()


def test_a_reader_neither_waits_for_a_writer_nor_holds_one_up(tmp_path):
    engine = open_engine(None, tmp_path)
    with engine.begin() as writer:
        writer.execute(insert(spending).values(day="2026-11-01", payer="day", calls=1))
        with reading(engine) as reader:
            assert reader.execute(select(spending.c.calls)).all() == []
    with reading(engine) as reader:
        assert reader.execute(select(spending.c.calls)).all() == [(1,)]
        with engine.begin() as writer:
            writer.execute(insert(spending).values(day="2026-11-02", payer="day", calls=2))
    engine.dispose()


@pytest.mark.parametrize("pragma", ["journal_mode", "secure_delete"])
def test_deleted_rows_are_overwritten_and_readers_never_block(tmp_path, pragma):
    engine = open_engine(None, tmp_path)
    with reading(engine) as db:
        value = db.exec_driver_sql(f"PRAGMA {pragma}").scalar()
    engine.dispose()
    assert value in ("wal", 1)
