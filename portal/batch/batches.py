"""Stores batches in the database. Starts, pauses, cancels and deletes batches.

A batch is a list of plates and Renavam (vehicle registration numbers). The portal looks up these
vehicles in the background, and stores plates and Renavam encrypted. Each change of a batch is one
database transaction. ``ItemLeases`` assigns the items of running batches to processes.
"""

import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, Final

import msgspec
from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    text,
    true,
    tuple_,
    update,
)

from portal.access.idempotency import forget_made
from portal.amounts import amount_of, amount_text, total
from portal.batch.model import (
    ALLOWED,
    MOST_DRAFTS,
    Action,
    Batch,
    Cost,
    Counts,
    Item,
    NotAllowed,
    QuotedItem,
    TooManyDrafts,
    UnknownBatch,
)
from portal.batch.rows import Access, BatchRows, has_pending, split_ask, update_batch
from portal.batch.typed_list import TypedList, WrongEntry, contains_subject
from portal.gateway.confirmed_sum import affordable, rest_of
from portal.gateway.reservation import MICRO, used_of_batches
from portal.storage.database import Database, Lock, hold
from portal.storage.ends import note_end
from portal.storage.tables import IS_DRAFT, IS_UNDER_WAY
from portal.storage.tables import batch_items as items
from portal.storage.tables import batches as table
from portal.vehicle.operation_name import LOOKUPS, LookupName

DRAFT_S: Final = 86400.0
_CLAIMED_S: Final = 86400.0  # a batch that nobody has claimed for so long is run by no portal
MOST_LISTED: Final = 50
MOST_UNDER_WAY: Final = 20
# Whether a batch is running, or will resume by itself.
_GOES_ON: Final = table.c.state.in_(("running", "paused")) & (
    (table.c.state == "running") | table.c.resume_at.is_not(None)
)
_USED: Final = used_of_batches(table).label("used")
_LISTED_COLUMNS: Final = [
    *(column for column in table.c if column.name not in ("sealed_wrong", "sealed_access")),
    _USED,
]
_ID_BYTES: Final = 12
_ID: Final = re.compile(rf"[0-9a-f]{{{2 * _ID_BYTES}}}")


class LeftOut(msgspec.Struct, frozen=True, rename={"more_wrong": "more"}):
    """What a batch keeps of its list beside the items.

    ``wrong`` contains the first invalid entries, and ``more_wrong`` is the number of the others.
    For ``typed`` and ``unticked`` see ``TypedList``.
    """

    wrong: tuple[WrongEntry, ...] = ()
    more_wrong: int = 0
    typed: dict[str, str] = {}
    unticked: tuple[str, ...] = ()

    def without(self, subject: str) -> "LeftOut":
        """Return the same without the texts that contain ``subject`` or suggest it."""
        return LeftOut(
            tuple(entry for entry in self.wrong if not entry.names(subject)),
            self.more_wrong,
            {
                one: text
                for one, text in self.typed.items()
                if one != subject and not contains_subject(text, subject)
            },
            tuple(one for one in self.unticked if one != subject),
        )


# The numbers of items of a batch without any: all, stored, done, failed, pending, leased.
_NO_ITEMS: Final = (0, 0, 0, 0, 0, 0)


def new_id() -> str:
    return secrets.token_hex(_ID_BYTES)


