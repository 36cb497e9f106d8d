"""The ``flask --app app db`` commands: output and exit codes."""

from typing import Any

import pytest

from portal.storage.schema import SCHEMA_HEAD
from tests.conftest import PortalFactory
from tests.fakes.databases import EmptyDatabase
from tests.fakes.in_process import InProcessPortal
from tests.storage.former_schemas import BEFORE_THE_FIRST_RELEASE, execute


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def run(here: InProcessPortal, *words: str) -> Any:
    return here.app.test_cli_runner().invoke(args=words)


def test_current_and_upgrade_on_an_up_to_date_database(here: InProcessPortal) -> None:
    assert run(here, "db", "current").stdout == f"{SCHEMA_HEAD} (head)\n"
    done = run(here, "db", "upgrade")
    assert (done.exit_code, done.stdout) == (0, f"The database is at {SCHEMA_HEAD}.\n")


@pytest.mark.parametrize(
    "words",
    [
        ("ledger",),
        ("token", "list"),
        ("token", "issue", "ana"),
        ("purge", "ABC1D23"),
        ("db", "upgrade"),
    ],
)
def test_commands_refuse_a_database_before_the_first_release(
    here: InProcessPortal, words: tuple[str, ...]
) -> None:
    execute(EmptyDatabase(None, here.settings.data_dir), BEFORE_THE_FIRST_RELEASE)
    done = run(here, *words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "Nothing was done: the database has the schema of a version before the first release "
        f"(0007, this version needs {SCHEMA_HEAD}): set it aside and start with an empty "
        "database.\n"
    )
    assert run(here, "db", "current").stdout == "0007\n"


def test_upgrade_refuses_an_unknown_revision(here: InProcessPortal) -> None:
    execute(
        EmptyDatabase(None, here.settings.data_dir),
        "UPDATE alembic_version SET version_num = '9999'",
    )
    assert run(here, "db", "current").stdout == "9999\n"
    done = run(here, "db", "upgrade")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Nothing was done: the database has the schema of another")
    assert done.stderr.count("\n") == 1
