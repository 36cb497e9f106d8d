"""Starts and commands on databases of the first release and of versions before it."""

from contextlib import closing
from pathlib import Path

import pytest

from portal.storage.schema import REVISIONS, SCHEMA_HEAD
from tests.effort import long
from tests.fakes import FaultUpstream
from tests.fakes.databases import EmptyDatabase, PostgresProcess
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess
from tests.storage.former_schemas import BEFORE_THE_FIRST_RELEASE, FIRST_RELEASE, execute


@pytest.mark.parametrize("kind", ["sqlite", *long("postgresql")])
def test_start_on_a_database_before_the_first_release_says_what_to_do(
    kind: str, request: pytest.FixtureRequest, upstream: FaultUpstream, tmp_path: Path
) -> None:
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path)}
    database = EmptyDatabase(None, tmp_path)
    if kind == "postgresql":
        database = EmptyDatabase(request.getfixturevalue("postgres").new_database(), tmp_path)
        settings |= {"PORTAL_DATABASE_URL": str(database.url)}
    execute(database, FIRST_RELEASE)
    execute(database, BEFORE_THE_FIRST_RELEASE)
    with closing(PortalProcess(settings, workers=1)) as server:
        with pytest.raises(AssertionError, match="ended with 1:"):
            server.start()
        assert server.output == (
            "dossie-veicular: cannot start: the database has the schema of a version before the "
            f"first release (0007, this version needs {SCHEMA_HEAD}): set it aside and start with "
            "an empty database\n"
        )
    assert execute(database, "SELECT version_num FROM alembic_version") == [("0007",)]


def test_start_takes_over_the_embedded_database_of_the_first_release(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    execute(EmptyDatabase(None, tmp_path), FIRST_RELEASE)
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path)}
    with PortalProcess(settings, workers=2) as server:
        assert server.command_line("db", "current").stdout == f"{SCHEMA_HEAD} (head)\n"
        assert len(server.command_line("ledger", "--all").stdout.splitlines()) == 1


@pytest.mark.long
def test_former_postgresql_database_is_migrated_by_the_command_alone(
    postgres: PostgresProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    database = EmptyDatabase(postgres.new_database(), tmp_path)
    execute(database, FIRST_RELEASE)
    settings = managed(upstream.url) | {"PORTAL_DATABASE_URL": str(database.url)}
    with closing(PortalProcess(settings, workers=1)) as server:
        if REVISIONS[0] != SCHEMA_HEAD:
            with pytest.raises(AssertionError, match="ended with 1:"):
                server.start()
            assert server.output == (
                "dossie-veicular: cannot start: the database has the schema of a former version "
                f"(0008, this version needs {SCHEMA_HEAD}): run flask --app app db upgrade\n"
            )
            upgraded = server.command_line("db", "upgrade")
            assert upgraded.stdout == f"Migrated the database from 0008 to {SCHEMA_HEAD}.\n"
        server.start()
        listed = server.command_line("ledger", "--all")
        assert len(listed.stdout.splitlines()) == 1, listed.stderr


@pytest.mark.long
def test_token_may_be_issued_on_an_empty_postgresql_database(
    postgres: PostgresProcess, upstream: FaultUpstream
) -> None:
    settings = managed(upstream.url) | {"PORTAL_DATABASE_URL": postgres.new_database()}
    with closing(PortalProcess(settings, workers=1)) as shell:
        assert shell.command_line("db", "current").stdout == "empty\n"
        issued = shell.command_line("token", "issue", "ana")
        assert issued.returncode == 0, issued.stderr
        assert "ana" in shell.command_line("token", "list").stdout
