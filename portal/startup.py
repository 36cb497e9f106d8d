"""Prepares secret key, database and cache before the application is built.

A server creates missing files and tables, and records the fingerprint of its secret key. Among the
``flask`` commands, only ``token issue`` creates a missing database. If the data directory is
wrong, every other command reports missing data instead of using a new, empty database.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from flask import Flask
from flask.cli import FlaskGroup
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import SubjectKeys
from portal.batch.batches import Batches
from portal.batch.rows import BatchRows
from portal.commands.data_check import DataCheck
from portal.commands.parts import EmbeddedStore
from portal.gateway.backend_choice import (
    StoreRefused,
    cache_backend,
    remove_lease_files,
    require_willing_store,
)
from portal.gateway.key_record import KeyRecord
from portal.settings import Settings
from portal.storage.backup import CACHE_NAME, DATABASE_NAME, remove_copies
from portal.storage.data_lock import DataLock
from portal.storage.database import database_file, open_engine
from portal.storage.key_fingerprints import record_key, recorded_keys, unknown_keys
from portal.storage.origin import is_restored, record_origin
from portal.storage.schema import SchemaMismatch
from portal.storage.secret import NAME as KEY_NAME
from portal.storage.secret import InvalidSecretKey, fingerprint, load_secret_key, read_secret_key

log = logging.getLogger(__name__)

SHORT_KEY = 16  # in characters; a generated key has 64

_UNUSED = "unused-"
UNUSED_KEPT_S = 86400.0  # seconds from the renaming of an unused cache file to its deletion


class OtherSecretKey(Exception):
    """The data is also of a secret key that the settings do not have.

    The exception's message is one line for the operator.
    """


_STARTUP_ERRORS = (
    OSError,
    InvalidSecretKey,
    OtherSecretKey,
    SchemaMismatch,
    SQLAlchemyError,
    StoreRefused,
)


@contextmanager
def exit_on_startup_error(*further: type[Exception]) -> Iterator[None]:
    """Exit with status 1 and a one-line message if the block raises a startup error.

    ``further`` are additional exception classes to treat as startup errors.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, (*_STARTUP_ERRORS, *further)):
            raise
        sys.exit(f"dossie-veicular: cannot start: {str(error).splitlines()[0]}")


def is_command() -> bool:
    """Return whether ``flask`` runs one of the portal's commands rather than ``flask run``."""
    context = click.get_current_context(silent=True)
    return context is not None and isinstance(context.command, FlaskGroup)


def server_key(settings: Settings) -> bytes:
    """Return the secret key. Create the key if it is missing.

    Raises OSError or InvalidSecretKey.
    """
    return (settings.secret_key or load_secret_key(settings.data_dir)).encode()


def command_key(settings: Settings) -> bytes | None:
    """Return the secret key, or None if no key is configured or stored.

    Raises OSError or InvalidSecretKey.
    """
    key = settings.secret_key or read_secret_key(settings.data_dir)
    return key.encode() if key else None


def former_keys(settings: Settings) -> tuple[bytes, ...]:
    """Return the old secret keys, which still decrypt old data."""
    return tuple(key.encode() for key in dict.fromkeys(settings.secret_keys_old))


def prepare(settings: Settings) -> DataLock:
    """Set up database and cache, and record the secret key's fingerprint in both.

    The caller must hold the returned lock until the server ends. Raises OSError, InvalidSecretKey,
    OtherSecretKey, SchemaMismatch, SQLAlchemyError or StoreRefused.
    """
    if settings.secret_key and len(settings.secret_key) < SHORT_KEY:
        log.warning("PORTAL_SECRET_KEY has fewer than %d characters: it may be guessed", SHORT_KEY)
    if any(len(token) < SHORT_KEY for token in settings.access_tokens):
        log.warning(
            "a token in PORTAL_ACCESS_TOKENS has fewer than %d characters: it may be guessed",
            SHORT_KEY,
        )
    lock = DataLock(settings.data_dir)
    for folder in embedded_store(settings, None).folders:
        with suppress(OSError):  # a purge names what remains
            remove_copies(folder)
    engine = open_engine(settings.database_url, settings.data_dir)
    backend = cache_backend(Flask(__name__), settings.data_dir, settings.redis_url)
    try:
        require_willing_store(backend, settings.redis_url)
        _record_key(settings, engine, backend.key_record)
        if is_restored(engine):
            _pause_restored_batches(settings, engine)
        if lock.is_alone:
            remove_lease_files(settings.data_dir)
            if settings.redis_url:
                _set_aside_unused_cache(settings.data_dir)
    except BaseException:
        lock.release()
        raise
    finally:
        backend.close()
        engine.dispose()
    lock.share()
    return lock


