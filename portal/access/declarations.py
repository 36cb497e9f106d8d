"""What each owner has declared of the checklist's lines, stored encrypted for that owner alone.

This module does not know what a line is. A declaration is a JSON text of ``portal.desk``, under the
line's key. Each line has a row of its own, so that two machines that declare different lines at the
same time lose none.
"""

import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from unicodedata import normalize

from sqlalchemy import Connection, Float, bindparam, delete, select, text, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError, TimeoutError

from portal.access.sealing import SubjectKeys
from portal.storage.database import Also, Database, nothing_else
from portal.storage.ends import note_end
from portal.storage.tables import declarations as table
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

# A vehicle may stand in a shop for months. What was checked longer ago says little.
KEPT_S: Final = 180 * 24 * 3600
_PURPOSE: Final = b"declarations"
_NO_SIGN: Final = re.compile(r"[^0-9A-Z]")
_AT_ONCE: Final = 400  # SQLite reads at most 999 parameters in older versions
_PUT: Final = text(
    "INSERT INTO declarations (owner, subject, line, declared_at, sealed) "
    "VALUES (:owner, :subject, :line, :declared_at, :sealed) "
    "ON CONFLICT (owner, subject, line) DO UPDATE SET "
    "declared_at = excluded.declared_at, sealed = excluded.sealed"
)

# Built once, because each page of a vehicle runs it.
_OF_SUBJECTS: Final = select(table.c.subject, table.c.line, table.c.sealed).where(
    table.c.owner == bindparam("by"),
    table.c.subject.in_(bindparam("of", expanding=True)),
    table.c.declared_at >= bindparam("since", type_=Float),
)

# A JSON text by the key of its line, in the order of the keys.
Lines = Mapping[str, bytes]


class Declarations:
    retention_s: Final = KEPT_S

    def __init__(
        self, database: Database, keys: SubjectKeys, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        self._breaker = DependencyBreaker(
            "the database of declarations", self._ping, (OperationalError, TimeoutError)
        )

    def stop(self) -> None:
        """Look no more for a database that is away."""
        self._breaker.stop()

    def put(
        self,
        owner: str,
        subject: str,
        lines: Mapping[str, bytes | None],
        also: Also = nothing_else,
    ) -> None:
        """Replace some lines of a vehicle in one transaction. None removes a line.

        ``also`` is done in the same transaction.

        Raises SQLAlchemyError.
        """
        by, tag, now = self._owner_key(owner), self._keys.tag(subject), self._clock()
        removed = [key for key, content in lines.items() if content is None]
        rows = [
            {
                "owner": by,
                "subject": tag,
                "line": key,
                "declared_at": now,
                "sealed": self._keys.encrypt(_PURPOSE, content),
            }
            for key, content in lines.items()
            if content is not None
        ]
        with self._database.writing() as db:
            if removed:
                mine = (table.c.owner == by) & (table.c.subject == tag)
                db.execute(delete(table).where(mine, table.c.line.in_(removed)))
                for line in removed:
                    key = {"owner": by, "subject": tag, "line": line}
                    note_end(db, "declaration", key, now)
            if rows:
                db.execute(_PUT, rows)
            also(db)

    def of(self, owner: str, subjects: Sequence[str]) -> Mapping[str, Lines] | None:
        """Return the owner's lines of each vehicle, or None if the database fails.

        Leaves out a line that the data key does not decrypt.
        """
        declared: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        by_tag = {self._keys.tag(subject): subject for subject in subjects}
        tags = list(by_tag)
        mine = {"by": self._owner_key(owner), "since": self._clock() - KEPT_S}
        try:
            with self._breaker.guard(), self._database.reading() as db:
                for first in range(0, len(tags), _AT_ONCE):
                    rows = db.execute(_OF_SUBJECTS, mine | {"of": tags[first : first + _AT_ONCE]})
                    for row in sorted(rows, key=lambda row: str(row.line)):
                        content = self._keys.decrypt(_PURPOSE, row.sealed)
                        if content is not None:
                            declared[by_tag[row.subject]][row.line] = content
        except BreakerOpen:
            return None
        except SQLAlchemyError as error:
            log.warning("declarations were not read: %s", error_kind(error))
            return None
        return declared

    def drop_expired(self) -> None:
        """Delete what is older than KEPT_S. The caller then calls ``erase_deleted``."""
        with self._database.writing() as db:
            db.execute(delete(table).where(table.c.declared_at < self._clock() - KEPT_S))

    def hand_over(self, db: Connection, former: str, new: str) -> int:
        """Give an owner's declarations to another, except lines of which that owner has one.

        Return how many.
        """
        before, after = self._owner_key(former), self._owner_key(new)
        other = table.alias()
        same = select(other.c.id).where(
            other.c.owner == after,
            other.c.subject == table.c.subject,
            other.c.line == table.c.line,
        )
        db.execute(delete(table).where(table.c.owner == before, same.exists()))
        moved = db.execute(update(table).where(table.c.owner == before).values(owner=after))
        return moved.rowcount

    def forget(self, db: Connection, subject: str) -> None:
        """Delete what all owners have declared of a vehicle, in every namespace.

        Also deletes declarations on other vehicles whose texts name it. They are decrypted for
        that, because no query could find them. The caller then erases the bytes of the deleted rows
        (``erase_deleted``).
        """
        db.execute(delete(table).where(table.c.subject == self._keys.tag(subject)))
        naming = [
            row.id
            for row in db.execute(select(table.c.id, table.c.sealed)).all()
            if (content := self._keys.decrypt(_PURPOSE, row.sealed)) is not None
            and subject in _NO_SIGN.sub("", normalize("NFKC", content.decode()).upper())
        ]
        if naming:
            db.execute(delete(table).where(table.c.id.in_(naming)))

    def _ping(self) -> None:
        with self._database.reading() as db:
            db.execute(select(table.c.id).limit(1)).first()

    def _owner_key(self, owner: str) -> str:
        return self._keys.owner_key("declarations", owner)
