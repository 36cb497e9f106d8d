"""The database of a portal: what SQLite and PostgreSQL have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, Select, Table

# The default number of seconds that ``writing`` waits for other writers of an SQLite file.
WRITE_WAIT_S = 10.0
# The name under which a connection finds how its database takes a lock.
LOCKS: Final = "take_lock"


class Lock(Enum):
    """PostgreSQL advisory locks. All portals that share a database must use the same numbers.

    Without DOSSIERS and BATCHES, two transactions that lock the same rows in different orders could
    deadlock. A transaction that checks the log of purges before it inserts data about a vehicle
    shares PURGES. A transaction that logs a purge waits for these. The purge then deletes what they
    have inserted. TRAIL comes last: a transaction that holds it waits for no other lock.
    """

    SET_UP = 0x646F7373  # creates or migrates tables
    DOSSIERS = 0x64737372  # deletes dossiers
    BATCHES = 0x62617463  # writes batches
    PURGES = 0x70757267  # logs purges
    TRAIL = 0x74726169  # continues, empties or shortens the trail


# What else a transaction does.
Also = Callable[[Connection], object]


def nothing_else(_: Connection) -> None:
    """Do nothing else in a transaction."""


class Database(ABC):
    """An SQLite file or a PostgreSQL database.

    All methods but ``dispose`` and ``side`` raise SQLAlchemyError.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def dispose(self) -> None:
        """Close all pooled connections."""
        self.engine.dispose()

    @abstractmethod
    def reading(self) -> Connection:
        """Return a connection for reading, with one transaction for each query.

        The queries do not wait for writers and do not block writers.
        """

    @abstractmethod
    def writing(self, wait_s: float = WRITE_WAIT_S) -> AbstractContextManager[Connection]:
        """Begin a transaction that is committed at the end of the block.

        On SQLite, ``wait_s`` limits the wait for other writers. Calls must not be nested, because
        the inner call would wait for the outer call.
        """

    @abstractmethod
    def side(self) -> Self:
        """Return the database for the tables of tokens and histories.

        Requests with cached answers need these tables, but not the ledger. Slow writes to the
        ledger must not delay these requests.
        """

    @abstractmethod
    def set_up(self, *, required: bool) -> None:
        """Prepare for the creation or migration of the tables.

        Raises OSError if an SQLite file cannot be created or, if ``required``, is corrupt. Raises
        SchemaMismatch if PostgreSQL has the schema of another version.
        """

    @abstractmethod
    def set_up_transaction(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that keeps other processes from creating or migrating tables."""

    @abstractmethod
    def try_to_write(self) -> None:
        """Raise SQLAlchemyError if rows may not be inserted."""

    @abstractmethod
    def is_in_place(self) -> bool:
        """Return whether an SQLite file is still at its path, or True for PostgreSQL."""

    @abstractmethod
    def size(self) -> int | None:
        """Return the size of the database in bytes, or None if it is unknown."""

    @abstractmethod
    def erase_deleted(self) -> None:
        """Overwrite the bytes that deleted rows have left in SQLite's files.

        Raises BytesKept if bytes may remain. On PostgreSQL the method does nothing, because the
        server itself vacuums its files.
        """

    @abstractmethod
    def is_restored(self) -> bool:
        """Return whether the database is a copy, or has no record of its origin."""

    @abstractmethod
    def record_origin(self) -> None:
        """Record that the database is no copy."""


def hold(db: Connection, lock: Lock, *, shared: bool = False) -> None:
    """Take a lock, and hold it until the transaction ends.

    Any number of transactions may hold a shared lock at a time. On SQLite, the function does
    nothing, because a writing transaction already excludes other writers.
    """
    db.get_execution_options()[LOCKS](db, lock, shared)


def indexed_by(query: Select[Any], table: Table, index: str) -> Select[Any]:
    """Make SQLite read a table by an index.

    Between indexes with equal columns SQLite prefers the one that was made last, even if the other
    index has fewer rows. SQLAlchemy makes the indexes of a table in no certain order.
    """
    return query.with_hint(table, f"INDEXED BY {index}", "sqlite")
