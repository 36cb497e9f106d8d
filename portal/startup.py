"""Startup before the application is built: secret key, database, store.

A server creates what is missing and records the secret key. A command creates nothing, because
in a wrong directory it would then find its data empty instead of missing.
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

from portal.commands import DataCheck
from portal.gateway import (
    StoreRefused,
    cache_backend,
    record_key,
    remove_lease_files,
    require_willing_store,
)
from portal.settings import Settings
from portal.storage import (
    DataLock,
    InvalidSecretKey,
    SchemaMismatch,
    database_file,
    fingerprint,
    load_secret_key,
    open_engine,
    read_secret_key,
    recorded_fingerprint,
)

log = logging.getLogger(__name__)

SHORT_KEY = 16  # characters; a generated key has 64

_CACHE_FILE = "cache.sqlite"
_UNUSED = "unused-"
UNUSED_KEPT_S = 86400.0  # seconds since the file was renamed


class KeyInUse(Exception):
    """The data belongs to another secret key. The text is one line for the operator."""


_STARTUP_ERRORS = (
    OSError,
    InvalidSecretKey,
    KeyInUse,
    SchemaMismatch,
    SQLAlchemyError,
    StoreRefused,
)


@contextmanager
def exit_on_startup_error(*further: type[Exception]) -> Iterator[None]:
    """Exit with status 1 and one line on an unusable data directory, key, database or store."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (*_STARTUP_ERRORS, *further)):
            raise
        sys.exit(f"dossie-veicular: cannot start: {str(error).splitlines()[0]}")


def is_command() -> bool:
    """Whether ``flask`` loads the portal for a custom command, not for ``flask run``."""
    context = click.get_current_context(silent=True)
    return context is not None and isinstance(context.command, FlaskGroup)


def server_key(settings: Settings) -> bytes:
    """Return the secret key, created if missing. Raises OSError or InvalidSecretKey."""
    return (settings.secret_key or load_secret_key(settings.data_dir)).encode()


def command_key(settings: Settings) -> bytes | None:
    """Return the secret key, or None if there is none yet.

    Raises OSError or InvalidSecretKey.
    """
    key = settings.secret_key or read_secret_key(settings.data_dir)
    return key.encode() if key else None


def prepare(settings: Settings) -> DataLock:
    """Set up the database and the store, and record the secret key in both.

    A key that differs from the recorded one counts as a rotation only if no other portal can
    be using the data. The answers and histories of the former key are then deleted. Otherwise
    KeyInUse is raised before anything is changed. The returned lock must be held until the
    server ends. Also raises OSError, InvalidSecretKey, SchemaMismatch, SQLAlchemyError or
    StoreRefused.
    """
    if settings.secret_key and len(settings.secret_key) < SHORT_KEY:
        log.warning("PORTAL_SECRET_KEY has fewer than %d characters: it may be guessed", SHORT_KEY)
    lock = DataLock(settings.data_dir)
    engine = open_engine(settings.database_url, settings.data_dir)
    backend = cache_backend(Flask(__name__), settings.data_dir, settings.redis_url)
    try:
        require_willing_store(backend, settings.redis_url)
        if settings.database_url is not None or not lock.is_alone:
            _refuse_another_key(settings, engine)
        record_key(fingerprint(server_key(settings)), engine, backend.key_record)
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


def _refuse_another_key(settings: Settings, engine: Engine) -> None:
    recorded, key = recorded_fingerprint(engine), command_key(settings)
    if recorded is not None and (key is None or fingerprint(key) != recorded):
        raise KeyInUse(
            "the data was written under another secret key, and another portal may be using it: "
            "give this one the same PORTAL_SECRET_KEY, or data of its own"
        )


def _set_aside_unused_cache(data_dir: Path) -> None:
    """Rename the cache file of a portal that had no REDIS_URL.

    A command started without the setting would otherwise purge that file instead of the Redis
    in use.
    """
    for file in data_dir.glob(f"{_CACHE_FILE}*"):
        if ".broken-" in file.name:
            file.unlink()
            continue
        file.replace(file.with_name(_UNUSED + file.name))
        log.warning("%s is not used with REDIS_URL: renamed to %s%s", file, _UNUSED, file.name)


def remove_old_unused_caches(data_dir: Path) -> None:
    """Delete a renamed cache after a day, because nothing else deletes its expired answers."""
    for file in data_dir.glob(f"{_UNUSED}{_CACHE_FILE}*"):
        with suppress(OSError):
            if time.time() - file.stat().st_ctime > UNUSED_KEPT_S:
                file.unlink()


def create_missing_database(settings: Settings) -> None:
    """Create the SQLite file if it is missing, or the tables if they are missing in PostgreSQL.

    For a command that may run before the portal's first start. Raises OSError or SQLAlchemyError.
    """
    file = database_file(settings.database_url, settings.data_dir)
    if file is None or not file.exists():
        open_engine(settings.database_url, settings.data_dir).dispose()


def data_check(
    settings: Settings, engine: Engine, backend: Any, key: bytes | None, expects_files: bool
) -> DataCheck:
    """Return the check of the data for a command.

    ``expects_files`` is true if a server with these settings must have created its files before.
    """
    store = settings.data_dir / _CACHE_FILE
    unused = [*settings.data_dir.glob(f"{_UNUSED}{_CACHE_FILE}*")]
    if settings.redis_url:
        unused += settings.data_dir.glob(f"{_CACHE_FILE}*")
    return DataCheck(
        engine=engine,
        database=database_file(settings.database_url, settings.data_dir),
        store=store if expects_files and not settings.redis_url else None,
        unused_stores=sorted(unused),
        key_fingerprint=fingerprint(key) if key else None,
        store_fingerprint=backend.key_record.read,
        upstreams_data_dir=settings.upstreams_data_dir,
    )
