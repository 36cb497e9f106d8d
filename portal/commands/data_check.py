"""Refuses a command whose settings do not lead to the server's data.

For example, a command without the server's PORTAL_DATA_DIR would open another database.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from portal.access.data_key import OtherSecretKey, stored_data_key
from portal.batch.batches import has_unfinished_batches
from portal.commands.parts import Parts
from portal.storage.backup import CACHE_NAME, DATABASE_NAME
from portal.storage.revision import require_current_schema
from portal.storage.schema import SchemaMismatch

_AS_THE_SERVER = "Give this command the settings of the server"


def refusal(portal: Parts, command: str) -> str | None:
    """Return a one-line reason why a command must not run, or None if it may run.

    A check that the database fails is skipped. The command reports the error when it uses the
    database.
    """
    for check in _CHECKS[command]:
        with suppress(SQLAlchemyError):
            if failure := check(portal, command):
                return failure
    return None


def _missing_database(portal: Parts, _: str) -> str | None:
    return _missing(portal.files.files.get(DATABASE_NAME))


def _missing_cache(portal: Parts, _: str) -> str | None:
    # A process that serves requests creates the file when it first uses the cache.
    return _missing(portal.files.files.get(CACHE_NAME)) if portal.is_command else None


def _missing(file: Path | None) -> str | None:
    if file is None or file.exists():
        return None
    return f"There is no {file}. {_AS_THE_SERVER}, PORTAL_DATA_DIR above all."


def _other_schema(portal: Parts, _: str) -> str | None:
    try:
        require_current_schema(portal.database)
    except SchemaMismatch as error:
        return f"Nothing was done: {error}."
    return None


def _warn_of_demo(portal: Parts, _: str) -> None:
    if portal.files.has_other_data:
        print("PORTAL_UPSTREAM_URL is not set: the demonstration's data.", file=sys.stderr)


def _demo_alone(portal: Parts, command: str) -> str | None:
    # For example, a purge without PORTAL_UPSTREAM_URL would find only the demonstration's data. Its
    # output would still suggest that the upstream's data was purged.
    if not portal.files.has_other_data:
        return None
    verb = {"backup": "back up", "key": "read"}.get(command, command)
    return (
        f"Without PORTAL_UPSTREAM_URL this would {verb} the demonstration's data alone, "
        f"and {portal.files.upstreams_data_dir} holds other data, too. {_AS_THE_SERVER}."
    )


def _unused_caches(portal: Parts, _: str) -> str | None:
    if not (unused := portal.files.unused_caches):
        return None
    return (
        "Nothing was purged: answers from before REDIS_URL was set may be in "
        f"{', '.join(map(str, unused))}. Delete that and purge again."
    )


def _key_mismatch(portal: Parts, _: str) -> str | None:
    try:
        stored_data_key(portal.database, portal.files.secret_keys)
    except OtherSecretKey:
        return f"The data is of another secret key. {_AS_THE_SERVER}, PORTAL_SECRET_KEY above all."
    return None


def _no_data_key(portal: Parts, _: str) -> str | None:
    if portal.data_key is not None:
        return None
    try:
        stored_data_key(portal.database, portal.files.secret_keys)
    except SQLAlchemyError as error:
        # Without the data key, in the database, the command cannot find what to work on.
        return f"Nothing was done: the database cannot be used: {str(error).splitlines()[0]}"
    return f"Nothing was done: the database has no data key. {_AS_THE_SERVER}."


def _restored_batches(portal: Parts, _: str) -> str | None:
    """Refuse to run the batches of a restored database, too."""
    if portal.database.is_restored() and has_unfinished_batches(portal.database):
        return "The database was restored: start the portal once, which pauses its batches."
    return None


_FILES: Final = (_missing_database, _missing_cache, _other_schema)
_LISTS: Final = (_missing_database, _other_schema, _warn_of_demo, _key_mismatch)
_CHECKS: Final[Mapping[str, Sequence[Callable[[Parts, str], str | None]]]] = {
    "audit": (*_LISTS, _no_data_key),
    "backup": (*_FILES, _demo_alone, _key_mismatch),
    "batch": (*_FILES, _warn_of_demo, _key_mismatch, _no_data_key, _restored_batches),
    "db": (_missing_database,),
    "doctor": (),
    "dossier": _LISTS,
    "ends": (*_FILES, _demo_alone, _unused_caches, _key_mismatch, _no_data_key),
    "key": (*_FILES, _demo_alone),
    "ledger": _LISTS,
    "purge": (*_FILES, _demo_alone, _unused_caches, _key_mismatch, _no_data_key),
    "restore": (),
    "subject": (*_LISTS, _no_data_key),
    "token": _LISTS[1:],
    "version": (),
}
