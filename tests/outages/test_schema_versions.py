"""Starts and commands on databases with the schema of a former version."""

from contextlib import closing
from pathlib import Path

import pytest

from portal.storage.schema import SCHEMA_HEAD
from tests.fakes import FaultUpstream
from tests.fakes.databases import Database, PostgresProcess
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess
from tests.storage.former_schemas import FORMER, execute


def test_start_on_a_former_postgresql_schema_names_the_command(
    postgres: PostgresProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    database = Database(postgres.new_database(), tmp_path)
    execute(database, FORMER)
    settings = managed(upstream.url) | {"PORTAL_DATABASE_URL": str(database.url)}
    with closing(PortalProcess(settings, workers=1)) as server:
        with pytest.raises(AssertionError, match="ended with 1:"):
            server.start()
        assert server.output == (
            "dossie-veicular: cannot start: the database has the schema of a former version "
            f"(0001, this version needs {SCHEMA_HEAD}): run flask --app app db upgrade\n"
        )
        refused = server.command_line("ledger")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.count("\n") == 1, refused.stderr
        assert "run flask --app app db upgrade" in refused.stderr
        upgraded = server.command_line("db", "upgrade")
        assert upgraded.returncode == 0, upgraded.stderr
        assert upgraded.stdout == f"Migrated the database from 0001 to {SCHEMA_HEAD}.\n"
        server.start()
        listed = server.command_line("ledger", "--all")
        assert len(listed.stdout.splitlines()) == 2, listed.stderr


def test_start_on_a_former_embedded_database_migrates_it(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    execute(Database(None, tmp_path), FORMER)
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path)}
    with PortalProcess(settings, workers=2) as server:
        assert "2 ledger rows and 2 tokens are set aside" in server.output
        assert server.command_line("db", "current").stdout == f"{SCHEMA_HEAD} (head)\n"
        assert len(server.command_line("ledger", "--all").stdout.splitlines()) == 2


def test_token_may_be_issued_on_an_empty_postgresql_database(
    postgres: PostgresProcess, upstream: FaultUpstream
) -> None:
    settings = managed(upstream.url) | {"PORTAL_DATABASE_URL": postgres.new_database()}
    with closing(PortalProcess(settings, workers=1)) as shell:
        assert shell.command_line("db", "current").stdout == "empty\n"
        issued = shell.command_line("token", "issue", "ana")
        assert issued.returncode == 0, issued.stderr
        assert "ana" in shell.command_line("token", "list").stdout
