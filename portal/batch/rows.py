"""Encrypts and changes the database rows of batches."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import msgspec
from sqlalchemy import Connection, select, update

from portal.access.sealing import SubjectKeys
from portal.batch.model import UnknownBatch
from portal.batch.typed_list import Subject
from portal.storage.database import Database, Lock, hold
from portal.storage.tables import batch_items as items
from portal.storage.tables import batches as table
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import parse_subject

SHORTEST_RETENTION_S: Final = 3600.0
_PURPOSE: Final = b"batch"


class Access(msgspec.Struct, frozen=True):
    """The values with which the portal authenticates a batch's owner while the batch runs.

    In pass-through mode, ``credential`` is the owner's upstream credential, and ``owner`` is the
    credential's HMAC. In other modes, ``credential`` is None.
    """

    owner: str = msgspec.field(name="digest")  # the name that stored batches have
    credential: str | None = None


BatchEvent = Literal["batch.done", "batch.paused"]


class Notify(Protocol):
    """Tells an owner of an event of a batch, which ``key`` names."""

    def __call__(
        self, db: Connection, owner: str, kind: BatchEvent, key: str, data: Mapping[str, str]
    ) -> None: ...


def _notify_no_owner(
    db: Connection, owner: str, kind: BatchEvent, key: str, data: Mapping[str, str]
) -> None: ...


@dataclass(frozen=True, eq=False)
class BatchRows:
    """The rows of one namespace's batches, which ``Batches`` and ``ItemLeases`` read and change.

    ``retention_s`` returns how many seconds the answers to a lookup are stored.
    """

    database: Database = field(repr=False)
    keys: SubjectKeys
    retention_s: Callable[[LookupName], float]
    clock: Callable[[], float] = time.time
    # Tells a batch's owner of its end or its pause, in the transaction of that.
    notify: Notify = field(default=_notify_no_owner, repr=False)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction that excludes other writers of batches."""
        with self.database.writing() as db:
            hold(db, Lock.BATCHES)
            yield db

    def encrypted(self, content: bytes) -> bytes:
        return self.keys.encrypt(_PURPOSE, content)

    def decrypted(self, sealed: bytes | None) -> bytes | None:
        """Return the decrypted content.

        Return None if ``sealed`` is None, or if no configured key can decrypt ``sealed``.
        """
        return None if sealed is None else self.keys.decrypt(_PURPOSE, sealed)

    def readable(self, batch: str, sealed: bytes) -> bytes:
        """Decrypt ``sealed``. Raises UnknownBatch if no configured key can decrypt it."""
        if (content := self.decrypted(sealed)) is None:
            raise UnknownBatch(batch)
        return content

    def name(self, row: Any) -> str:
        """Return the name that a batch's owner has given it, or ""."""
        return (self.decrypted(row.sealed_name) or b"").decode()

    def subject(self, batch: str, sealed: bytes) -> Subject:
        """Return an item's vehicle. Raises UnknownBatch if no key can decrypt ``sealed``."""
        return parse_subject(self.readable(batch, sealed).decode())

    def kept_s(self, ask: Sequence[LookupName]) -> float:
        """Return how many seconds a batch is kept after it has ended or paused."""
        return max(SHORTEST_RETENTION_S, *(self.retention_s(name) for name in ask))

    def end(self, db: Connection, batch: str, state: Literal["done", "cancelled"]) -> None:
        """Record that a batch has ended. An ended batch stays unchanged."""
        now = self.clock()
        query = select(*table.c["ask", "state", "sealed_access"]).where(table.c.id == batch)
        row = db.execute(query).first()
        if row is not None:
            if state == "done" and row.state == "running":
                self.notify_owner(db, batch, row.sealed_access, "batch.done", {})
            db.execute(
                update_batch(batch)
                .where(table.c.state.in_(("draft", "running", "paused")))
                .values(
                    state=state,
                    reason="",
                    resume_at=None,
                    ended_at=now,
                    expires_at=now + self.kept_s(split_ask(row.ask)),
                    sealed_access=None,
                )
            )

    def notify_owner(
        self,
        db: Connection,
        batch: str,
        sealed_access: bytes | None,
        kind: BatchEvent,
        data: Mapping[str, str],
    ) -> None:
        """Notify a batch's owner of its end or its pause, if its access can be read."""
        content = self.decrypted(sealed_access)
        if content is not None:
            access = msgspec.json.decode(content, type=Access)
            now = f"{self.clock():.0f}"
            self.notify(db, access.owner, kind, f"{batch}:{now}", {"batch": batch, **data})


def update_batch(batch: str) -> Any:
    """Return an SQL UPDATE statement for a batch's row."""
    return update(table).where(table.c.id == batch)


def has_pending(db: Connection, batch: str) -> bool:
    """Return whether any item of a batch is neither done nor failed."""
    query = select(items.c.id).where(items.c.batch == batch, items.c.state == "pending").limit(1)
    return db.execute(query).first() is not None


def split_ask(text: str) -> tuple[LookupName, ...]:
    """Return the lookups in the column ``ask``, a comma-separated list."""
    return tuple(text.split(","))  # type: ignore[arg-type]
