"""What each person asked, shown to them alone: encrypted, erasable, covered by a purge."""

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import cipher
from portal.storage import erase_traces, reading
from portal.storage import history as table

log = logging.getLogger(__name__)

KEPT_S = 30 * 24 * 3600
LISTED = 8


@dataclass(frozen=True, slots=True)
class Entry:
    subject: str
    asked_at: float  # epoch seconds


class HistoryUnavailable(Exception):
    """The database could not be asked."""


class BytesKept(Exception):
    """The rows are deleted; the database's files still hold bytes of them."""


class History:
    """``tag`` names a plate without telling it (HMAC); the plate itself is encrypted."""

    kept_s: Final = KEPT_S

    def __init__(
        self,
        engine: Engine,
        secret: bytes,
        tag: Callable[[str], str],
        clock: Callable[[], float] = time.time,
        namespace: str = "upstream",
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._secret = secret
        self._tag = tag
        self._clock = clock

    def record(self, visitor: str, subject: str) -> None:
        """Note a lookup. A convenience: where the database will not, nobody's page is lost."""
        sealed = cipher(self._secret, b"history").encrypt(subject.encode())
        tag, now = self._tag(subject), self._clock()
        visitor = self._visitor(visitor)
        try:
            with self._engine.begin() as db:
                db.execute(delete(table).where(table.c.visitor == visitor, table.c.subject == tag))
                db.execute(
                    insert(table).values(visitor=visitor, subject=tag, asked_at=now, sealed=sealed)
                )
        except SQLAlchemyError as error:  # the same visit noted twice at once included
            log.warning("history not kept: %s", type(error).__name__)

    def recent(self, visitor: str) -> list[Entry]:
        """The latest first, none where the database will not; an entry of another key is passed
        over."""
        from cryptography.fernet import InvalidToken

        query = (
            select(table.c.sealed, table.c.asked_at)
            .where(
                table.c.visitor == self._visitor(visitor),
                table.c.asked_at >= self._clock() - KEPT_S,
            )
            .order_by(table.c.asked_at.desc())
            .limit(LISTED)
        )
        box = cipher(self._secret, b"history")
        entries = []
        try:
            with reading(self._engine) as db:
                rows = db.execute(query).all()
        except SQLAlchemyError as error:
            log.warning("history not read: %s", type(error).__name__)
            return []
        for sealed, asked_at in rows:
            try:
                entries.append(Entry(box.decrypt(sealed).decode(), asked_at))
            except InvalidToken:
                continue
        return entries

    def drop_expired(self) -> None:
        """Delete entries older than thirty days. Raises BytesKept where their bytes remain.

        The bytes are removed at every call, so that a call which could not is made up for.
        """
        past = table.c.asked_at < self._clock() - KEPT_S
        with self._engine.begin() as db:
            sealed = db.execute(select(table.c.sealed).where(past)).scalars().all()
            db.execute(delete(table).where(past))
        if not erase_traces(self._engine, sealed):
            raise BytesKept

    def erase(self, visitor: str) -> None:
        """Delete a visitor's entries. Raises HistoryUnavailable where they, or bytes of them in
        the database's files, could not be deleted; a second call deletes the rest."""
        try:
            with self._engine.begin() as db:
                mine = self._visitor(visitor)
                db.execute(delete(table).where(table.c.visitor == mine))
            erased = erase_traces(self._engine, [mine.encode()])
        except SQLAlchemyError as error:
            raise HistoryUnavailable(type(error).__name__) from None
        if not erased:
            raise HistoryUnavailable("bytes kept")

    def forget(self, subject: str) -> None:
        """Delete a vehicle's entries from the histories of every namespace, and remove all traces
        of its tag from the database's files: the ledger's must be cut before. Raises BytesKept
        where they remain.
        """
        tag = self._tag(subject)
        with self._engine.begin() as db:
            db.execute(delete(table).where(table.c.subject == tag))
        if not erase_traces(self._engine, [tag.encode()]):
            raise BytesKept

    def _visitor(self, visitor: str) -> str:
        """A session may be shown to a portal in front of another upstream: it is told nothing."""
        return hashlib.sha256(f"{self._namespace}\0{visitor}".encode()).hexdigest()