class Batches(BatchRows):
    """The batches of one namespace."""

    @property
    def longest_kept_s(self) -> float:
        """The maximum number of seconds that an ended or paused batch is kept."""
        return self.kept_s(LOOKUPS)

    # Methods for a batch's owner

    def create(
        self,
        owner: str,
        ask: tuple[LookupName, ...],
        new_items: Sequence[QuotedItem],
        listed: TypedList,
        batch: str = "",
        replaced: str = "",
    ) -> str:
        """Store a new batch as a draft (not yet started), and return the batch's id.

        ``batch`` is the new id, by default a random one. The draft ``replaced`` is deleted, unless
        it has been started meanwhile. Raises TooManyDrafts, or IntegrityError if the id is taken.
        """
        batch, now = batch or new_id(), self.clock()
        rows = [
            {
                "batch": batch,
                "position": position,
                "subject": self.keys.tag(new.subject.text),
                "sealed": self.encrypted(new.subject.text.encode()),
                "stored": new.is_stored,
            }
            for position, new in enumerate(new_items)
        ]
        with self.writing() as db:
            self._make_room(db, self._owner_key(owner), replaced)
            db.execute(
                insert(table).values(
                    id=batch,
                    namespace=self.keys.namespace,
                    owner=self._owner_key(owner),
                    created_at=now,
                    expires_at=now + DRAFT_S,
                    ask=",".join(ask),
                    at_most=amount_text(total(new.at_most for new in new_items)),
                    repeated=len(listed.repeated),
                    sealed_wrong=self.encrypted(
                        msgspec.json.encode(
                            LeftOut(listed.wrong, listed.more_wrong, listed.typed, listed.unticked)
                        )
                    ),
                )
            )
            if rows:  # a list may contain only doubtful entries
                db.execute(insert(items), rows)
        return batch

    def get(self, batch: str, owner: str) -> Batch:
        """Return an owner's batch. Raises UnknownBatch."""
        with self.database.reading() as db:
            row = self._row(db, batch, owner)
            counts = self._counts(db, [batch])
        return self._batch(row, counts.get(batch, _NO_ITEMS), self._left_out(row))

    def listed(self, owner: str, after: tuple[float, str] | None = None) -> list[Batch]:
        """Return an owner's latest batches, the latest first.

        The result has at most MOST_LISTED batches, without their invalid entries. It begins after
        the batch whose ``created_at`` and id are ``after``.
        """
        query = (
            select(*_LISTED_COLUMNS)
            .where(
                table.c.namespace == self.keys.namespace,
                table.c.owner == self._owner_key(owner),
                self._is_kept(),
            )
            .order_by(table.c.created_at.desc(), table.c.id.desc())
            .limit(MOST_LISTED)
        )
        if after is not None:
            query = query.where(tuple_(table.c.created_at, table.c.id) < after)
        return self._read(query)

    def under_way(self, owner: str | None = None) -> list[Batch]:
        """Return the running and paused batches, the most recently started first.

        Those of all owners, or of one. The result has at most MOST_UNDER_WAY batches, without
        their invalid entries.
        """
        chosen = true() if owner is None else table.c.owner == self._owner_key(owner)
        query = (
            select(*_LISTED_COLUMNS)
            .where(table.c.namespace == self.keys.namespace, chosen, text(IS_UNDER_WAY))
            .order_by(table.c.started_at.desc())
            .limit(MOST_UNDER_WAY)
        )
        return self._read(query)

    def _read(self, query: Select[Any]) -> list[Batch]:
        with self.database.reading() as db:
            rows = db.execute(query).all()
            counts = self._counts(db, [row.id for row in rows])
        return [self._batch(row, counts.get(row.id, _NO_ITEMS), LeftOut()) for row in rows]

    def items(
        self,
        batch: str,
        owner: str,
        most: int | None = None,
        skip: int = 0,
    ) -> list[Item]:
        """Return a batch's items in the order of the list. Raises UnknownBatch.

        The result omits the first ``skip`` items, and has at most ``most`` items, or all if
        ``most`` is None.
        """
        query = (
            select(items)
            .where(items.c.batch == batch)
            .order_by(items.c.position)
            .limit(most)
            .offset(skip)
        )
        with self.database.reading() as db:
            is_priced = _cost(self._row(db, batch, owner)).spent is not None
            rows = db.execute(query).all()
        return [
            Item(
                self.subject(batch, row.sealed),
                row.state,
                row.cause,
                row.position,
                self.decrypted(row.sealed_result),
                Decimal(row.spent) if is_priced else None,
                row.failing_since,
            )
            for row in rows
        ]

    def start(
        self,
        batch: str,
        owner: str,
        access: Access,
        max_cost: Decimal | None,
        prices: Mapping[int, Decimal | None],
        retried: Collection[int] = (),
    ) -> None:
        """Start or resume a batch.

        The batch spends at most ``max_cost`` R$ in all, or has no limit if that is None. ``prices``
        has the price of the lookups of each item that is to be looked up, by the item's position.
        It is set aside for the first items that the sum holds. For an unknown price (None), nothing
        is set aside. Failed items are looked up again only if ``retried`` has their position. A
        running batch without such an item changes nothing but its limit. A done batch without such
        an item stays unchanged, so that its owner cannot postpone ``expires_at`` by starting it
        again and again. Raises UnknownBatch or NotAllowed.
        """
        now = self.clock()
        sealed = self.encrypted(msgspec.json.encode(access))
        with self._change(batch, owner, "start") as (db, row):
            if row.state == "running" and not retried:
                db.execute(update_batch(batch).values(at_most=amount_text(max_cost)))
                self._set_aside(db, batch, prices, retried)
                return
            db.execute(
                update(items)
                .where(
                    items.c.batch == batch,
                    (items.c.state == "pending") & (items.c.cause == "")
                    | (items.c.state == "failed") & items.c.position.in_(retried),
                )
                .values(state="pending", cause="", attempts=0)
            )
            is_done = not has_pending(db, batch)
            if is_done and row.state == "done":
                return
            started_at = now if row.started_at is None else row.started_at
            change = update_batch(batch).values(
                started_at=started_at, at_most=amount_text(max_cost)
            )
            if is_done:
                db.execute(change)
                self.end(db, batch, "done")
                return
            db.execute(
                change.values(
                    state="running",
                    reason="",
                    resume_at=None,
                    tries=0,
                    ended_at=None,
                    expires_at=now + self.kept_s(split_ask(row.ask)),
                    sealed_access=sealed,
                )
            )
            self._set_aside(db, batch, prices, retried)

    def pause(self, batch: str, owner: str) -> None:
        """Pause a batch until its owner resumes it. Raises UnknownBatch or NotAllowed.

        Pausing a paused batch again does not postpone ``expires_at``.
        """
        with self._change(batch, owner, "pause") as (db, row):
            self._pause(db, row, row.expires_at)

    def pause_all(self) -> int:
        """Pause the batches of every namespace that would otherwise go on by themselves.

        Each waits until its owner resumes it. Returns their number. Raises SQLAlchemyError.
        """
        with self.writing() as db:
            rows = db.execute(select(table).where(_GOES_ON)).all()
            for row in rows:
                self._pause(db, row, self.clock() + self.kept_s(split_ask(row.ask)))
        return len(rows)

    def cancel(self, batch: str, owner: str) -> None:
        """End a batch without looking up its pending items. Raises UnknownBatch or NotAllowed."""
        with self._change(batch, owner, "cancel") as (db, _):
            self.end(db, batch, "cancelled")
            note_end(db, "batch", {"id": batch}, self.clock())

    def rename(self, batch: str, owner: str, name: str) -> None:
        """Give a batch a name, or none if ``name`` is "". Raises UnknownBatch."""
        sealed = self.encrypted(name.encode()) if name else None
        with self.writing() as db:
            self._row(db, batch, owner)
            db.execute(update_batch(batch).values(sealed_name=sealed))

    def discard(self, batch: str, owner: str) -> None:
        """Delete a draft. Raises UnknownBatch or NotAllowed."""
        with self._change(batch, owner, "discard") as (db, _):
            _delete(db, [batch])
            note_end(db, "draft", {"id": batch}, self.clock())

    # Deletion

    def drop_expired(self) -> None:
        """Delete expired batches of every namespace. The caller then calls ``erase_deleted``.

        A running batch is kept while this portal or another one can run it. Another portal has
        claimed one of the batch's items within a day.
        """
        is_idle = (table.c.state != "running") | (table.c.claimed_at < self.clock() - _CLAIMED_S)
        chosen = select(table.c.id, table.c.namespace, table.c.state, table.c.sealed_access).where(
            table.c.expires_at < self.clock(), is_idle
        )
        with self.database.reading() as db:
            ids = [row.id for row in db.execute(chosen) if self._is_over(row)]
        # Delete each batch in a transaction of its own, so that other writers do not wait long.
        for batch in ids:
            with self.writing() as db:
                # The owner may have started the batch meanwhile.
                row = db.execute(chosen.where(table.c.id == batch)).first()
                if row is not None and self._is_over(row):
                    _delete(db, [batch])

    def forget(self, db: Connection, subject: str) -> int:
        """Delete a vehicle's items in all namespaces, and return how many were deleted.

        Also deletes invalid entries and names that contain the plate or Renavam, or suggest it as
        a correction. A batch that has lost all its items is deleted, in any state. The ledger still
        contains the batch's cost. The caller then erases the bytes of the deleted rows
        (``erase_deleted``).
        """
        hold(db, Lock.BATCHES)
        of_subject = items.c.subject == self.keys.tag(subject)
        batches = set(db.execute(select(items.c.batch).where(of_subject)).scalars())
        # As the ledger does, lock the rows of batches before those of their items.
        rows = select(table.c.id).where(table.c.id.in_(batches)).order_by(table.c.id)
        db.execute(rows.with_for_update()).all()
        deleted = db.execute(delete(items).where(of_subject)).rowcount
        left = self._counts(db, batches)
        for batch in sorted(batches):
            if batch not in left:
                _delete(db, [batch])
            elif not has_pending(db, batch):
                self.end(db, batch, "done")
        self._forget_wrong(db, subject)
        return deleted

    def _forget_wrong(self, db: Connection, subject: str) -> None:
        """Delete every batch's invalid entries and name that contain ``subject`` or suggest it.

        The texts of all batches are decrypted, because they are stored encrypted and without
        an HMAC that a query could find.
        """
        columns = (table.c.id, table.c.sealed_wrong, table.c.sealed_name)
        for row in db.execute(select(*columns)).all():
            if contains_subject(self.name(row), subject):
                db.execute(update_batch(row.id).values(sealed_name=None))
            try:
                left_out = self._left_out(row)
            except UnknownBatch:  # no key fits
                continue
            kept = left_out.without(subject)
            if kept != left_out:
                sealed = self.encrypted(msgspec.json.encode(kept))
                db.execute(update_batch(row.id).values(sealed_wrong=sealed))

    # Private methods

    @contextmanager
    def _change(self, batch: str, owner: str, action: Action) -> Iterator[tuple[Connection, Any]]:
        """Begin a transaction and read the batch's row. Raises UnknownBatch or NotAllowed."""
        with self.writing() as db:
            row = self._row(db, batch, owner, is_locked=True)
            if row.state not in ALLOWED[action]:
                raise NotAllowed(action, row.state)
            yield db, row

    def _set_aside(
        self,
        db: Connection,
        batch: str,
        prices: Mapping[int, Decimal | None],
        retried: Collection[int],
    ) -> None:
        """Set the prices of the first items aside that the batch's sum holds, and of no others.

        An item that is being looked up keeps its part. With ``retried``, all other items do.
        """
        waits = (
            items.c.batch == batch,
            items.c.state == "pending",
            items.c.lease_until <= self.clock(),
            items.c.position.in_(retried) if retried else true(),
        )
        positions = db.execute(
            update(items).where(*waits).values(reserved="0").returning(items.c.position)
        ).scalars()
        waiting = set(positions)
        chosen = {at: price for at, price in prices.items() if at in waiting}
        rest = rest_of(db, self.keys.namespace, batch)
        if rest is not None:
            chosen = affordable(chosen, rest)
        if amounts := [{"at": at, "price": str(price)} for at, price in chosen.items() if price]:
            of_item = (items.c.batch == batch, items.c.position == bindparam("at"))
            db.execute(update(items).where(*of_item).values(reserved=bindparam("price")), amounts)

    def _pause(self, db: Connection, row: Any, expires_at: float) -> None:
        if row.state == "running":
            expires_at = self.clock() + self.kept_s(split_ask(row.ask))
        db.execute(
            update_batch(row.id).values(
                state="paused", reason="owner", resume_at=None, expires_at=expires_at
            )
        )

    def _is_over(self, row: Any) -> bool:
        """Return whether a batch is not running, or not run by this portal."""
        if row.state != "running" or row.namespace != self.keys.namespace:
            return True
        return self.decrypted(row.sealed_access) is None

    def _is_kept(self) -> Any:
        """Return the SQL condition for batches that are running or have not expired."""
        return (table.c.expires_at > self.clock()) | (table.c.state == "running")

    def _row(self, db: Connection, batch: str, owner: str, *, is_locked: bool = False) -> Any:
        if not _ID.fullmatch(batch):  # for example, PostgreSQL rejects an id with a NUL character
            raise UnknownBatch(batch)
        query = select(table, _USED).where(
            table.c.id == batch,
            table.c.namespace == self.keys.namespace,
            table.c.owner == self._owner_key(owner),
            self._is_kept(),
        )
        row = db.execute(query.with_for_update() if is_locked else query).first()
        if row is None:
            raise UnknownBatch(batch)
        return row

    def _left_out(self, row: Any) -> LeftOut:
        content = self.readable(row.id, row.sealed_wrong)
        return msgspec.json.decode(content, type=LeftOut)

    def _counts(self, db: Connection, batches: Collection[str]) -> dict[str, tuple[int, ...]]:
        """Return the numbers of each batch's items, in the order of _NO_ITEMS."""
        if not batches:
            return {}
        is_active = (items.c.state == "pending") & (items.c.lease_until > self.clock())
        conditions = (
            items.c.stored,
            items.c.state == "done",
            items.c.state == "failed",
            items.c.state == "pending",
            is_active,
        )
        query = (
            select(
                items.c.batch,
                func.count(),
                *(func.sum(case((condition, 1), else_=0)) for condition in conditions),
            )
            .where(items.c.batch.in_(batches))
            .group_by(items.c.batch)
        )
        return {batch: tuple(map(int, counted)) for batch, *counted in db.execute(query)}

    def _make_room(self, db: Connection, owner: str, replaced: str) -> None:
        """Delete the draft ``replaced``. Raises TooManyDrafts without room for another draft."""
        drafts = select(table.c.id).where(
            table.c.owner == owner, text(IS_DRAFT), table.c.expires_at > self.clock()
        )
        ids = set(db.execute(drafts).scalars())
        if replaced in ids:
            _delete(db, [replaced])
        if len(ids - {replaced}) >= MOST_DRAFTS:
            raise TooManyDrafts

    def _batch(self, row: Any, counted: tuple[int, ...], left_out: LeftOut) -> Batch:
        total, stored, done, failed, pending, active = counted
        return Batch(
            id=row.id,
            state=row.state,
            reason=row.reason,
            resume_at=row.resume_at,
            ask=split_ask(row.ask),
            counts=Counts(total, stored, done, failed, pending),
            cost=_cost(row),
            created_at=row.created_at,
            started_at=row.started_at,
            ended_at=row.ended_at,
            expires_at=row.expires_at,
            active=active,
            repeated=row.repeated,
            name=self.name(row),
            **msgspec.structs.asdict(left_out),
        )

    def hand_over(self, db: Connection, former: str, new: str) -> int:
        """Give an owner's batches to another, and return how many.

        A batch under way goes on for the new owner, who pays from here on.
        """
        is_former = table.c.owner == self._owner_key(former)
        sealed = self.encrypted(msgspec.json.encode(Access(new)))
        under_way = update(table).where(is_former, table.c.sealed_access.is_not(None))
        db.execute(under_way.values(sealed_access=sealed))
        moved = update(table).where(is_former).values(owner=self._owner_key(new))
        return db.execute(moved).rowcount

    def _owner_key(self, owner: str) -> str:
        return self.keys.owner_key("", owner)


def has_unfinished_batches(database: Database) -> bool:
    """Return whether a batch of any namespace is running, or will resume by itself."""
    with database.reading() as db:
        return db.execute(select(table.c.id).where(_GOES_ON).limit(1)).first() is not None


def _cost(row: Any) -> Cost:
    """Return a batch's cost.

    A batch without a limit has calls of an unknown price, unless it has not been started.
    """
    at_most = amount_of(row.at_most)
    if at_most is None:
        return Cost(Decimal(0) if row.started_at is None else None, None)
    spent = Decimal(row.used or 0) / MICRO
    is_ended = row.state in ("done", "cancelled")
    return Cost(spent, spent if is_ended else max(spent, at_most))


def _delete(db: Connection, ids: Collection[str]) -> None:
    forget_made(db, ids)
    db.execute(delete(items).where(items.c.batch.in_(ids)))
    db.execute(delete(table).where(table.c.id.in_(ids)))
