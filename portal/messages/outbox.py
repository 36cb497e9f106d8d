"""The queue of messages in the database, which each process fills and empties.

A message is inserted in the transaction of what it is about, once for its key: a budget is warned
of once a month and amount, by whichever process crosses the line. ``Courier`` sends it.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, delete, func, insert, select, text, update

from portal.storage.database import Database
from portal.storage.tables import deliveries, messages

MessageType = Literal[
    "budget.warned",
    "budget.spent",
    "batch.done",
    "batch.paused",
    "token.ending",
    "dossier.ending",
    "key.ending",
    "test",
]
Channel = Literal["mail", "webhook"]
OPERATOR: Final = ""  # The operator gets every message that has no owner.
# Longer than any month, because the row of a message keeps it from being told again in its month.
KEPT_S: Final = 32 * 86_400.0
# Standard Webhooks: growing pauses, for three days in all.
PAUSES_S: Final = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, *([28_800] * 7))
GIVEN_UP_S: Final = 72 * 3_600.0
# A delivery that a killed process had begun is tried again after so many seconds.
_LEASE_S: Final = 120.0
_INSERT: Final = text(
    "INSERT INTO messages (namespace, key, recipient, type, data, created_at) "
    "VALUES (:namespace, :key, :recipient, :type, :data, :created_at) "
    "ON CONFLICT (namespace, key, recipient) DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message. ``key`` names it for good. ``recipient`` is an owner, or OPERATOR."""

    type: MessageType
    key: str
    data: Mapping[str, Any]
    recipient: str = OPERATOR


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message on its way to one address. Times are epoch seconds.

    ``id`` is the webhook's message id, which is equal in each attempt. ``sealed`` is the address.
    """

    number: int
    id: str
    channel: Channel
    sealed: bytes
    type: MessageType
    data: Mapping[str, Any]
    created_at: float
    attempts: int


@dataclass(frozen=True, slots=True)
class DeliveryState:
    """A delivery, for the operator's page. ``result`` is what the last attempt met.

    ``data`` is the message's. ``is_operators`` is false if it goes to an owner.
    """

    type: MessageType
    data: Mapping[str, Any]
    is_operators: bool
    channel: Channel
    created_at: float
    attempts: int
    result: str
    is_done: bool
    next_at: float | None


class Outbox:
    """The messages of one namespace."""

    def __init__(
        self, database: Database, namespace: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._clock = clock

    def add(self, db: Connection, message: Message) -> bool:
        """Insert a message in the caller's transaction, unless its key was inserted before.

        Return whether it was inserted.
        """
        inserted = db.execute(
            _INSERT,
            {
                "namespace": self._namespace,
                "key": message.key,
                "recipient": message.recipient,
                "type": message.type,
                "data": json.dumps(dict(message.data)),
                "created_at": self._clock(),
            },
        )
        return inserted.rowcount > 0

    def route(self, addresses: Callable[[str], Sequence[tuple[Channel, bytes]]]) -> None:
        """Make the deliveries of new messages.

        ``addresses`` returns the channels and sealed addresses of a recipient.
        """
        new = select(messages.c.id, messages.c.recipient).where(
            messages.c.namespace == self._namespace, messages.c.routed_at.is_(None)
        )
        with self._database.reading() as db:
            rows = db.execute(new.order_by(messages.c.id).limit(100)).all()
        for number, recipient in rows:
            reached = addresses(recipient)  # before the transaction, because it reads the database
            with self._database.writing() as db:
                now = self._clock()
                is_new = (messages.c.id == number) & messages.c.routed_at.is_(None)
                if not db.execute(update(messages).where(is_new).values(routed_at=now)).rowcount:
                    continue  # another process has taken it
                for channel, sealed in reached:
                    values = {"message": number, "channel": channel, "sealed": sealed}
                    values["namespace"] = self._namespace
                    db.execute(insert(deliveries).values(next_at=now, **values))

    def claim(self) -> Delivery | None:
        """Return a delivery that is due, which no other process then gets, or None."""
        now = self._clock()
        due = (
            select(deliveries.c.id, deliveries.c.next_at)
            .where(deliveries.c.namespace == self._namespace, deliveries.c.next_at <= now)
            .order_by(deliveries.c.next_at)
            .limit(1)
        )
        with self._database.writing() as db:
            waiting = db.execute(due).first()
            if waiting is None:
                return None
            is_same = (deliveries.c.id == waiting.id) & (deliveries.c.next_at == waiting.next_at)
            if not db.execute(
                update(deliveries).where(is_same).values(next_at=now + _LEASE_S)
            ).rowcount:
                return None
            row = db.execute(
                select(deliveries, messages.c.type, messages.c.data, messages.c.created_at)
                .join(messages, messages.c.id == deliveries.c.message)
                .where(deliveries.c.id == waiting.id)
            ).one()
        return Delivery(
            row.id,
            f"msg_{self._namespace_id}_{row.id}",
            row.channel,
            row.sealed,
            row.type,
            json.loads(row.data),
            row.created_at,
            row.attempts,
        )

    @property
    def _namespace_id(self) -> str:
        return "".join(letter for letter in self._namespace if letter.isalnum())[:40]

    def settle(self, delivery: Delivery, failure: str) -> None:
        """Record an attempt's end. ``failure`` is "" if the message was delivered."""
        now, attempts = self._clock(), delivery.attempts + 1
        pause_s = PAUSES_S[min(delivery.attempts, len(PAUSES_S) - 1)]
        next_at = now + pause_s
        is_over = not failure or next_at > delivery.created_at + GIVEN_UP_S
        values = {
            "attempts": attempts,
            "result": failure or "delivered",
            "done_at": now if not failure else None,
            "next_at": None if is_over else next_at,
        }
        with self._database.writing() as db:
            db.execute(
                update(deliveries).where(deliveries.c.id == delivery.number).values(**values)
            )

    def latest(self, most: int = 20) -> list[DeliveryState]:
        """Return the latest deliveries, for the operator's page."""
        query = (
            select(deliveries)
            .where(deliveries.c.namespace == self._namespace)
            .order_by(deliveries.c.id.desc())
            .limit(most)
        )
        with self._database.reading() as db:
            rows = db.execute(query).all()
            numbers = {row.message for row in rows}
            names = "id", "type", "data", "recipient", "created_at"
            rows_of = select(*messages.c[names]).where(messages.c.id.in_(numbers))
            about = {row.id: row for row in db.execute(rows_of)} if numbers else {}
        return [
            DeliveryState(
                about[row.message].type,
                json.loads(about[row.message].data),
                about[row.message].recipient == OPERATOR,
                row.channel,
                about[row.message].created_at,
                row.attempts,
                row.result,
                row.done_at is not None,
                row.next_at,
            )
            for row in rows
        ]

    def write(self, message: Message) -> None:
        """Insert a message in a transaction of its own."""
        with self._database.writing() as db:
            self.add(db, message)

    def drop_expired(self) -> None:
        """Delete messages of more than KEPT_S ago, with their deliveries."""
        with self._database.writing() as db:
            old = select(messages.c.id).where(messages.c.created_at < self._clock() - KEPT_S)
            db.execute(delete(deliveries).where(deliveries.c.message.in_(old)))
            db.execute(delete(messages).where(messages.c.id.in_(old)))

    def count(self) -> int:
        with self._database.reading() as db:
            return db.execute(select(func.count()).select_from(messages)).scalar_one()
