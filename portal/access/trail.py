"""The trail: who saw and did what of which vehicle, when, by which face and for what purpose.

What changes something (issuing, declaring, revoking, purging, access) is written in the transaction
of the act. Lookups are noted in memory and written within a second, so that no request waits for
the chain: a killed process loses at most the last second of what was seen, and never an act. What
one caller sees of one vehicle by one face is written at most once an hour.
"""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import SubjectKeys
from portal.access.trail_chain import START, Fault, Link, Signer, first_fault, vehicle_digest
from portal.storage.database import Also, Database, Lock, hold
from portal.storage.purge_log import purge_bucket
from portal.storage.tables import meta, purges
from portal.storage.tables import trail as table
from portal.system.error_kind import error_kind
from portal.system.local_time import DAY_S
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

Act = Literal[
    "saw",
    "asked",
    "exported",
    "issued",
    "opened_by_link",
    "declared",
    "revoked",
    "purged",
    "access_changed",
    "backup",
    "restored",
    "rotated",
]
Face = Literal["page", "api", "batch", "calendar", "link", "command"]
Kind = Literal["token", "person", "command", "link"]
# What is written at most once in AGAIN_S for a caller, a vehicle and a face.
SEEN: Final[frozenset[Act]] = frozenset({"saw", "opened_by_link"})
AGAIN_S: Final = 3600.0
# What is seen is written so often. A process that is killed loses what it has noted since.
FLUSH_EVERY_S: Final = 0.5
# Notes in memory. A database that is away for longer loses the oldest of them, and a log line says
# so.
MOST_NOTED: Final = 100_000
_MOST_SEEN: Final = 50_000
_AT_ONCE: Final = 500  # rows of one transaction, and parameters of one query
_PAGE: Final = 1000
_NO_ROW: Final = 2**31 - 1  # above the number of every row
_PURPOSE: Final = b"trail"
_HEAD: Final = "trail_head"
_ANCHOR: Final = "trail_anchor"
_PUT: Final = text(
    "INSERT INTO meta (name, value) VALUES (:name, :value) "
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_MOST_WHO: Final = 120
_MOST_NUMBER: Final = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An act. ``vehicle`` is a plate or a Renavam, or "" if the act was about no vehicle.

    ``number`` is that of a dossier or a purge, the id of a batch, or the name of a token. ``at`` is
    in epoch seconds, by default now. The vehicle is left out if it was purged after the purge with
    the number ``last_purge``, by default the last that this process knows when the act is noted.
    """

    who: str
    kind: Kind
    act: Act
    face: Face
    vehicle: str = ""
    purpose: str = ""
    number: str = ""
    at: float | None = None
    last_purge: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A row of the trail. ``vehicle`` is "" without a vehicle, and after its purge."""

    number_in_trail: int
    at: float
    who: str
    kind: str
    act: str
    face: str
    vehicle: str
    purpose: str
    number: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What ``verify`` found: how many rows hold, the last of them, and the first that does not."""

    rows: int
    anchor: Link
    last: Link
    fault: Fault | None


class Trail:
    """The trail of one database, for all namespaces of it. Lists show one namespace.

    ``days`` is how long a row is kept, and 0 keeps no trail. ``last_purge`` returns the number of
    the last purge that this process knows. ``failed`` is called when notes could not be written.
    """

    def __init__(
        self,
        database: Database,
        keys: SubjectKeys,
        days: int = 365,
        clock: Callable[[], float] = time.time,
        last_purge: Callable[[], int] = lambda: 0,
        failed: Callable[[], object] = lambda: None,
    ) -> None:
        self.days: Final = days
        self._database = database
        self._keys = keys
        self._signer = Signer.of(keys.secret)
        self._clock = clock
        self._last_purge = last_purge
        self._failed = failed
        self._noted: deque[Entry] = deque()
        self._lost = 0
        # When a caller, act, face, vehicle's tag and number were last noted, and the last purge.
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}
        self._flushing = threading.Lock()

    @property
    def is_kept(self) -> bool:
        return self.days > 0

    # Acts

    def write(self, db: Connection, *entries: Entry) -> None:
        """Write acts in the transaction ``db``, which must take no other lock afterwards."""
        if self.is_kept:
            self._append(db, entries)

    def writing(self, entry: Entry) -> Also:
        """Return what writes an act in the transaction that does it."""
        return lambda db: self.write(db, entry)

    def add(self, entry: Entry) -> None:
        """Write an act in a transaction of its own. Raises SQLAlchemyError."""
        if self.is_kept:
            with self._database.writing() as db:
                self._append(db, [entry])

    # What is seen

    def note(self, entry: Entry) -> None:
        """Note what a caller sees, for ``flush``. Never waits for the database."""
        if not self.is_kept:
            return
        now, last_purge = self._clock(), self._last_purge()
        if entry.act in SEEN:
            key = self._seen_key(entry, self._keys.tag(entry.vehicle))
            at, purge_no = self._seen.get(key, (-math.inf, 0))
            if 0 <= now - at < AGAIN_S and purge_no == last_purge:
                return
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()  # ``flush`` finds what the database has already
            self._seen[key] = (now, last_purge)
        if len(self._noted) >= MOST_NOTED:
            self._noted.popleft()
            self._lost += 1
        known = last_purge if entry.last_purge is None else entry.last_purge
        self._noted.append(replace(entry, at=now, last_purge=known))

    def flush(self) -> None:
        """Write what was noted. The scheduler calls this, and a process that ends.

        If the database fails, the notes stay in memory.
        """
        with self._flushing:
            if self._lost:
                _warn("the trail lost notes: the database was away for too long")
                self._lost = 0
            while self._noted:
                batch = [self._noted.popleft() for _ in range(min(_AT_ONCE, len(self._noted)))]
                try:
                    with self._database.writing() as db:
                        self._write_noted(db, batch)
                except SQLAlchemyError as error:
                    self._noted.extendleft(reversed(batch))
                    _warn(f"the trail was not written: {error_kind(error)}")
                    self._failed()
                    return

    def _write_noted(self, db: Connection, batch: Sequence[Entry]) -> None:
        # No purge is logged from here until the transaction ends, as in ``was_purged``.
        hold(db, Lock.PURGES, shared=True)
        above = min(entry.last_purge or 0 for entry in batch)
        rows = db.execute(select(purges.c.bucket, purges.c.number).where(purges.c.number > above))
        purged = {row.bucket: row.number for row in rows}
        hold(db, Lock.TRAIL)
        written, entries = self._seen_lately(db, batch), []
        for entry in batch:
            tag = self._keys.tag(entry.vehicle)
            if entry.vehicle and purged.get(purge_bucket(tag), 0) > (entry.last_purge or 0):
                entry = replace(entry, vehicle="")
            # The panels of one page ask one by one.
            if entry.act in SEEN or (entry.act, entry.face) == ("asked", "page"):
                key = self._seen_key(entry, tag)
                if key in written:
                    continue
                written.add(key)
            entries.append(entry)
        if entries:
            self._append(db, entries)

    def _seen_lately(self, db: Connection, entries: Sequence[Entry]) -> set[tuple[str, ...]]:
        """Return what the database has of the last hour, which another process may have written."""
        tags = [*{self._keys.tag(entry.vehicle) for entry in entries if entry.act in SEEN}]
        if not tags:
            return set()
        columns = table.c["who", "kind", "act", "face", "number", "subject"]
        query = select(*columns).where(
            table.c.subject.in_(tags),
            table.c.at > self._clock() - AGAIN_S,
            table.c.act.in_(sorted(SEEN)),
            table.c.namespace == self._keys.namespace,
        )
        return {
            (row.who, row.kind, row.act, row.face, row.subject, row.number)
            for row in db.execute(query)
        }

    def _seen_key(self, entry: Entry, tag: str) -> tuple[str, ...]:
        who, number = entry.who[:_MOST_WHO], entry.number[:_MOST_NUMBER]
        return (who, entry.kind, entry.act, entry.face, tag, number)

    # The chain

    def _append(self, db: Connection, entries: Sequence[Entry]) -> None:
        hold(db, Lock.TRAIL)
        link, rows = self._end(db), []
        for entry in entries:
            tag = sealed = None
            if entry.vehicle:
                tag = self._keys.tag(entry.vehicle)
                sealed = self._keys.encrypt(_PURPOSE, entry.vehicle.encode())
            row: dict[str, Any] = {
                "id": link.number + 1,
                "at": float(self._clock() if entry.at is None else entry.at),
                "namespace": self._keys.namespace,
                "who": entry.who[:_MOST_WHO],
                "kind": entry.kind,
                "act": entry.act,
                "face": entry.face,
                "purpose": entry.purpose[:_MOST_WHO],
                "number": entry.number[:_MOST_NUMBER],
                "subject": tag,
                "sealed": sealed,
                "vehicle": vehicle_digest(tag, sealed),
                "emptied": None,
            }
            link = Link(row["id"], self._signer.mac(row, link.mac))
            rows.append({**row, "mac": link.mac})
        db.execute(insert(table), rows)
        self._put(db, _HEAD, link)

    def _end(self, db: Connection) -> Link:
        """Return where the next row follows.

        If rows are missing at the end, the next row leaves a gap that ``verify`` names.
        """
        newest = select(func.max(table.c.id)).scalar_subquery()
        last = db.execute(select(table.c.id, table.c.mac).where(table.c.id == newest))
        links = [Link(row.id, row.mac) for row in last]
        links += [link for name in (_HEAD, _ANCHOR) if (link := self._read(db, name))]
        return max(links, key=lambda link: link.number, default=START)

    def _read(self, db: Connection, name: str) -> Link | None:
        stored = db.execute(select(meta.c.value).where(meta.c.name == name)).scalar()
        return self._signer.read(name, stored)

    def _put(self, db: Connection, name: str, link: Link) -> None:
        db.execute(_PUT, {"name": name, "value": self._signer.written(name, link)})

    def verify(self) -> Verified:
        """Follow the chain from its anchor to its head. Raises SQLAlchemyError."""
        with self._database.reading() as db:
            anchor = self._read(db, _ANCHOR) or START
            last = anchor
            count = 0
            while True:
                rows = self._page(db, last.number)
                if last == anchor and rows and rows[0]["id"] != last.number + 1:
                    # Rows may have expired since the anchor was read.
                    moved = self._read(db, _ANCHOR) or START
                    if moved.number > anchor.number:
                        anchor = last = moved
                        continue
                former = last.number
                last, fault = first_fault(rows, last, self._signer)
                count += last.number - former
                if fault:
                    return Verified(count, anchor, last, fault)
                if rows:
                    continue
                head = self._read(db, _HEAD)
                # Rows that were written meanwhile follow in the next page.
                if head and head.number > last.number and self._page(db, last.number):
                    continue
                return Verified(count, anchor, last, _fault_of_end(head, last))

    def _page(self, db: Connection, after: int) -> Sequence[Any]:
        query = select(table).where(table.c.id > after).order_by(table.c.id).limit(_PAGE)
        return db.execute(query).mappings().all()

    # Reading

    def rows(
        self,
        since: float = -math.inf,
        until: float = math.inf,
        who: str | None = None,
        vehicles: Sequence[str] | None = None,
    ) -> Iterator[Written]:
        """Yield the rows of this namespace, the oldest first.

        ``since`` and ``until`` are in epoch seconds, ``until`` is left out. Raises SQLAlchemyError.
        """
        where = table.c.namespace == self._keys.namespace
        if since > -math.inf:
            where &= table.c.at >= since
        if until < math.inf:
            where &= table.c.at < until
        if who is not None:
            where &= table.c.who == who
        if vehicles is not None:
            where &= table.c.subject.in_([self._keys.tag(vehicle) for vehicle in vehicles])
        after = 0
        while True:
            rows = self._select(where & (table.c.id > after), table.c.id, _PAGE)
            yield from rows
            if len(rows) < _PAGE:
                return
            after = rows[-1].number_in_trail

    def began_at(self) -> float | None:
        """Return when the oldest row of this namespace was written, or None without a row."""
        mine = table.c.namespace == self._keys.namespace
        with self._database.reading() as db:
            query = select(table.c.at).where(mine).order_by(table.c.id).limit(1)
            return db.execute(query).scalar()

    def latest(
        self,
        most: int,
        before: int | None = None,
        who: str | None = None,
        vehicles: Sequence[str] | None = None,
    ) -> Sequence[Written]:
        """Return the latest rows, the latest first, of those before the row ``before``."""
        is_before = table.c.id < (_NO_ROW if before is None else before)
        where = is_before & (table.c.namespace == self._keys.namespace)
        if who is not None:
            where &= table.c.who == who
        if vehicles is not None:
            where &= table.c.subject.in_([self._keys.tag(vehicle) for vehicle in vehicles])
        return self._select(where, table.c.id.desc(), most)

    def _select(self, where: ColumnElement[bool], order: Any, most: int) -> Sequence[Written]:
        query = select(table).where(where).order_by(order).limit(most)
        with self._database.reading() as db:
            return [self._written(row) for row in db.execute(query).mappings()]

    def _written(self, row: Any) -> Written:
        sealed = row["sealed"]
        vehicle = None if sealed is None else self._keys.decrypt(_PURPOSE, bytes(sealed))
        return Written(
            number_in_trail=row["id"],
            at=row["at"],
            who=row["who"],
            kind=row["kind"],
            act=row["act"],
            face=row["face"],
            vehicle=(vehicle or b"").decode(),
            purpose=row["purpose"],
            number=row["number"],
        )

    # Ends

    def forget(self, db: Connection, subjects: Sequence[str]) -> None:
        """Empty tag and ciphertext of vehicles in all their rows, in every namespace.

        The rows remain, and say that they were emptied. The caller then calls ``erase_deleted``.
        The transaction must take no other lock afterwards.
        """
        hold(db, Lock.TRAIL)
        of_subjects = table.c.subject.in_([self._keys.tag(subject) for subject in subjects])
        for row in db.execute(select(table.c.id, table.c.vehicle).where(of_subjects)).all():
            emptied = self._signer.emptied(row.id, row.vehicle)
            values = {"subject": None, "sealed": None, "emptied": emptied}
            db.execute(update(table).where(table.c.id == row.id).values(**values))

    def drop_expired(self) -> None:
        """Delete rows that are older than AUDIT_DAYS, and leave a signed anchor.

        The caller then calls ``erase_deleted``.
        """
        until = self._clock() - self.days * DAY_S if self.is_kept else math.inf
        while self._drop(until) == _PAGE:
            pass

    def _drop(self, until: float) -> int:
        """Delete the first rows, up to the first that has not expired. Return their number."""
        with self._database.reading() as db:
            oldest = select(func.min(table.c.id)).scalar_subquery()
            first = db.execute(select(table.c.at).where(table.c.id == oldest)).scalar()
        if first is None or first >= until:
            return 0
        with self._database.writing() as db:
            hold(db, Lock.TRAIL)
            columns = table.c["id", "mac", "at"]
            rows = db.execute(
                select(*columns).where(table.c.id > 0).order_by(table.c.id).limit(_PAGE)
            ).all()
            kept = next((at for at, row in enumerate(rows) if row.at >= until), len(rows))
            if not kept:
                return 0
            last = rows[kept - 1]
            db.execute(delete(table).where(table.c.id <= last.id))
            self._put(db, _ANCHOR, Link(last.id, last.mac))
        return kept

    def count(self) -> int:
        """Return the number of rows, in every namespace."""
        with self._database.reading() as db:
            return db.execute(select(func.count()).select_from(table)).scalar_one()


def _fault_of_end(head: Link | None, last: Link) -> Fault | None:
    """Compare the last row with the head."""
    if head == last or (head is None and last == START):
        return None
    if head is None or head.number > last.number:
        return Fault(last.number + 1, "missing")
    return Fault(min(head.number + 1, last.number), "foreign")
