"""Prepares secret key, database and cache before the application is built.

A server creates missing files and tables, and the data key, which it encrypts with its secret key.
Among the ``flask`` commands, only ``token issue`` creates a missing database. If the data directory
is wrong, every other command reports missing data instead of using a new, empty database.
"""

import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from flask.cli import FlaskGroup
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from portal.access.data_key import OtherSecretKey, keep_data_key, stored_data_key
from portal.access.sealing import SubjectKeys
from portal.access.trail import Entry, Trail
from portal.batch.batches import Batches
from portal.commands.parts import DataFiles
from portal.gateway.backend_choice import cache_backend, ends_journals, remove_lease_files
from portal.gateway.envelope import Seal
from portal.gateway.sqlite_cache import SQLiteCache
from portal.pdf.signing import SigningKey, read_key
from portal.settings import Settings
from portal.storage.backup import CACHE_NAME, DATABASE_NAME, remove_copies
from portal.storage.data_lock import DataLock
from portal.storage.database import Database
from portal.storage.ends import Ends, Journal
from portal.storage.opening import database_file, open_database
from portal.storage.purge_log import PurgeLog
from portal.storage.secret import NAME as KEY_NAME
from portal.storage.secret import fingerprint, load_secret_key, read_secret_key
from portal.system.checkup import SHORT_KEY
from portal.system.error_kind import error_kind
from portal.system.start_refused import StartRefused

if TYPE_CHECKING:  # Redis is optional
    from portal.gateway.redis_cache import SealedRedisCache

log = logging.getLogger(__name__)

_ROTATED = Entry(who="start", kind="command", act="rotated", face="command", number="secret key")
_UNUSED = "unused-"
UNUSED_KEPT_S = 86400.0  # seconds from the renaming of an unused cache file to its deletion


@contextmanager
def exit_on_startup_error() -> Iterator[None]:
    """Exit with status 1 and a one-line message if the block raises a startup error."""
    try:
        yield
    except (OSError, SQLAlchemyError, StartRefused) as error:
        sys.exit(f"dossie-veicular: cannot start: {str(error).splitlines()[0]}")


def is_command() -> bool:
    """Return whether ``flask`` runs one of the portal's commands rather than ``flask run``."""
    context = click.get_current_context(silent=True)
    return context is not None and isinstance(context.command, FlaskGroup)


def secret_keys(settings: Settings) -> list[bytes]:
    """Return the configured or stored secret key, if there is one, and the former secret keys.

    Raises OSError or StartRefused.
    """
    key = settings.secret_key or read_secret_key(settings.data_dir)
    return [each.encode() for each in (key, *settings.secret_keys_old) if each]


def command_data_key(settings: Settings, database: Database) -> bytes | None:
    """Return the data key, or None if no data key can be read. ``data_check`` names the reason.

    Raises OSError or StartRefused.
    """
    try:
        return stored_data_key(database, secret_keys(settings))
    except (OtherSecretKey, SQLAlchemyError):
        return None


def server_data_key(settings: Settings, database: Database) -> bytes:
    """Return the data key, encrypted with the secret key in the database. Create missing keys.

    Raises OSError, SQLAlchemyError or StartRefused.
    """
    # Refuse another secret key before a missing key's file is created.
    stored_data_key(database, secret_keys(settings))
    key = settings.secret_key or load_secret_key(settings.data_dir)

    def rotated(db: Connection, data_key: bytes) -> None:
        trail = Trail(database, SubjectKeys(data_key, str, settings.namespace), settings.audit_days)
        trail.write(db, _ROTATED)

    return keep_data_key(database, key.encode(), secret_keys(settings), rotated)


def warn_of_settings(settings: Settings) -> None:
    """Log what is unsafe or unknown in settings that work.

    It is called after the checks, so that a start that is refused says one line: the reason.
    """
    if settings.secret_key and len(settings.secret_key) < SHORT_KEY:
        log.warning("PORTAL_SECRET_KEY has fewer than %d characters: it may be guessed", SHORT_KEY)
    if any(len(token) < SHORT_KEY for token in settings.access_tokens):
        log.warning(
            "a token in PORTAL_ACCESS_TOKENS has fewer than %d characters: it may be guessed",
            SHORT_KEY,
        )
    if settings.sign_in_header and not settings.sign_in_secret:
        log.warning(
            "PORTAL_SIGN_IN_HEADER without PORTAL_SIGN_IN_SECRET: any program that reaches the "
            "portal's port can name itself any person"
        )
    if (settings.sign_in_header or settings.oidc_issuer) and not settings.roles:
        log.warning("PORTAL_ROLES names no group, so that no person may sign in")
    if settings.mode == "managed" and (unpriced := settings.unpriced):
        log.warning(
            "the price of a call is unknown without %s: pages say so, and a limit in R$ is refused",
            ", ".join(unpriced),
        )


def signing_key(settings: Settings) -> SigningKey | None:
    """Return the key that signs issued PDFs, or None without one. Raises UnusableKey."""
    if settings.signing_key_file is None:
        return None
    return read_key(
        settings.signing_key_file,
        settings.signing_key_password,
        settings.signing_tsa_url,
        datetime.now(UTC),
    )


