"""A command builds only the parts of the portal that it uses."""

from pathlib import Path

import pytest

from portal.factory import Portal
from portal.settings import Settings


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        (["db", "current"], {"store", "gateway", "ledger", "dossiers", "pool"}),
        (["token", "list"], {"store", "gateway", "ledger", "dossiers", "pool"}),
        (["ledger"], {"store", "gateway", "dossiers", "pool"}),
        (["restore", "nothing.tar"], {"database", "backend"}),
    ],
)
def test_command_builds_only_what_it_uses(
    tmp_path: Path, command: list[str], unused: set[str]
) -> None:
    settings = Settings.from_environment({"PORTAL_DATA_DIR": str(tmp_path)})
    Portal(settings, b"key").database.dispose()
    portal = Portal(settings, b"key", is_command=True)
    outcome = portal.app.test_cli_runner().invoke(args=command)
    assert outcome.exit_code == (command[0] == "restore"), outcome.output
    assert not {"scheduler", "sessions", "assets", *unused} & vars(portal).keys()
    portal.close()
