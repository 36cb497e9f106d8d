"""What was ended: purges, revocations, erasures. It ends again in a database that was restored.

``note_end`` writes an end in the transaction that makes it. Journals outside the database
(``EndsFile``, and Redis) keep copies. A restored database lacks the later ends: ``Ends.lacking``
finds them in the journals, and ``Ends.apply`` makes them again.

An end says how it left the row with its key, or which rows with its key it deleted. A key is
hashed: a purge leaves no byte of a vehicle's tag, of its dossiers' numbers or of who had it in a
history, and does not rewrite journals.
"""

import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, and_, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from portal.storage.database import Database, Lock, hold
from portal.storage.tables import (
    batch_items,
    batches,
    calendar_addresses,
    channels,
    declarations,
    dossiers,
    history,
    people,
    tokens,
)
from portal.storage.tables import ends as table
from portal.system.error_kind import error_kind
from portal.system.local_time import DAY_S
from portal.system.repeated_warning import RepeatedWarning

_warn = RepeatedWarning(logging.getLogger(__name__))

# An older backup brings back what was ended before.
KEPT_S: Final = 90.0 * DAY_S
# Seconds by which the times of two machines, or of two transactions, may be out of order.
_OVERLAP_S: Final = 600.0

Kind = Literal[
    "purge",
    "token",
    "dossier",
    "sessions",
    "session",
    "batch",
    "draft",
    "calendar",
    "channels",
    "history",
    "declaration",
]
Value = str | int | float | None


class _Left(NamedTuple):
    """The end leaves its row: ``copied`` as noted, and ``fixed`` always the same."""

    table: Table
    copied: Sequence[str]
    fixed: Mapping[str, object] = {}


class _Deleted(NamedTuple):
    """The end deletes its rows, if the column ``written`` has no later time."""

    table: Table
    written: str | None = None


# A purge has no rule, because it needs the store as well (``portal.commands.purge``).
_RULES: Final[Mapping[Kind, _Left | _Deleted]] = {
    "token": _Left(
        tokens,
        ("name", "scopes", "daily_limit", "monthly_budget", "expires_at", "revoked_at"),
    ),
    "dossier": _Left(dossiers, ("revoked_at",), {"head": None, "html": None, "pdf": None}),
    "sessions": _Left(people, ("ended_at",), {"sealed_sessions": None}),
    # The list of sessions is encrypted. Without it, the person signs in again in every browser.
    "session": _Left(people, (), {"sealed_sessions": None}),
    "batch": _Left(
        batches,
        ("ended_at", "expires_at"),
        {"state": "cancelled", "reason": "", "resume_at": None, "sealed_access": None},
    ),
    "draft": _Deleted(batches),
    "calendar": _Deleted(calendar_addresses, "created_at"),
    "channels": _Deleted(channels),
    "history": _Deleted(history, "asked_at"),
    "declaration": _Deleted(declarations, "declared_at"),
}


class End(msgspec.Struct, frozen=True):
    """An end at the time ``at``, in epoch seconds.

    ``key`` are the columns by which its rows are found, with hashes of what they hold. ``values``
    are the columns that it left. Of a purge, they are the vehicle's names, encrypted under the data
    key.
    """

    id: str
    at: float
    kind: Kind
    key: dict[str, str]
    values: dict[str, Value]


class Journal(Protocol):
    """A copy of a database's ends that outlives the database. Its methods raise OSError."""

    @property
    def name(self) -> str:
        """Where it is, for people."""
        ...

    def read(self) -> Sequence[End]: ...

    def add(self, ends: Sequence[End]) -> None: ...


class _Content(msgspec.Struct):
    key: dict[str, str]
    values: dict[str, Value]


def note_end(
    db: Connection,
    kind: Kind,
    key: Mapping[str, str],
    at: float,
    values: Mapping[str, str] | None = None,
) -> None:
    """Note an end that the transaction ``db`` has made.

    How it left its row is read from the row. ``values`` are those of a purge.
    """
    rule, left = _RULES.get(kind), dict[str, Any](values or {})
    if isinstance(rule, _Left) and rule.copied:
        columns = [rule.table.c[name] for name in rule.copied]
        is_meant = and_(*(rule.table.c[name] == value for name, value in key.items()))
        left = dict(db.execute(select(*columns).where(is_meant)).mappings().one())
    hashes = {name: _hash(kind, name, value) for name, value in key.items()}
    _insert(db, End(secrets.token_hex(16), at, kind, hashes, left))


