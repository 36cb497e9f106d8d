"""Refuses a command whose settings do not lead to the server's data.

For example, a command without the server's PORTAL_DATA_DIR would open another database.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from portal.access.data_key import OtherSecretKey, stored_data_key
from portal.batch.batches import has_unfinished_batches
from portal.storage.database import require_current_schema
from portal.storage.origin import is_restored
from portal.storage.schema import SchemaMismatch

T = TypeVar("T")

_AS_THE_SERVER = "Give this command the settings of the server"


@dataclass(frozen=True, slots=True)
class DataCheck:
    """Checks a command's settings before the command runs.

    Each ``for_`` method returns a one-line reason why a command must not run, or None if the
    command may run. The files ``database`` and ``store`` (the cache) must exist. A path is None if
    no such file is needed, for example with PostgreSQL or Redis. ``unused_stores`` are cache files
    from before REDIS_URL was set. ``secret_keys`` are the present and the old secret keys in the
    command's settings. ``has_data_key`` is true if one of them has decrypted the data key.
    """

    engine: Engine
    database: Path | None
    store: Path | None
    unused_stores: Sequence[Path]
    secret_keys: Sequence[bytes] = field(repr=False)
    has_data_key: bool
    upstreams_data_dir: Path | None

    def for_db(self) -> str | None:
        return self._missing_file(self.database)

    def for_token(self) -> str | None:
        if failure := self._other_schema():
            return failure
        self._warn_of_demo()
        return self._key_mismatch()

    def for_ledger(self) -> str | None:
        return self._missing_file(self.database) or self.for_token()

    def for_batch(self) -> str | None:
        if failure := self._unusable():
            return failure
        self._warn_of_demo()
        if failure := self._no_data_key():
            return failure
        if _unless_down(_has_restored_batches, self.engine):
            return "The database was restored: start the portal once, which pauses its batches."
        return None

    def for_backup(self) -> str | None:
        return self._unusable() or self._demo_alone("back up") or self._key_mismatch()

    def for_key(self) -> str | None:
        return self._unusable() or self._demo_alone("read")

    def for_purge(self) -> str | None:
        # Without PORTAL_UPSTREAM_URL, the command would purge only the demonstration's data. Its
        # output would still suggest that the upstream's data was purged.
        if failure := self._unusable() or self._demo_alone("purge"):
            return failure
        if self.unused_stores:
            return (
                "Nothing was purged: answers from before REDIS_URL was set may be in "
                f"{', '.join(map(str, self.unused_stores))}. Delete that and purge again."
            )
        return self._no_data_key()

    def _unusable(self) -> str | None:
        return self._missing_file(self.database, self.store) or self._other_schema()

    def _missing_file(self, *files: Path | None) -> str | None:
        for file in files:
            if file is not None and not file.exists():
                return f"There is no {file}. {_AS_THE_SERVER}, PORTAL_DATA_DIR above all."
        return None

    def _other_schema(self) -> str | None:
        try:
            _unless_down(require_current_schema, self.engine)
        except SchemaMismatch as error:
            return f"Nothing was done: {error}."
        return None

    def _has_upstream_data(self) -> bool:
        folder = self.upstreams_data_dir
        return folder is not None and any(folder.glob("*.sqlite"))

    def _warn_of_demo(self) -> None:
        if self._has_upstream_data():
            print("PORTAL_UPSTREAM_URL is not set: the demonstration's data.", file=sys.stderr)

    def _demo_alone(self, verb: str) -> str | None:
        if not self._has_upstream_data():
            return None
        return (
            f"Without PORTAL_UPSTREAM_URL this would {verb} the demonstration's data alone, "
            f"and {self.upstreams_data_dir} holds other data, too. {_AS_THE_SERVER}."
        )

    def _no_data_key(self) -> str | None:
        if self.has_data_key:
            return None
        return self._key_mismatch() or (
            f"Nothing was done: the database cannot be read, or has no data key. {_AS_THE_SERVER}."
        )

    def _key_mismatch(self) -> str | None:
        try:
            _unless_down(stored_data_key, self.engine, self.secret_keys)
        except OtherSecretKey:
            return (
                f"The data is of another secret key. {_AS_THE_SERVER}, PORTAL_SECRET_KEY above all."
            )
        return None


def _has_restored_batches(engine: Engine) -> bool:
    """Return whether this command would run the batches of a restored database, too."""
    return is_restored(engine) and has_unfinished_batches(engine)


def _unless_down(read: Callable[..., T], *arguments: Any) -> T | None:
    """Return the result of ``read``, or None if the database fails.

    The command reports the error later, when the command itself uses the database.
    """
    try:
        return read(*arguments)
    except SQLAlchemyError:
        return None