def _record_key(settings: Settings, engine: Engine, store: KeyRecord) -> None:
    """Record the secret key. Raises OtherSecretKey before a missing key's file is created."""
    configured = (command_key(settings), *former_keys(settings))
    recorded = recorded_keys(engine)
    try:
        recorded += store.read()
    except Exception as error:
        log.warning("the store is unavailable: %s", type(error).__name__)
    if unknown_keys(recorded, (fingerprint(key) for key in configured if key)):
        raise OtherSecretKey(
            "the data was written under another secret key: configure that key again, name it in "
            "PORTAL_SECRET_KEYS_OLD, or delete what it alone can read with "
            "flask --app app key forget"
        )
    present = fingerprint(server_key(settings))
    record_key(engine, present)
    with suppress(Exception):  # ``store.read`` has logged the failure
        store.record(present)


def _pause_restored_batches(settings: Settings, engine: Engine) -> None:
    """Pause the batches of a restored backup, because nobody may be waiting for them."""
    rows = BatchRows(
        engine,
        SubjectKeys(server_key(settings), str, settings.namespace),
        lambda name: getattr(settings, f"fresh_{name}") + getattr(settings, f"stale_{name}"),
    )
    if paused := Batches(rows).pause_all():
        log.warning(
            "the database was restored, or is of a former version: %d batches are paused until "
            "their owners resume them",
            paused,
        )
    record_origin(engine)


def _set_aside_unused_cache(data_dir: Path) -> None:
    """Rename the cache file that the portal used before REDIS_URL was set.

    If an operator forgets REDIS_URL when running ``flask purge``, the command finds no cache file
    and fails. If the file kept its name, the command would purge the file and succeed, although the
    answers are in Redis.
    """
    for file in data_dir.glob(f"{CACHE_NAME}*"):
        if ".broken-" in file.name:
            file.unlink()
            continue
        file.replace(file.with_name(_UNUSED + file.name))
        log.warning("%s is not used with REDIS_URL: renamed to %s%s", file, _UNUSED, file.name)


def remove_old_unused_caches(data_dir: Path) -> None:
    """Delete the cache files that were renamed more than UNUSED_KEPT_S seconds ago."""
    for file in data_dir.glob(f"{_UNUSED}{CACHE_NAME}*"):
        with suppress(OSError):
            if time.time() - file.stat().st_ctime > UNUSED_KEPT_S:
                file.unlink()


def create_missing_database(settings: Settings) -> None:
    """Create a missing SQLite file, or missing PostgreSQL tables.

    ``token issue`` calls this function, because the operator may issue a token before the portal's
    first start. Raises OSError or SQLAlchemyError.
    """
    file = database_file(settings.database_url, settings.data_dir)
    if file is None or not file.exists():
        open_engine(settings.database_url, settings.data_dir).dispose()


def data_check(
    settings: Settings, engine: Engine, backend: Any, key: bytes | None, expects_files: bool
) -> DataCheck:
    """Return the DataCheck for commands that are run with these settings.

    If ``expects_files`` is true, the DataCheck refuses commands that use the cache until the server
    has created the cache file.
    """
    store = settings.data_dir / CACHE_NAME
    unused = [*settings.data_dir.glob(f"{_UNUSED}{CACHE_NAME}*")]
    if settings.redis_url:
        unused += settings.data_dir.glob(f"{CACHE_NAME}*")
    return DataCheck(
        engine=engine,
        database=database_file(settings.database_url, settings.data_dir),
        store=store if expects_files and not settings.redis_url else None,
        unused_stores=sorted(unused),
        key_fingerprints=_known_fingerprints(settings, key),
        store_keys=backend.key_record,
        upstreams_data_dir=settings.upstreams_data_dir,
    )


def embedded_store(settings: Settings, key: bytes | None) -> EmbeddedStore:
    """Return the data files that a backup with these settings contains."""
    files = {}
    if not settings.redis_url:
        files[CACHE_NAME] = settings.data_dir / CACHE_NAME
    database = database_file(settings.database_url, settings.data_dir)
    if database is not None:
        files[DATABASE_NAME] = database
    if settings.secret_key is None:
        files[KEY_NAME] = settings.data_dir / KEY_NAME
    return EmbeddedStore(
        data_dir=settings.data_dir,
        demo=settings.mode == "demo",
        files=files,
        key_fingerprints=_known_fingerprints(settings, key),
    )


def _known_fingerprints(settings: Settings, key: bytes | None) -> frozenset[str]:
    return frozenset(map(fingerprint, (key, *former_keys(settings))) if key else ())
