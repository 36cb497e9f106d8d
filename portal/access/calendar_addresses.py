"""Secret addresses of calendars. Whoever knows one reads its owner's deadlines."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from portal.access.sealing import SubjectKeys
from portal.storage.database import Database
from portal.storage.ends import note_end
from portal.storage.tables import calendar_addresses as table

_PURPOSE: Final = b"calendar"
_KIND: Final = "calendar\0"


class CalendarOwner(NamedTuple):
    """Whose calendar an address opens.

    ``owner`` is the key of what the owner has stored. ``identity_owner`` authenticates the owner.
    In demo mode, all visitors share one identity, and have different stores.
    """

    owner: str
    identity_owner: str


class CalendarAddresses:
    """The calendar address of each owner: at most one, until it is revoked or replaced."""

    def __init__(
        self, database: Database, keys: SubjectKeys, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    def make(self, owner: CalendarOwner) -> str:
        """Return a new key of 128 random bits. A former key of the owner ends."""
        key = secrets.token_urlsafe(16)
        sealed = self._keys.encrypt(_PURPOSE, json.dumps([key, *owner]).encode())
        with self._database.writing() as db:
            self.end(db, owner.owner)
            db.execute(
                insert(table).values(
                    digest=self._digest(key),
                    owner=self._owner_key(owner.owner),
                    created_at=self._clock(),
                    sealed=sealed,
                )
            )
        return key

    def end(self, db: Connection, owner: str) -> None:
        """Revoke an owner's address in a transaction of the caller."""
        mine = {"owner": self._owner_key(owner)}
        if db.execute(delete(table).where(table.c.owner == mine["owner"])).rowcount:
            note_end(db, "calendar", mine, self._clock())

    def of(self, owner: str) -> str | None:
        """Return the key of an owner, who sees the address again, or None."""
        row = self._read(table.c.owner == self._owner_key(owner))
        return row[0] if row else None

    def find(self, key: str) -> CalendarOwner | None:
        """Return whose calendar a key opens, or None."""
        row = self._read(table.c.digest == self._digest(key))
        return CalendarOwner(*row[1:]) if row else None

    def revoke(self, owner: str) -> None:
        with self._database.writing() as db:
            self.end(db, owner)

    def _read(self, where: object) -> list[str] | None:
        with self._database.reading() as db:
            sealed = db.execute(select(table.c.sealed).where(where)).scalar()  # type: ignore[arg-type]
        content = None if sealed is None else self._keys.decrypt(_PURPOSE, sealed)
        return None if content is None else list(json.loads(content))

    def _digest(self, key: str) -> str:
        return hashlib.sha256(f"{self._keys.namespace}\0{key}".encode()).hexdigest()

    def _owner_key(self, owner: str) -> str:
        return self._keys.owner_key(_KIND, owner)
