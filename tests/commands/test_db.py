"""The ``flask --app app db`` commands: output and exit codes."""

from typing import Any

import pytest

from portal.storage.schema import SCHEMA_HEAD
from tests.conftest import PortalFactory
from tests.fakes.databases import Database
from tests.fakes.in_process import InProcessPortal
from tests.storage.former_schemas import FORMER, execute


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def run(here: InProcessPortal, *words: str) -> Any:
    return here.app.test_cli_runner().invoke(args=words)


def replace_database(here: InProcessPortal, script: str) -> Database:
    """Replace the portal's database by one of a former version."""
    for file in here.settings.data_dir.glob("portal.sqlite*"):
        file.unlink()
    database = Database(None, here.settings.data_dir)
    execute(database, script)
    return database


def test_current_and_upgrade_on_an_up_to_date_database(here: InProcessPortal) -> None:
    assert run(here, "db", "current").stdout == f"{SCHEMA_HEAD} (head)\n"
    done = run(here, "db", "upgrade")
    assert (done.exit_code, done.stdout) == (0, f"The database is at {SCHEMA_HEAD}.\n")


def test_upgrade_migrates_a_former_database_once(here: InProcessPortal) -> None:
    database = replace_database(here, FORMER)
    assert run(here, "db", "current").stdout == "0001\n"
    done = run(here, "db", "upgrade")
    assert (done.exit_code, done.stdout) == (
        0,
        f"Migrated the database from 0001 to {SCHEMA_HEAD}.\n",
    )
    assert run(here, "db", "upgrade").stdout == f"The database is at {SCHEMA_HEAD}.\n"
    assert execute(database, "SELECT count(*) FROM access_tokens") == [(2,)]


@pytest.mark.parametrize(
    "words", [("ledger",), ("token", "list"), ("token", "issue", "ana"), ("purge", "ABC1D23")]
)
def test_other_commands_refuse_a_former_database_unchanged(
    here: InProcessPortal, words: tuple[str, ...]
) -> None:
    replace_database(here, FORMER)
    done = run(here, *words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Nothing was done: the database has the schema of a former")
    assert done.stderr.endswith("run flask --app app db upgrade.\n")
    assert run(here, "db", "current").stdout == "0001\n"


def test_upgrade_refuses_an_unknown_revision(here: InProcessPortal) -> None:
    execute(
        Database(None, here.settings.data_dir), "UPDATE alembic_version SET version_num = '9999'"
    )
    assert run(here, "db", "current").stdout == "9999\n"
    done = run(here, "db", "upgrade")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Nothing was done: the database has the schema of another")
    assert done.stderr.count("\n") == 1
