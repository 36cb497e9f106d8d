"""Each visitor's recent lookups, stored encrypted and shown only to that visitor."""

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, bindparam, delete, insert, select, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError, TimeoutError

from portal.access.sealing import cipher
from portal.storage import BytesKept, erase_traces, reading, writing
from portal.storage import history as table
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

KEPT_S = 30 * 24 * 3600
LISTED = 8


@dataclass(frozen=True, slots=True)
class Entry:
    subject: str
    asked_at: float  # epoch seconds


class HistoryUnavailable(Exception):
    """Entries, or their bytes in the database's files, could not be erased."""


class History:
    """The recent lookups of each visitor.

    A subject is a plate or Renavam (the vehicle's registration number). ``tag`` computes the HMAC
    by which a subject's rows are found. ``former`` lists old secret keys, which still decrypt old
    rows. ``former_tags`` computes a subject's HMACs with the old keys.
    """

    retention_s: Final = KEPT_S

    def __init__(
        self,
        engine: Engine,
        secret: bytes,
        tag: Callable[[str], str],
        clock: Callable[[], float] = time.time,
        namespace: str = "upstream",
        former: Sequence[bytes] = (),
        former_tags: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        self._engine = engine
        self._former = former
        self._former_tags = former_tags
        self._namespace = namespace
        self._secret = secret
        self._tag = tag
        self._clock = clock
        # A database error opens the breaker. While it is open, pages show no history at once.
        self._breaker = DependencyBreaker(
            "the database of histories", self._ping, (OperationalError, TimeoutError)
        )

    def record(self, visitor: str, subject: str) -> None:
        """Record a lookup. A database failure is only logged, so that the page is still served."""
        sealed = cipher(self._secret, b"history").encrypt(subject.encode())
        tag, now = self._tag(subject), self._clock()
        visitor = self._visitor_key(visitor)
        try:
            with self._breaker.guard(), writing(self._engine) as db:
                same = table.c.subject.in_(self._tags(subject))
                db.execute(delete(table).where(table.c.visitor == visitor, same))
                db.execute(
                    insert(table).values(visitor=visitor, subject=tag, asked_at=now, sealed=sealed)
                )
        except BreakerOpen:
            return
        # The error is a unique violation if two requests record the same lookup at the same time.
        except SQLAlchemyError as error:
            log.warning("history was not recorded: %s", error_kind(error))

    def recent(self, visitor: str, most: int = LISTED, skip: int = 0) -> list[Entry]:
        """Return at most ``most`` of the visitor's lookups, the latest first.

        Leaves out the first ``skip`` lookups, and entries that no secret key decrypts. Returns an
        empty list if the database fails.
        """
        from cryptography.fernet import InvalidToken

        query = (
            select(table.c.sealed, table.c.asked_at)
            .where(
                table.c.visitor == self._visitor_key(visitor),
                table.c.asked_at >= self._clock() - KEPT_S,
            )
            .order_by(table.c.asked_at.desc())
            .limit(most)
            .offset(skip)
        )
        fernet = cipher(self._secret, b"history", self._former)
        entries = []
        try:
            with self._breaker.guard(), reading(self._engine) as db:
                rows = db.execute(query).all()
        except BreakerOpen:
            return []
        except SQLAlchemyError as error:
            log.warning("history was not read: %s", error_kind(error))
            return []
        for sealed, asked_at in rows:
            try:
                entries.append(Entry(fernet.decrypt(sealed).decode(), asked_at))
            except InvalidToken:
                continue
        return entries

    def drop_expired(self) -> None:
        """Delete entries older than thirty days.

        Raises BytesKept. The method empties SQLite's write-ahead log even if no entry has expired,
        because a concurrent reader may have prevented this in the previous call.
        """
        expired = table.c.asked_at < self._clock() - KEPT_S
        with writing(self._engine) as db:
            sealed = db.execute(select(table.c.sealed).where(expired)).scalars().all()
            db.execute(delete(table).where(expired))
        erase_traces(self._engine, sealed)

    def erase(self, visitor: str, subject: str | None = None) -> None:
        """Delete a visitor's entries, or only the entry of one ``subject``.

        Raises HistoryUnavailable if data remains. The caller may try again.
        """
        mine = self._visitor_key(visitor)
        tag = "" if subject is None else self._tag(subject)
        try:
            with writing(self._engine) as db:
                chosen = table.c.visitor == mine
                if subject is not None:
                    chosen &= table.c.subject == tag
                db.execute(delete(table).where(chosen))
            # Rows and index entries contain the visitor's key directly before the subject's HMAC,
            # so one search for both texts together finds copies of rows and of index entries.
            erase_traces(self._engine, [f"{mine}{tag}".encode()])
        except (SQLAlchemyError, BytesKept) as error:
            raise HistoryUnavailable(type(error).__name__) from None

    def forget(self, subject: str) -> None:
        """Delete a vehicle's entries from the histories of every namespace.

        Also erases the vehicle's HMAC from the database's files. Call ``Ledger.forget`` first,
        because the ledger's rows contain the same HMAC. Raises BytesKept.
        """
        tags = self._tags(subject)
        with writing(self._engine) as db:
            db.execute(delete(table).where(table.c.subject.in_(tags)))
        erase_traces(self._engine, [tag.encode() for tag in tags])

    def take_over(self, former: str, present: str) -> None:
        """Move a visitor's entries from the name ``former`` to the name ``present``.

        In pass-through mode, a visitor's name is an HMAC of the credential. A new secret key
        changes it. Raises SQLAlchemyError.
        """
        old, new = self._visitor_key(former), self._visitor_key(present)
        with reading(self._engine) as db:
            if (
                db.execute(select(table.c.id).where(table.c.visitor == old).limit(1)).first()
                is None
            ):
                return
        with writing(self._engine) as db:
            again = select(table.c.subject).where(table.c.visitor == new).scalar_subquery()
            db.execute(delete(table).where(table.c.visitor == old, table.c.subject.in_(again)))
            db.execute(update(table).where(table.c.visitor == old).values(visitor=new))

    def drop_unreadable(self) -> None:
        """Delete the entries that no secret key can decrypt. Raises SQLAlchemyError."""
        from cryptography.fernet import InvalidToken

        fernet, unreadable = cipher(self._secret, b"history", self._former), []
        with reading(self._engine) as db:
            for row in db.execute(select(table.c.id, table.c.sealed)):
                try:
                    fernet.decrypt(row.sealed)
                except InvalidToken:
                    unreadable.append({"unreadable": row.id})
        if unreadable:
            with writing(self._engine) as db:
                db.execute(delete(table).where(table.c.id == bindparam("unreadable")), unreadable)

    def _tags(self, subject: str) -> list[str]:
        return [self._tag(subject), *self._former_tags(subject)]

    def _ping(self) -> None:
        with reading(self._engine) as db:
            db.execute(select(table.c.id).limit(1)).first()

    def _visitor_key(self, visitor: str) -> str:
        """Return the digest of namespace and visitor, which identifies a visitor's rows.

        A browser may send its session cookie to another portal on the same host. The namespace
        prevents a portal for another upstream from showing the visitor's entries.
        """
        return hashlib.sha256(f"{self._namespace}\0{visitor}".encode()).hexdigest()