class Ends:
    """The ends that a database has. All methods raise SQLAlchemyError."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def since(self, at: float) -> list[End]:
        """Return the ends at or after a time, the earliest first."""
        with self._database.reading() as db:
            return _read(db, at)

    def lacking(self, journaled: Collection[End]) -> list[End]:
        """Return the journaled ends that the database lacks, the earliest first."""
        known, kept_since = {end.id for end in self.since(0)}, self._clock() - KEPT_S
        missing = {end.id: end for end in journaled if end.id not in known and end.at > kept_since}
        return sorted(missing.values(), key=lambda end: end.at)

    def apply(self, db: Connection, ends: Sequence[End]) -> dict[Kind, int]:
        """Make ends again in the transaction ``db``. Return how many changed rows, by their kind.

        Rows that an end at a later time has left stay as they are. Purges are noted alone. The
        caller then erases the bytes of the deleted rows (``erase_deleted``).
        """
        hold(db, Lock.DOSSIERS)
        hold(db, Lock.BATCHES)
        left_at: dict[object, float] = {}
        for earlier in _read(db, 0):
            left_at[_row_of(earlier)] = earlier.at
        done: dict[Kind, int] = {}
        for end in sorted(ends, key=lambda each: each.at):
            rule, changed = _RULES.get(end.kind), 0
            if isinstance(rule, _Deleted):
                changed = _delete_again(db, rule, end)
            elif rule and end.at > left_at.get(_row_of(end), 0.0):
                values = {name: end.values[name] for name in rule.copied} | dict(rule.fixed)
                is_meant = _matches(db, rule.table, end)
                changed = db.execute(update(rule.table).where(is_meant).values(**values)).rowcount
            if changed:
                done[end.kind] = done.get(end.kind, 0) + 1
            _insert(db, end)
        return done

    def drop_expired(self) -> None:
        with self._database.writing() as db:
            db.execute(delete(table).where(table.c.at < self._clock() - KEPT_S))


class EndsCopier:
    """Copies the database's ends to its journals. ``journals`` may raise SQLAlchemyError."""

    def __init__(self, ends: Ends, journals: Callable[[], Sequence[Journal]]) -> None:
        self._ends = ends
        self._journals = journals
        # The ids of copied ends by the journal's name, and the time up to which all are copied.
        self._copied: dict[str, set[str]] = {}
        self._since: dict[str, float] = {}

    def run(self) -> None:
        """Copy new ends. What the database or a journal refuses now is copied by a later call."""
        with suppress(SQLAlchemyError):  # the tasks that need the database log that it is away
            for journal in self._journals():
                try:
                    self._copy(journal)
                except OSError as error:
                    _warn(f"ends are not copied to {journal.name}: {error_kind(error)}")

    def _copy(self, journal: Journal) -> None:
        name = journal.name
        if name not in self._copied:
            self._copied[name] = {end.id for end in journal.read()}
        later = self._ends.since(self._since.get(name, 0.0))
        if new := [end for end in later if end.id not in self._copied[name]]:
            journal.add(new)
            self._copied[name].update(end.id for end in new)
        if later:
            self._since[name] = later[-1].at - _OVERLAP_S


def _read(db: Connection, since: float) -> list[End]:
    query = select(table).where(table.c.at >= since).order_by(table.c.at)
    return [_decoded(row) for row in db.execute(query)]


def _delete_again(db: Connection, rule: _Deleted, end: End) -> int:
    """Delete the rows of an end, and return their number."""
    rows = rule.table
    where = _matches(db, rows, end)
    if rule.written is not None:
        where &= rows.c[rule.written] <= end.at
    if rows is batches:
        batch = select(batches.c.id).where(where)
        db.execute(delete(batch_items).where(batch_items.c.batch.in_(batch)))
    return db.execute(delete(rows).where(where)).rowcount


def _matches(db: Connection, rows: Table, end: End) -> ColumnElement[bool]:
    """Return the condition for the rows of an end, of which all keys are read and hashed."""
    (primary,) = rows.primary_key.columns
    matching = db.execute(select(primary, *(rows.c[name].label(f"key_{name}") for name in end.key)))
    meant = [
        row[0]
        for row in matching
        if all(
            _hash(end.kind, name, value) == digest
            for (name, digest), value in zip(end.key.items(), row[1:], strict=True)
        )
    ]
    return primary.in_(meant)


def _row_of(end: End) -> object:
    return end.kind, *sorted(end.key.items())


def _hash(kind: Kind, name: str, value: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}\0{value}".encode()).hexdigest()[:32]


def _insert(db: Connection, end: End) -> None:
    content = msgspec.json.encode(_Content(end.key, end.values)).decode()
    db.execute(insert(table).values(id=end.id, at=end.at, kind=end.kind, content=content))


def _decoded(row: Any) -> End:
    content = msgspec.json.decode(row.content, type=_Content)
    return End(row.id, row.at, row.kind, content.key, content.values)
