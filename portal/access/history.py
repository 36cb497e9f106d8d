"""What each person asked, shown to them alone: encrypted, erasable, covered by a purge."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import cipher
from portal.storage import history as table
from portal.storage import reading

log = logging.getLogger(__name__)

KEPT_S = 30 * 24 * 3600
LISTED = 8


@dataclass(frozen=True, slots=True)
class Entry:
    subject: str
    asked_at: float  # epoch seconds


class HistoryUnavailable(Exception):
    """The database could not be asked."""


class History:
    """``tag`` names a plate without telling it (HMAC); the plate itself is encrypted."""

    kept_s: Final = KEPT_S

    def __init__(
        self,
        engine: Engine,
        secret: bytes,
        tag: Callable[[str], str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._secret = secret
        self._tag = tag
        self._clock = clock

    def record(self, visitor: str, subject: str) -> None:
        """Note a lookup. A convenience: where the database will not, nobody's page is lost."""
        sealed = cipher(self._secret, b"history").encrypt(subject.encode())
        tag, now = self._tag(subject), self._clock()
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
            .where(table.c.visitor == visitor, table.c.asked_at >= self._clock() - KEPT_S)
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
        """Delete what has been kept for thirty days, whether or not anybody asks again."""
        with self._engine.begin() as db:
            db.execute(delete(table).where(table.c.asked_at < self._clock() - KEPT_S))

    def erase(self, visitor: str) -> None:
        """Raises HistoryUnavailable where it could not: nobody is told that it is gone."""
        try:
            with self._engine.begin() as db:
                db.execute(delete(table).where(table.c.visitor == visitor))
        except SQLAlchemyError as error:
            raise HistoryUnavailable(type(error).__name__) from None

    def forget(self, subject: str) -> None:
        """A purge: nobody's history names this plate any more."""
        with self._engine.begin() as db:
            db.execute(delete(table).where(table.c.subject == self._tag(subject)))
