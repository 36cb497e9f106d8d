"""The operator's commands, such as ``flask --app app batch``."""

from functools import partial

from flask import Flask

from portal.commands.audit import audit_commands, subject_command
from portal.commands.backup import backup_command, restore_command
from portal.commands.batch import batch_command
from portal.commands.data_check import refusal
from portal.commands.db import db_commands
from portal.commands.doctor import doctor_command
from portal.commands.dossier import dossier_commands
from portal.commands.ends import ends_commands
from portal.commands.key import key_commands
from portal.commands.ledger import ledger_command
from portal.commands.parts import Parts
from portal.commands.purge import purge_command
from portal.commands.token import token_commands
from portal.commands.version import version_command

_COMMANDS = (
    *(audit_commands, backup_command, batch_command, db_commands, doctor_command),
    *(
        dossier_commands,
        ends_commands,
        key_commands,
        ledger_command,
        purge_command,
        restore_command,
        subject_command,
    ),
    *(token_commands, version_command),
)


def register_commands(app: Flask, portal: Parts) -> None:
    """Add the operator's commands to ``app``."""
    for make in _COMMANDS:
        command = make(portal)
        command.check = partial(refusal, portal, str(command.name))
        app.cli.add_command(command)
