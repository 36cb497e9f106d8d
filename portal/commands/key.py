"""``flask --app app key forget``: deletes what only a lost secret key can read."""

import sys
from contextlib import suppress

import click

from portal.access.data_key import (
    OtherSecretKey,
    count_encrypted_rows,
    forget_data_key,
    stored_data_key,
)
from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.storage.backup import CACHE_NAME
from portal.storage.data_lock import DataLock


def key_commands(portal: Parts) -> CommandGroup:
    @click.group("key", cls=CommandGroup, help="Forget a lost secret key.")
    def key() -> None:
        pass

    @key.command("forget")
    @click.option("--yes", is_flag=True, help="Delete without asking.")
    def forget(yes: bool) -> None:
        """Delete what no configured secret key can read."""
        database, files = portal.database, portal.files
        lock = DataLock(files.data_dir)
        try:
            with suppress(OtherSecretKey):
                stored_data_key(database, files.secret_keys)
                print("The secret key reads all data: there is nothing to forget.")
                return
            if not lock.is_alone:
                fail(
                    f"Nothing was done: a portal is using {files.data_dir} under another secret "
                    "key."
                )
            rows = count_encrypted_rows(database)
            counts = ", ".join(f"{count} {kind}" for kind, count in rows.items())
            if not yes:
                print(
                    f"No configured secret key can read the stored answers, {counts}. The ledger's "
                    "rows lose their vehicles. No portal may be running.",
                    file=sys.stderr,
                )
                click.confirm("Delete all that for good?", abort=True, err=True)
            forget_data_key(database)
            database.erase_deleted()
            cache = files.files.get(CACHE_NAME)
            if cache is None:
                print(f"Deleted {counts}.")
                print(
                    "The answers in Redis can be neither read nor purged. They expire, or "
                    "redis-cli FLUSHDB deletes them.",
                    file=sys.stderr,
                )
                return
            for file in cache.parent.glob(f"{CACHE_NAME}*"):
                file.unlink()
            print(f"Deleted the stored answers, {counts}.")
        finally:
            lock.release()

    return key