def prepare(settings: Settings) -> tuple[DataLock, bytes]:
    """Set up database and cache. Return a lock and the data key.

    The caller must hold the lock until the server ends. Raises OSError, SQLAlchemyError or
    StartRefused.
    """
    signing_key(settings)
    lock = DataLock(settings.data_dir)
    for folder in data_files(settings).folders:
        with suppress(OSError):  # a purge names what remains
            remove_copies(folder)
    database = open_database(settings.database_url, settings.data_dir)
    backend = cache_backend(settings.data_dir, settings.redis_url)
    try:
        if not isinstance(backend, SQLiteCache):
            from portal.gateway.redis_probe import require_willing_redis  # lazy: Redis is optional

            require_willing_redis(backend)
        key = server_data_key(settings, database)
        _require_own_cache(settings, backend, key)
        identity = PurgeLog(database).identity()
        if not isinstance(backend, SQLiteCache):
            _require_own_redis(settings, backend, identity)
        _warn_of_lacking_ends(database, ends_journals(backend, settings.data_dir, identity))
        if database.is_restored():
            _pause_restored_batches(settings, database, key)
        if lock.is_alone:
            remove_lease_files(settings.data_dir)
            if settings.redis_url:
                _set_aside_unused_cache(settings.data_dir)
    except BaseException:
        lock.release()
        raise
    finally:
        backend.close()
        database.dispose()
    lock.share()
    return lock, key


def _require_own_cache(
    settings: Settings, backend: "SQLiteCache | SealedRedisCache", key: bytes
) -> None:
    """Refuse a cache file of another database, in which a purge would find no vehicle."""
    if isinstance(backend, SQLiteCache) and backend.signing_key() not in (None, Seal(key).key_id):
        raise StartRefused(
            f"{settings.data_dir / CACHE_NAME} is of another database: restore that database, or "
            "move the file away"
        )


def _require_own_redis(settings: Settings, backend: "SealedRedisCache", database: str) -> None:
    """Refuse a Redis that portals with this secret key use with another database."""
    from portal.gateway.redis_probe import require_own_database  # lazy: Redis is optional

    key = fingerprint((settings.secret_key or "").encode())[:16]
    # The demonstration has a database of its own.
    owner = f"{key} demo" if settings.mode == "demo" else key
    require_own_database(backend, owner, database)


def _warn_of_lacking_ends(database: Database, journals: Sequence[Journal]) -> None:
    """Say that the database is older than what was ended since: it was restored."""
    for journal in journals:
        try:
            lacking = Ends(database).lacking(journal.read())
        except OSError as error:
            log.warning("the ends in %s cannot be read: %s", journal.name, error_kind(error))
            continue
        if lacking:
            log.warning(
                "the database is older than %d purges, revocations and the like in %s: "
                "flask --app app ends apply makes them again",
                *(len(lacking), journal.name),
            )


def _pause_restored_batches(settings: Settings, database: Database, key: bytes) -> None:
    """Pause the batches of a restored backup, because nobody may be waiting for them."""
    batches = Batches(
        database,
        SubjectKeys(key, str, settings.namespace),
        lambda name: getattr(settings, f"fresh_{name}") + getattr(settings, f"stale_{name}"),
    )
    if paused := batches.pause_all():
        log.warning(
            "the database was restored, or is of a former version: %d batches are paused until "
            "their owners resume them",
            paused,
        )
    database.record_origin()


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
        open_database(settings.database_url, settings.data_dir).dispose()


def plain_facts(settings: Settings) -> dict[str, Any]:
    """Return the members of ``portal.system.checkup.Facts`` that the settings give."""
    key = settings.secret_key
    return {
        "mode": settings.mode,
        "deadline": settings.deadline,
        "connect_timeout": settings.connect_timeout,
        "first_byte_timeout": settings.first_byte_timeout,
        "short_tokens": sum(len(token) < SHORT_KEY for token in settings.access_tokens),
        "secret_key_length": len(key) if key else None,
        "unpriced": settings.unpriced,
        "spends_without_limit": settings.mode == "managed"
        and not settings.daily_call_limit
        and not settings.monthly_budget,
        "trusted_proxies": settings.trusted_proxies,
        "workers": settings.workers,
        "processors": os.cpu_count() or 1,
        "audit_days": settings.audit_days,
        "signs_people_in": bool(settings.sign_in_header or settings.oidc_issuer),
        "has_roles": bool(settings.roles),
        "has_sign_in_header": settings.sign_in_header is not None,
        "lacks_sign_in_secret": bool(settings.sign_in_header and not settings.sign_in_secret),
        "has_webhook": settings.webhook_url is not None,
        "has_controller": bool(
            settings.issuer_name and (settings.issuer_contact or settings.privacy_contact)
        ),
    }


def data_files(settings: Settings) -> DataFiles:
    """Return the data files of a portal with these settings."""
    files = {}
    unused = [*settings.data_dir.glob(f"{_UNUSED}{CACHE_NAME}*")]
    if settings.redis_url:
        unused += settings.data_dir.glob(f"{CACHE_NAME}*")
    else:
        files[CACHE_NAME] = settings.data_dir / CACHE_NAME
    database = database_file(settings.database_url, settings.data_dir)
    if database is not None:
        files[DATABASE_NAME] = database
    if settings.secret_key is None:
        files[KEY_NAME] = settings.data_dir / KEY_NAME
    return DataFiles(
        data_dir=settings.data_dir,
        demo=settings.mode == "demo",
        files=files,
        secret_keys=secret_keys(settings),
        unused_caches=sorted(unused),
        upstreams_data_dir=settings.upstreams_data_dir,
    )
