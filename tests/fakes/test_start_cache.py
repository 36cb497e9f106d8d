"""What the applications of a test process share is what each would make."""

import sqlite3
from contextlib import closing
from pathlib import Path

from portal.storage.opening import open_database
from tests.fakes import start_cache
from tests.fakes.databases import opened


def _content(folder: Path) -> tuple[list[str], int]:
    """Return the statements that make each table and row of a new database, and the file's mode."""
    folder.mkdir()
    open_database(None, folder).dispose()
    file = folder / "portal.sqlite"
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump()), file.stat().st_mode


def test_copied_database_is_like_one_that_is_created(tmp_path: Path) -> None:
    copied = _content(tmp_path / "copied")
    with start_cache.created_empty():
        assert _content(tmp_path / "created") == copied
    assert [path.name for path in (tmp_path / "copied").iterdir()] == ["portal.sqlite"]


def test_existing_database_is_not_replaced(tmp_path: Path) -> None:
    with start_cache.created_empty():
        open_database(None, tmp_path).dispose()
    row = ("a row", "of the first start")
    with closing(sqlite3.connect(tmp_path / "portal.sqlite")) as db:
        db.execute("INSERT INTO meta (name, value) VALUES (?, ?)", row)
        db.commit()
    with opened(None, tmp_path) as database, database.reading() as db:
        assert row in db.exec_driver_sql("SELECT name, value FROM meta").all()


def test_log_of_a_lost_database_is_not_read(tmp_path: Path) -> None:
    lost = open_database(None, tmp_path)
    with lost.writing() as db:
        db.exec_driver_sql("INSERT INTO meta (name, value) VALUES ('a row', 'of the lost file')")
    (tmp_path / "portal.sqlite").unlink()
    with opened(None, tmp_path) as database, database.reading() as db:
        assert db.exec_driver_sql("SELECT count(*) FROM meta").scalar() == 0
    lost.dispose()
