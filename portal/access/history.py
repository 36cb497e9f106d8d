"""Each visitor's recent lookups, notes and what they last saw, encrypted for that visitor alone."""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from unicodedata import normalize

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Select,
    TextClause,
    bindparam,
    delete,
    func,
    not_,
    select,
    text,
    update,
)
from sqlalchemy.exc import OperationalError, SQLAlchemyError, TimeoutError

from portal.access.sealing import SubjectKeys
from portal.storage.database import Database
from portal.storage.ends import note_end
from portal.storage.tables import history as table
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

_DAY_S: Final = 24 * 3600
KEPT_DAYS: Final = 30
# A visitor may choose to keep the history for longer.
CHOICES_DAYS: Final = (KEPT_DAYS, 90)
KEPT_S = KEPT_DAYS * _DAY_S
_LONGEST_S: Final = max(CHOICES_DAYS) * _DAY_S
LISTED = 8
_PURPOSE: Final = b"history"
_NO_SIGN: Final = re.compile(r"[^0-9A-Z]")
_DELETED_AT_ONCE: Final = 2000  # rows, so that other writers do not wait long
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def _is_kept(now: ColumnElement[float] | float) -> ColumnElement[bool]:
    """Return whether an entry is as young as its visitor keeps entries.

    Without "+ 0", SQLite would read all of the visitor's entries by their time.
    """
    days = func.coalesce(table.c.kept_days, KEPT_DAYS)
    return table.c.asked_at + 0.0 >= now - days * _DAY_S


# Built once, because each page of a vehicle runs them. The parameters of an update name the columns
# that change.
_SIGHTS: Final = select(table.c.subject, table.c.sealed_sight).where(
    table.c.visitor == bindparam("by"),
    table.c.subject.in_(bindparam("of", expanding=True)),
    _is_kept(bindparam("now", type_=Float)),
    table.c.sealed_sight.is_not(None),
)
_CHANGE: Final = (
    update(table)
    .where(table.c.visitor == bindparam("by"), table.c.subject == bindparam("of"))
    .returning(table.c.sealed_sight)
)
# Another request may have inserted the row after _CHANGE found none.
_INSERT: Final = "INSERT INTO history (visitor, subject, sealed, kept_days, asked_at"
# A visitor's rows share the choice of how long to keep them. PostgreSQL would give the parameter
# another type in each place.
_VALUES: Final = (
    "VALUES (CAST(:visitor AS VARCHAR), :subject, :sealed, (SELECT max(kept_days) FROM history "
    "WHERE visitor = CAST(:visitor AS VARCHAR)), :asked_at"
)
_CONFLICT: Final = "ON CONFLICT (visitor, subject) DO UPDATE SET asked_at = excluded.asked_at"
_RECORD: Final = text(f"{_INSERT}) {_VALUES}) {_CONFLICT}")
_ANNOTATE: Final = text(
    f"{_INSERT}, sealed_note) {_VALUES}, :sealed_note) "
    f"{_CONFLICT}, sealed_note = excluded.sealed_note"
)


@dataclass(frozen=True, slots=True)
class Entry:
    subject: str
    asked_at: float  # epoch seconds


# A visitor's text about a vehicle, and its tag. Either may be "".
Note = tuple[str, str]


