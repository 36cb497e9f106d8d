"""``flask --app app key forget``: deletes what only other secret keys can read."""

import sys

import click

from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.storage.data_lock import DataLock
from portal.storage.key_fingerprints import forget_other_keys, unknown_keys
from portal.storage.secret import fingerprint


def key_commands(portal: Parts) -> CommandGroup:
    @click.group("key", cls=CommandGroup, help="Forget secret keys.")
    def key() -> None:
        pass

    @key.command("forget")
    @click.option("--yes", is_flag=True, help="Delete without asking.")
    def forget(yes: bool) -> None:
        """Delete what the present secret key alone cannot read. SECRET_KEYS_OLD does not count."""
        data, keys, data_dir = portal.data_check, portal.present_keys, portal.files.data_dir
        present = fingerprint(keys.secret) if data.key_fingerprints else None
        lock = DataLock(data_dir)
        try:
            recorded = data.recorded_keys()
            others = unknown_keys(recorded, [present] if present else [])
            if not others:
                print("All data is of the present secret key: there is nothing to forget.")
                return
            if not lock.is_alone and len(others) == len(unknown_keys(recorded, [])):
                fail(f"Nothing was done: a portal is using {data_dir} under another secret key.")
            history_ids = portal.history.unreadable(keys)
            dossier_numbers = portal.dossiers.unreadable(keys)
            batch_ids = portal.batches.unreadable(keys)
            counts = (
                f"{len(history_ids)} entries of histories, {len(batch_ids)} batches, "
                f"{len(dossier_numbers)} issued dossiers"
            )
            if not yes:
                print(
                    "The present secret key cannot read the stored answers of another key, "
                    f"{counts}. The ledger's rows lose their vehicles. No portal may be running "
                    "under another key.",
                    file=sys.stderr,
                )
                click.confirm("Delete all that for good?", abort=True, err=True)
            try:
                answers = data.store_keys.forget(present, others)
            except Exception as error:
                fail(f"Nothing was done: the store cannot be used: {type(error).__name__}.")
            forget_other_keys(
                data.engine,
                present,
                history_ids=history_ids,
                dossier_numbers=dossier_numbers,
                batch_ids=batch_ids,
            )
            print(f"Deleted {answers} stored answers, {counts}.")
        finally:
            lock.release()

    return key
