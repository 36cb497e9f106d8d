"""``flask --app app backup FILE`` and ``restore FILE``: copy the data to or from a file."""

import signal
import sqlite3
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from sqlalchemy.exc import SQLAlchemyError

from portal.access.data_key import OtherSecretKey, stored_data_key
from portal.access.sealing import SubjectKeys
from portal.access.trail import Trail
from portal.commands.acts import by_command
from portal.commands.failures import Command, fail
from portal.commands.parts import Parts
from portal.storage import origin
from portal.storage.backup import DATABASE_NAME, BackupRefused, Manifest, back_up, restore
from portal.storage.data_lock import DataLock
from portal.storage.later_ends import end_what_has_ended
from portal.storage.opening import open_database
from portal.storage.secret import NAME as KEY_NAME
from portal.system.error_kind import error_kind

_WITHOUT_KEY = (
    "The secret key is not in the backup. Without PORTAL_SECRET_KEY, or the file secret_key, its "
    "answers, histories and dossiers cannot be read."
)
_GOING_ON = """
SELECT count(*) FROM batches
WHERE state = 'running' OR (state = 'paused' AND resume_at IS NOT NULL)
"""
_VALID_TOKENS = """
SELECT name FROM access_tokens
WHERE revoked_at IS NULL AND coalesce(expires_at, 1e12) > ? ORDER BY name
"""


class _FileCommand(Command):
    """A command that prints BackupRefused and disk errors in one line and exits 1."""

    def invoke(self, ctx: click.Context) -> Any:
        # Without a handler, SIGTERM would end the process before its copies are removed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            return super().invoke(ctx)
        except BackupRefused as refused:
            fail(f"Nothing was done: {refused}.")
        except (OSError, sqlite3.Error) as error:
            fail(f"Nothing was done: {_reason(error)}.")


def backup_command(portal: Parts) -> Command:
    @click.command("backup", cls=_FileCommand)
    @click.argument("file", type=click.Path(path_type=Path))
    @click.option("--without-key", is_flag=True, help="Leave the secret key's file out.")
    def backup(file: Path, without_key: bool) -> None:
        """Copy the data files into FILE, also while portals are running."""
        store = portal.files
        sources = {
            name: path
            for name, path in store.files.items()
            if not (without_key and name == KEY_NAME)
        }
        manifest = back_up(file.absolute(), sources, store.demo)
        print(f"Backed up {_listed(manifest)} to {file}.")
        try:
            portal.trail.add(by_command("backup"))
        except SQLAlchemyError as error:  # the backup of a full disk is whole nevertheless
            print(f"The trail does not name this backup: {error_kind(error)}.", file=sys.stderr)
        if KEY_NAME not in manifest.sizes:
            print(_WITHOUT_KEY, file=sys.stderr)

    return backup


def restore_command(portal: Parts) -> Command:
    @click.command("restore", cls=_FileCommand)
    @click.argument("file", type=click.Path(path_type=Path))
    @click.option(
        "--purges-of",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Repeat the later purges, revocations and the like of this former data directory.",
    )
    def restore_files(file: Path, purges_of: Path | None) -> None:
        """Restore the data files from FILE into an empty data directory."""
        ended: dict[str, int] = {}
        going_on, valid, row = 0, [], 0

        def amend(file: Path, key: str | None) -> None:
            nonlocal ended, going_on, valid, row
            restored = [] if key is None else [key.strip().encode()]
            database = open_database(None, file.parent)  # migrates the database
            try:
                data_key = stored_data_key(database, [*restored, *store.secret_keys])
                with database.writing() as db:
                    origin.forget(db)
            except OtherSecretKey:
                raise BackupRefused(
                    "the backup's data was written under a secret key that is neither in it nor "
                    "configured: set PORTAL_SECRET_KEY to that key"
                ) from None
            finally:
                database.dispose()
            if purges_of is not None:
                ended = end_what_has_ended(file, purges_of / DATABASE_NAME)
            if data_key is not None:
                row = _continue_trail(portal, file, data_key)
            with closing(sqlite3.connect(file)) as db:
                (going_on,) = db.execute(_GOING_ON).fetchone()
                valid = [name for (name,) in db.execute(_VALID_TOKENS, (time.time(),))]

        store = portal.files
        lock = DataLock(store.data_dir)
        try:
            if not lock.is_alone:
                raise BackupRefused(f"a portal is using {store.data_dir}: stop it")
            manifest = restore(file.absolute(), store.files, store.demo, amend)
        finally:
            lock.release()
        print(f"Restored {_listed(manifest)} from {file}.")
        if row:
            print(f"The trail goes on after its row {row - 1}; row {row} names this restore.")
        if going_on:
            print(f"The start pauses {going_on} batches until their owners resume them.")
        if purges_of is not None:
            print(f"Repeated {ended.pop('purges')} later purges.")
            print("Ended again: " + ", ".join(f"{ended[kind]} {kind}" for kind in ended) + ".")
            return
        made_at = f"{datetime.fromtimestamp(manifest.made_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        print(f"Vehicles purged since {made_at} are back: purge them again.", file=sys.stderr)
        print(
            f"Tokens and dossiers revoked since {made_at} are valid again: revoke them again. "
            f"Valid tokens: {', '.join(valid) or 'none'}.",
            file=sys.stderr,
        )

    return restore_files


def _continue_trail(portal: Parts, file: Path, data_key: bytes) -> int:
    """Write the restore in the restored trail, and return the number of its row, or 0."""
    database = open_database(None, file.parent)
    try:
        # No vehicle is named, so no tag is needed.
        keys = SubjectKeys(data_key, str, portal.namespace)
        trail = Trail(database, keys, portal.trail_days)
        trail.add(by_command("restored"))
        return trail.latest(1)[0].number_in_trail if trail.is_kept else 0
    finally:
        database.dispose()


def _listed(manifest: Manifest) -> str:
    return f"{', '.join(manifest.sizes)} ({sum(manifest.sizes.values()) / 1e6:.1f} MB)"


def _reason(error: OSError | sqlite3.Error) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)
