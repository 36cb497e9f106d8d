"""Recognises a database that was put back from a copy."""

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from portal.storage.backup import DATABASE_NAME
from tests.fakes.databases import PostgresProcess, opened


def test_copy_in_the_place_of_a_deleted_file_is_recognised(tmp_path: Path) -> None:
    with opened(None, tmp_path) as database:
        database.record_origin()
        assert not database.is_restored()
    file = tmp_path / DATABASE_NAME
    copy, inode = tmp_path / "copy", file.stat().st_ino
    shutil.copyfile(file, copy)
    file.unlink()
    shutil.copyfile(copy, file)  # ext4 gives the file the inode of the deleted one
    if file.stat().st_ino == inode and os.uname().sysname != "Linux":
        pytest.skip("the system may not tell when a file was created")
    with opened(None, tmp_path) as database:
        assert database.is_restored()
        database.record_origin()
        assert not database.is_restored()


@pytest.mark.long
@pytest.mark.slow
def test_copy_by_create_database_is_recognised(tmp_path: Path) -> None:
    with PostgresProcess() as server:
        url = server.new_database()
        with opened(url, tmp_path) as database:
            database.record_origin()
            assert not database.is_restored()
        name = url.rpartition("/")[2].partition("?")[0]
        administrator = create_engine(
            server.url.replace("postgresql://", "postgresql+psycopg://"),
            isolation_level="AUTOCOMMIT",
        )
        with administrator.connect() as db:
            db.exec_driver_sql(f'CREATE DATABASE a_copy TEMPLATE "{name}"')
        administrator.dispose()
        with opened(url.replace(name, "a_copy"), tmp_path) as database:
            assert database.is_restored()
