"""Stores which batch or dossier the first request with an idempotency key has made.

A row contains HMACs of the key and of the request's content, and no plate.
"""

import re
import time
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, delete, select, text

from portal.access.sealing import SubjectKeys, keyed_hash
from portal.storage.database import Database
from portal.storage.tables import idempotency_keys as table

KEPT_S: Final = 86_400.0
_KEY: Final = re.compile(r"[\x21-\x7e]{1,128}")
_INSERT: Final = text(
    "INSERT INTO idempotency_keys (digest, content, made, expires_at) "
    "VALUES (:digest, :content, :made, :expires_at) ON CONFLICT (digest) DO NOTHING"
)


class KeyReused(Exception):
    """The caller has sent the key with other content."""


def is_idempotency_key(text: str) -> bool:
    """Return whether a text is 1 to 128 visible ASCII characters."""
    return _KEY.fullmatch(text) is not None


def forget_made(db: Connection, made: Collection[str] | Select[Any]) -> None:
    """Delete the keys of batches or dossiers that are deleted in the same transaction.

    Otherwise a later request with the key would reuse the id of what was deleted. A lookup that is
    still under way for a deleted batch would then store its result in the new one.
    """
    db.execute(delete(table).where(table.c.made.in_(made)))


class Claim(NamedTuple):
    """The id that the first request with a key has claimed, and when (epoch s)."""

    made: str
    at: float


class IdempotencyKeys:
    def __init__(
        self, database: Database, keys: SubjectKeys, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    def claim(self, kind: str, owner: str, key: str, content: bytes, made: str) -> str:
        """Return the id of what the first request with the key makes, or has made (``claimed``)."""
        return self.claimed(kind, owner, key, content, made).made

    def claimed(
        self,
        kind: str,
        owner: str,
        key: str,
        content: bytes,
        made: str,
        kept_s: float = KEPT_S,
    ) -> Claim:
        """Return what the first request with the key makes, or has made, and when it came.

        ``made`` is the id of what this request would make, and the result if it is the first. A
        later request that does not find what the result names makes it under this id. It therefore
        waits for no other request, and continues one that was interrupted.
        Raises KeyReused or SQLAlchemyError.
        """
        now = self._clock()
        row = {
            "digest": self._digest(kind, owner, key),
            "content": self._hmac(content),
            "made": made,
            "expires_at": now + kept_s,
        }
        same = table.c.digest == row["digest"]
        with self._database.writing() as db:
            db.execute(delete(table).where(same, table.c.expires_at <= now))
            db.execute(_INSERT, row)
            columns = table.c["content", "made", "expires_at"]
            first = db.execute(select(*columns).where(same)).one()
        if first.content != row["content"]:
            raise KeyReused
        return Claim(str(first.made), float(first.expires_at) - kept_s)

    def made(self, kind: str, owner: str, key: str, content: bytes) -> str | None:
        """Return the id that an earlier request with the key has claimed, or None.

        Raises KeyReused or SQLAlchemyError.
        """
        is_valid = (table.c.digest == self._digest(kind, owner, key)) & (
            table.c.expires_at > self._clock()
        )
        with self._database.reading() as db:
            first = db.execute(select(table.c.content, table.c.made).where(is_valid)).first()
        if first is not None and first.content != self._hmac(content):
            raise KeyReused
        return None if first is None else str(first.made)

    def drop_expired(self) -> None:
        with self._database.writing() as db:
            db.execute(delete(table).where(table.c.expires_at <= self._clock()))

    def _digest(self, kind: str, owner: str, key: str) -> str:
        return self._hmac(f"{kind}\0{self._keys.namespace}\0{owner}\0{key}".encode())

    def _hmac(self, content: bytes) -> str:
        return keyed_hash(self._keys.secret, b"idempotency", content)
