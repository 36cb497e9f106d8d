"""Refuses a command that would work on other data than the server's."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from portal.storage import former_fingerprints, recorded_fingerprint

_AS_THE_SERVER = "Give this command the settings of the server"


@dataclass(frozen=True, slots=True)
class DataCheck:
    """Each method returns why a command must not run, in one line, or None.

    ``database`` and ``store`` are the files that a portal with these settings makes at its start,
    None where it makes none; ``unused_stores`` are files of a cache that such a portal does not
    open; ``key_fingerprint`` is that of the command's secret key, None where
    there is no key; ``store_fingerprint`` reads what the store has recorded;
    ``upstreams_data_dir`` as in the settings.
    """

    engine: Engine
    database: Path | None
    store: Path | None
    unused_stores: Sequence[Path]
    key_fingerprint: str | None
    store_fingerprint: Callable[[], str | None]
    upstreams_data_dir: Path | None

    def for_token(self) -> str | None:
        if self._beside():
            print("PORTAL_UPSTREAM_URL is not set: the demonstration's data.", file=sys.stderr)
        return self._other_key(self._recorded())

    def for_ledger(self) -> str | None:
        return self._missing(self.database) or self.for_token()

    def for_purge(self) -> str | None:
        if trouble := self._missing(self.database, self.store):
            return trouble
        if self._beside():
            # A purge of the demonstration's data alone would look like one of an upstream's.
            return (
                "Without PORTAL_UPSTREAM_URL this would purge the demonstration's data alone, "
                f"and {self.upstreams_data_dir} holds other data, too. {_AS_THE_SERVER}."
            )
        if self.unused_stores:
            return (
                "Nothing was purged: answers from before REDIS_URL was set may be in "
                f"{', '.join(map(str, self.unused_stores))}. Delete that and purge again."
            )
        if self.key_fingerprint is None:
            return f"There is no secret key. {_AS_THE_SERVER}, PORTAL_SECRET_KEY above all."
        return (
            self._other_key(self._recorded())
            or self._other_key(self._recorded_in_store())
            or self._formers()
        )

    def _missing(self, *files: Path | None) -> str | None:
        for file in files:
            if file is not None and not file.exists():
                return f"There is no {file}. {_AS_THE_SERVER}, PORTAL_DATA_DIR above all."
        return None

    def _beside(self) -> bool:
        """Whether a portal with an upstream has data beside the demonstration's."""
        folder = self.upstreams_data_dir
        return folder is not None and any(folder.glob("*.sqlite"))

    def _other_key(self, recorded: str | None) -> str | None:
        if recorded is None or recorded == self.key_fingerprint:
            return None
        return (
            "The data was written under another secret key. "
            f"{_AS_THE_SERVER}, PORTAL_SECRET_KEY above all."
        )

    def _formers(self) -> str | None:
        try:
            formers = former_fingerprints(self.engine)
        except SQLAlchemyError:
            return None  # the purge meets it again and says so
        if not formers:
            return None
        return (
            "The store may hold answers under a former secret key, which no purge can find: "
            "start the portal once while the store can be reached, then purge again."
        )

    def _recorded(self) -> str | None:
        try:
            return recorded_fingerprint(self.engine)
        except SQLAlchemyError:
            return None  # the command meets it again and says so

    def _recorded_in_store(self) -> str | None:
        try:
            return self.store_fingerprint()
        except Exception:
            return None  # the purge meets it again and says so
