"""The operator's commands, such as ``flask --app app batch``."""

from flask import Flask

from portal.commands.backup import backup_command, restore_command
from portal.commands.batch import batch_command
from portal.commands.data_check import DataCheck
from portal.commands.db import db_commands
from portal.commands.dossier import dossier_commands
from portal.commands.key import key_commands
from portal.commands.ledger import ledger_command
from portal.commands.parts import Parts
from portal.commands.purge import purge_command
from portal.commands.token import token_commands


def register_commands(app: Flask, portal: Parts) -> None:
    """Add the operator's commands to ``app``."""
    for command, check in (
        (batch_command(portal), DataCheck.for_batch),
        (token_commands(portal), DataCheck.for_token),
        (purge_command(portal), DataCheck.for_purge),
        (ledger_command(portal), DataCheck.for_ledger),
        (dossier_commands(portal), DataCheck.for_ledger),
        (db_commands(portal), DataCheck.for_db),
        (backup_command(portal), DataCheck.for_backup),
        (key_commands(portal), DataCheck.for_key),
    ):
        command.check = lambda check=check: check(portal.data_check)  # type: ignore[misc]
        app.cli.add_command(command)
    app.cli.add_command(restore_command(portal))
