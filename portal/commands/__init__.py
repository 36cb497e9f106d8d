"""The operator's commands, such as ``flask --app app batch``."""

from collections.abc import Callable

from flask import Flask

from portal.access.history import History
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Tokens
from portal.commands.backup import EmbeddedStore, backup_command, restore_command
from portal.commands.batch import CREDENTIAL_VARIABLE, BatchTools, batch_command
from portal.commands.data_check import DataCheck
from portal.commands.db import db_commands
from portal.commands.dossier import dossier_commands
from portal.commands.key import key_commands
from portal.commands.ledger import ledger_command
from portal.commands.purge import purge_command
from portal.commands.token import token_commands
from portal.dossiers.archive import DossierArchive
from portal.gateway.lease import Leases
from portal.gateway.ledger import Ledger
from portal.gateway.store import Store
from portal.gateway.usage_report import UsageLog


def register_commands(
    app: Flask,
    tokens: Tokens,
    ledger: Ledger,
    usage: UsageLog,
    store: Store,
    history: History,
    dossiers: DossierArchive,
    leases: Leases,
    data: DataCheck,
    create_database: Callable[[], object],
    batch_tools: BatchTools,
    embedded: EmbeddedStore,
    keys: SubjectKeys,
) -> None:
    """Add the operator's commands to ``app``.

    ``token issue`` calls ``create_database``, which creates the database if it is missing.
    ``create_database`` may raise OSError or SQLAlchemyError. ``keys`` has the present secret key
    alone.
    """
    token = token_commands(tokens, create_database)
    purge = purge_command(
        *(store, ledger, batch_tools.batches, history, dossiers, leases),
        data.engine,
        embedded.folders,
    )
    list_calls = ledger_command(ledger, usage)
    dossier = dossier_commands(dossiers)
    db = db_commands(data.engine)
    token.check, purge.check, list_calls.check = data.for_token, data.for_purge, data.for_ledger
    batch = batch_command(batch_tools)
    batch.check = data.for_batch
    dossier.check, db.check = data.for_ledger, data.for_db
    backup = backup_command(embedded)
    backup.check = data.for_backup
    restore = restore_command(embedded)
    key = key_commands(data, embedded.data_dir, keys, history, dossiers, batch_tools.batches)
    key.check = data.for_key
    for command in (batch, token, purge, list_calls, dossier, db, backup, restore, key):
        app.cli.add_command(command)


__all__ = ["CREDENTIAL_VARIABLE", "BatchTools", "DataCheck", "EmbeddedStore", "register_commands"]
