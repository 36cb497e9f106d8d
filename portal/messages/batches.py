"""Tells the owner of a batch that it has ended or paused."""

from collections.abc import Mapping

from sqlalchemy import Connection

from portal.batch.rows import BatchEvent
from portal.messages.outbox import Message, Outbox


class BatchMessages:
    """Writes the messages on batches, as ``portal.batch.rows.Notify`` says."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def __call__(
        self, db: Connection, owner: str, kind: BatchEvent, key: str, data: Mapping[str, str]
    ) -> None:
        self._outbox.add(db, Message(kind, f"{kind}:{key}", data, owner))