class History:
    """The recent lookups of each visitor."""

    retention_s: Final = KEPT_S

    def __init__(
        self,
        database: Database,
        keys: SubjectKeys,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        # A database error opens the breaker. While the breaker is open, pages omit the history at
        # once (``test_hung_database_delays_one_page_and_not_the_next``). ``Tokens`` has its own
        # breaker, so that a locked history table does not stop authentication.
        self._breaker = DependencyBreaker(
            "the database of histories", self._ping, (OperationalError, TimeoutError)
        )

    def stop(self) -> None:
        """Look no more for a database that is away."""
        self._breaker.stop()

    def record(self, visitor: str, subject: str) -> bytes | None:
        """Record a lookup, and return what the visitor last saw of the vehicle, or None.

        A database failure is only logged, so that the page is still served.
        """
        with (
            self._failures_logged("recorded"),
            self._breaker.guard(),
            self._database.writing() as db,
        ):
            return self._put(db, _RECORD, visitor, subject)
        return None

    def annotate(self, visitor: str, subject: str, note: Note) -> None:
        """Replace the visitor's note on a vehicle, which the history then contains.

        Raises SQLAlchemyError.
        """
        sealed = self._keys.encrypt(_PURPOSE, json.dumps(note).encode()) if any(note) else None
        with self._database.writing() as db:
            self._put(db, _ANNOTATE, visitor, subject, sealed_note=sealed)

    def _put(
        self, db: Connection, statement: TextClause, visitor: str, subject: str, **values: Any
    ) -> bytes | None:
        """Change or insert a row, and return what the visitor last saw of the vehicle, or None."""
        visitor, tag = self._visitor_key(visitor), self._keys.tag(subject)
        values |= {"asked_at": self._clock()}
        changed = db.execute(_CHANGE, {"by": visitor, "of": tag, **values}).first()
        if changed is None:
            sealed = self._keys.encrypt(_PURPOSE, subject.encode())
            row = {"visitor": visitor, "subject": tag, "sealed": sealed, **values}
            db.execute(statement, row)
        seen = None if changed is None else changed.sealed_sight
        return None if seen is None else self._keys.decrypt(_PURPOSE, seen)

    def notes(self, visitor: str, subjects: Sequence[str]) -> Mapping[str, Note]:
        """Return the visitor's notes on some of ``subjects``, {} if the database fails."""
        by_tag = {self._keys.tag(subject): subject for subject in subjects}
        query = select(table.c.subject, table.c.sealed_note).where(
            table.c.visitor == self._visitor_key(visitor),
            table.c.subject.in_(by_tag),
            self._is_kept(),
            table.c.sealed_note.is_not(None),
        )
        return {
            by_tag[row.subject]: note
            for row in self._found(query)
            if (note := self._note(row.sealed_note)) is not None
        }

    def _note(self, sealed: bytes) -> Note | None:
        content = self._keys.decrypt(_PURPOSE, sealed)
        return None if content is None else tuple(json.loads(content))

    def recent(self, visitor: str, most: int = LISTED, skip: int = 0) -> list[Entry]:
        """Return at most ``most`` of the visitor's lookups, the latest first.

        Skips the latest ``skip`` lookups. Leaves out entries that the data key does not decrypt.
        Returns an empty list if the database fails.
        """
        query = (
            select(table.c.sealed, table.c.asked_at)
            .where(
                table.c.visitor == self._visitor_key(visitor),
                table.c.asked_at >= self._clock() - _LONGEST_S,
                self._is_kept(),
            )
            .order_by(table.c.asked_at.desc())
            .limit(most)
            .offset(skip)
        )
        return [
            Entry(subject.decode(), row.asked_at)
            for row in self._found(query)
            if (subject := self._keys.decrypt(_PURPOSE, row.sealed)) is not None
        ]

    def _is_kept(self) -> ColumnElement[bool]:
        return _is_kept(self._clock())

    def kept_days(self, visitor: str) -> int:
        """Return for how many days the visitor's entries are kept."""
        query = select(func.max(table.c.kept_days)).where(
            table.c.visitor == self._visitor_key(visitor)
        )
        return next((row[0] for row in self._found(query) if row[0]), KEPT_DAYS)

    def keep_for(self, visitor: str, days: int) -> None:
        """Keep the visitor's entries for so many of CHOICES_DAYS. Raises SQLAlchemyError."""
        assert days in CHOICES_DAYS
        mine = table.c.visitor == self._visitor_key(visitor)
        with self._database.writing() as db:
            db.execute(update(table).where(mine).values(kept_days=days))

    def sights(self, visitor: str, subjects: Sequence[str]) -> Mapping[str, bytes]:
        """Return what the visitor last saw of ``subjects``, {} if the database fails."""
        by_tag = {self._keys.tag(subject): subject for subject in subjects}
        values = {"by": self._visitor_key(visitor), "of": list(by_tag), "now": self._clock()}
        return {
            by_tag[row.subject]: content
            for row in self._found(_SIGHTS, values)
            if (content := self._keys.decrypt(_PURPOSE, row.sealed_sight)) is not None
        }

    def keep_sight(self, visitor: str, subject: str, content: bytes) -> None:
        """Replace what the visitor last saw of a vehicle of the history.

        A database failure is only logged, so that the page is still served.
        """
        mine = (table.c.visitor == self._visitor_key(visitor)) & (
            table.c.subject == self._keys.tag(subject)
        )
        sealed = self._keys.encrypt(_PURPOSE, content)
        with (
            self._failures_logged("kept"),
            self._breaker.guard(),
            self._database.writing() as db,
        ):
            db.execute(update(table).where(mine).values(sealed_sight=sealed))

    def drop_expired(self) -> None:
        """Delete entries older than their visitor keeps them.

        The caller then calls ``erase_deleted``.
        """
        expired = select(table.c.id).where(
            table.c.asked_at < self._clock() - KEPT_S, not_(self._is_kept())
        )
        group = expired.order_by(table.c.asked_at).limit(_DELETED_AT_ONCE)
        is_full = True
        while is_full:
            with self._database.writing() as db:
                # For a DELETE with this SELECT in it, PostgreSQL would read the whole table.
                ids = db.execute(group).scalars().all()
                db.execute(delete(table).where(table.c.id.in_(ids)))
            is_full = len(ids) == _DELETED_AT_ONCE

    def erase(self, visitor: str, subject: str | None = None) -> None:
        """Delete a visitor's entries, or only the entry of one ``subject``.

        Raises SQLAlchemyError, or BytesKept if bytes of them remain. The caller may try again.
        """
        mine = self._visitor_key(visitor)
        chosen = table.c.visitor == mine
        if subject is not None:
            chosen &= table.c.subject == self._keys.tag(subject)
        key = {"visitor": mine}
        if subject is not None:
            key["subject"] = self._keys.tag(subject)
        with self._database.writing() as db:
            if db.execute(delete(table).where(chosen)).rowcount:
                note_end(db, "history", key, self._clock())
        self._database.erase_deleted()

    def hand_over(self, db: Connection, former: str, new: str) -> int:
        """Give a visitor's entries to another, and return how many.

        An entry that both have stays as the other has it, with the former note if it has none.
        """
        before, after = self._visitor_key(former), self._visitor_key(new)
        has = select(table.c.subject).where(table.c.visitor == after)
        both = (table.c.visitor == before) & table.c.subject.in_(has)
        noted = select(table.c.subject, table.c.sealed_note).where(
            both, table.c.sealed_note.is_not(None)
        )
        for row in db.execute(noted).all():
            is_bare = (table.c.visitor == after) & (table.c.subject == row.subject)
            bare = update(table).where(is_bare, table.c.sealed_note.is_(None))
            db.execute(bare.values(sealed_note=row.sealed_note))
        db.execute(delete(table).where(both))
        moved = db.execute(update(table).where(table.c.visitor == before).values(visitor=after))
        return moved.rowcount

    def forget(self, db: Connection, subject: str) -> None:
        """Delete a vehicle's entries from the histories of all visitors, in every namespace.

        Also deletes notes on other vehicles that name it. Notes are decrypted for that, because no
        query could find them. The caller then erases the bytes of the deleted rows
        (``erase_deleted``).
        """
        db.execute(delete(table).where(table.c.subject == self._keys.tag(subject)))
        query = select(table.c.id, table.c.sealed_note).where(table.c.sealed_note.is_not(None))
        for row in db.execute(query).all():
            note = self._note(row.sealed_note)
            if note is not None and subject in _NO_SIGN.sub("", normalize("NFKC", note[0]).upper()):
                db.execute(update(table).where(table.c.id == row.id).values(sealed_note=None))

    def _found(self, query: Select[Any], values: Mapping[str, Any] = _NONE) -> Sequence[Any]:
        with self._failures_logged("read"), self._breaker.guard(), self._database.reading() as db:
            return db.execute(query, values).all()
        return ()

    @contextmanager
    def _failures_logged(self, done: str) -> Iterator[None]:
        """Suppress a database failure. Log the failure unless the breaker was already open."""
        try:
            yield
        except BreakerOpen:
            pass
        except SQLAlchemyError as error:
            log.warning("history was not %s: %s", done, error_kind(error))

    def _ping(self) -> None:
        with self._database.reading() as db:
            db.execute(select(table.c.id).limit(1)).first()

    def _visitor_key(self, visitor: str) -> str:
        return self._keys.owner_key("", visitor)
