"""Leases the items of running batches to processes, and records the results.

Each change is one database transaction, so a killed process leaves the batch consistent. Portals
with the same database share the work on batches.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    bindparam,
    case,
    func,
    null,
    select,
    text,
    update,
)

from portal.amounts import amount_of
from portal.batch.pauses import Pause
from portal.batch.rows import Access, BatchRows, has_pending, split_ask, update_batch
from portal.batch.typed_list import Subject
from portal.batch.verdicts import Verdict
from portal.gateway.confirmed_sum import rest_of
from portal.storage.tables import IS_LEASED, IS_UNDER_WAY
from portal.storage.tables import batch_items as items
from portal.storage.tables import batches as table
from portal.vehicle.operation_name import LookupName

# A lease reserves an item for one process, and expires LEASE_S seconds after its last renewal.
# LEASE_S must exceed the difference between the clocks of machines that share a database. Otherwise
# a second process may look up the same item. The second lookup usually costs nothing, because the
# gateway finds the stored answer or waits for the first lookup.
LEASE_S: Final = 6.0
CLAIM_NOTED_S: Final = 3600.0

# These statements are built once, because building a statement takes longer than running it.
# _LEASE finds and leases an item in a single statement, so that other writers wait less.
_IS_DUE: Final = (table.c.state == "paused") & (table.c.resume_at <= bindparam("now"))
_WORK: Final = select(
    *table.c["id", "state", "ask", "tries", "sealed_access", "claimed_at", "at_most"],
).where(
    table.c.namespace == bindparam("namespace_name"),
    text(IS_UNDER_WAY),
    (table.c.state == "running") | _IS_DUE,
)
_leased = items.alias()
_next = items.alias()


def _lease(position: ColumnElement[int]) -> Any:
    """Return the statement that leases the first pending item in the order of ``position``."""
    return (
        update(items)
        .where(
            items.c.id
            == select(_next.c.id)
            .where(
                _next.c.batch == bindparam("batch_id"),
                _next.c.state == "pending",
                # Without "+ 0", SQLite would use the index "batch_items_by_lease", and would read
                # and sort all items of the batch.
                _next.c.lease_until + 0.0 <= bindparam("now"),
            )
            # Items that were put back come last, because their lookups may fail again.
            .order_by(_next.c.attempts, position)
            .limit(1)
            .scalar_subquery(),
            select(func.count())
            .where(
                _leased.c.batch == bindparam("batch_id"), _leased.c.lease_until > bindparam("now")
            )
            .scalar_subquery()
            # After a pause (``tries`` > 0), at most 1 item may be leased until a lookup succeeds.
            # If the batch is no longer running, no item may be leased.
            < func.coalesce(
                select(case((table.c.tries > 0, 1), else_=bindparam("limit", type_=Integer)))
                .where(table.c.id == bindparam("batch_id"), table.c.state == "running")
                .scalar_subquery(),
                0,
            ),
        )
        .values(holder=bindparam("holder_name"), lease_until=bindparam("until"))
        .returning(*items.c["position", "sealed", "attempts", "cause", "reserved"])
    )


_LEASE: Final = _lease(_next.c.position.asc())
# After a pause, a batch goes on from the end of its list. Vehicles that stand together may share a
# fault, and the next one could pause the batch again.
_LEASE_FROM_END: Final = _lease(_next.c.position.desc())
# A leased item is named by its batch and position, because no later item ever has the same two.
# SQLite gives the number (``id``) of a purged item to a later item.
_HELD: Final = (
    items.c.batch == bindparam("batch_id"),
    items.c.position == bindparam("item_position"),
    items.c.holder == bindparam("holder_name"),
    items.c.state == "pending",
)
_WANTED: Final = select(items.c.position).where(
    *_HELD, items.c.batch == table.c.id, table.c.state != "cancelled"
)
_FINISH: Final = (
    update(items)
    .where(*_HELD)
    .values(
        state=bindparam("new_state"),
        cause=bindparam("new_cause"),
        holder="",
        lease_until=0.0,
        sealed_result=bindparam("new_result"),
        failing_since=case(
            (bindparam("new_cause") == "", null()),
            else_=func.coalesce(items.c.failing_since, bindparam("now")),
        ),
    )
)
_SET_ASIDE: Final = update(items).where(*_HELD).values(reserved=bindparam("price"))
_RELEASE: Final = update(items).where(*_HELD).values(holder="", lease_until=0.0)
# Items whose lookups are being made, and may leave something of their batch's sum. An item that
# waits for its part of the sum has none, and leaves nothing.
_BUSY: Final = (
    select(items.c.id)
    .where(
        items.c.batch == bindparam("batch_id"),
        items.c.lease_until > bindparam("now"),
        (items.c.reserved != "0") | (items.c.spent != "0"),
    )
    .limit(1)
)
# The upstream has refused these items without a charge, and answers them once there is credit.
_PUT_BACK_UNPAID: Final = (
    update(items)
    .where(
        items.c.batch == bindparam("batch_id"),
        items.c.state == "failed",
        items.c.cause == "no_credit",
    )
    .values(state="pending", cause="", failing_since=None, sealed_result=None)
)
_WAITS_FOR_CREDIT: Final = select(table.c.id).where(
    table.c.id == bindparam("batch_id"), table.c.state == "paused", table.c.reason == "no_credit"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """An item (a vehicle of a batch) that this process has leased.

    ``tries`` counts the batch's pauses since a lookup last succeeded. ``attempts`` counts how often
    the item was put back, and ``cause`` is why it has failed so far, or "". ``reserved`` are the R$
    of the batch's sum that are set aside for it, or None in a batch without a limit.
    """

    batch: str
    position: int
    subject: Subject
    ask: tuple[LookupName, ...]
    tries: int
    attempts: int
    cause: str
    reserved: Decimal | None
    access: Access = field(repr=False)


@dataclass(frozen=True, eq=False)
class ItemLeases(BatchRows):
    """The leases of one process on the items of one namespace's batches.

    All processes together lease at most ``concurrency`` items of a batch at a time. ``holder`` is
    the name of the process in its leases, which no other living process has.
    """

    concurrency: int = field(kw_only=True)
    holder: str = field(kw_only=True)

    def resume_due(self) -> bool:
        """Resume the batches whose pause has ended, and return whether there is work."""
        with self.database.reading() as db:  # avoids a write transaction in most calls
            rows = self._work(db)
        if due := [row.id for row in rows if row.state == "paused"]:
            with self.writing() as db:
                db.execute(
                    update(table)
                    .where(table.c.id.in_(due), _IS_DUE)
                    .values(state="running", reason="", resume_at=None),
                    {"now": self.clock()},
                )
        return self._is_work(rows)

    def has_work(self) -> bool:
        """Return whether a batch is running or can be resumed now.

        A batch whose owner's Access this portal cannot decrypt does not count.
        """
        with self.database.reading() as db:
            return self._is_work(self._work(db))

    def ask_if_work(self, ask: Callable[[], object]) -> None:
        """Call ``ask``, which asks for the process that runs batches, if there is work for it."""
        if self.has_work():
            ask()

    def claim(self) -> Claim | None:
        """Lease the next item of a running batch, or return None if no item can be leased now."""
        with self.writing() as db:
            return self._claim(db)

    def is_wanted(self, claim: Claim) -> bool:
        """Return whether the item's next lookup may be made.

        The result is False if the batch was cancelled, a purge deleted the item, or another process
        has leased the item.
        """
        with self.database.reading() as db:
            return db.execute(_WANTED, self._held(claim)).first() is not None

    def set_aside(self, claim: Claim, price: Decimal | None) -> bool:
        """Set the price of a claim's lookups aside. Return whether its batch's sum holds it.

        An unknown price (None) fits in no sum.
        """
        if claim.reserved is None:
            return True
        if price is not None and price <= claim.reserved:
            return True
        with self.writing() as db:
            rest = rest_of(db, self.keys.namespace, claim.batch)
            if rest is None:
                return True
            if price is None or price > rest + claim.reserved:
                return False
            db.execute(_SET_ASIDE, {**self._held(claim), "price": str(price)})
        return True

    def finish(
        self,
        claim: Claim,
        cause: str,
        *,
        answered: bool,
        result: bytes | None = None,
        pause: Pause | None = None,
    ) -> Claim | None:
        """Record that an item is done or has failed, and lease the next item.

        Return the new lease, or None if no item can be leased now. ``cause`` is the reason of the
        failure, or "" if all lookups of the item succeeded. ``answered`` is true if at least one
        lookup succeeded. If another process has leased the item meanwhile, the item stays
        unchanged. With a ``pause``, the batch pauses if it has pending items, and no item is
        leased.
        """
        sealed = None if result is None else self.encrypted(result)
        with self.writing() as db:
            if answered and claim.tries:
                db.execute(update_batch(claim.batch).values(tries=0))
            changed = db.execute(
                _FINISH,
                {
                    **self._held(claim),
                    "new_state": "failed" if cause else "done",
                    "new_cause": cause,
                    "new_result": sealed,
                    "now": self.clock(),
                },
            ).rowcount
            if pause is not None and has_pending(db, claim.batch):
                self._pause(db, claim, pause)
                return None
            if cause == "no_credit":
                _put_back_if_unpaid(db, claim.batch)
            following = self._claim(db)
            is_same_batch = following is not None and following.batch == claim.batch
            if changed and not is_same_batch and not has_pending(db, claim.batch):
                self.end(db, claim.batch, "done")
            return following

    def put_back(self, claim: Claim, decided: Verdict) -> Claim | None:
        """Release an item, which stays pending, and lease the next one or pause the batch.

        A batch does not pause for its sum while other items are being looked up, because what they
        leave of it may be enough.
        """
        values: dict[str, Any] = {"cause": decided.cause}
        if decided.counts:
            values["attempts"] = items.c.attempts + 1
        if decided.cause:
            values["failing_since"] = func.coalesce(items.c.failing_since, self.clock())
        with self.writing() as db:
            db.execute(_RELEASE.values(**values), self._held(claim))
            if decided.pause is None:
                return self._claim(db)
            if decided.pause.reason != "price" or not self._is_busy(db, claim.batch):
                self._pause(db, claim, decided.pause)
        return None

    def release(self, claim: Claim) -> None:
        """Release an item, which stays pending."""
        with self.writing() as db:
            db.execute(_RELEASE, self._held(claim))

    def release_all(self) -> None:
        """Release all items that an earlier process with the same ``holder`` had leased."""
        self._change_leases(holder="", lease_until=0.0)

    def renew(self) -> None:
        """Renew all leases of this process for LEASE_S seconds."""
        self._change_leases(lease_until=self.clock() + LEASE_S)

    # Private methods

    def _pause(self, db: Connection, claim: Claim, pause: Pause) -> None:
        """Pause a claim's batch. For "no_credit", items that failed for this reason wait too."""
        now = self.clock()
        until = None if pause.resume_after_s is None else now + pause.resume_after_s
        if pause.reason == "no_credit":
            db.execute(_PUT_BACK_UNPAID, {"batch_id": claim.batch})
        paused = db.execute(
            update_batch(claim.batch)
            .where(table.c.state == "running")
            .values(
                state="paused",
                reason=pause.reason,
                resume_at=until,
                tries=table.c.tries + 1,
                expires_at=(until or now) + self.kept_s(claim.ask),
            )
            .returning(table.c.sealed_access)
        ).first()
        if paused is not None:
            reason = {"reason": pause.reason}
            self.notify_owner(db, claim.batch, paused.sealed_access, "batch.paused", reason)

    def _is_busy(self, db: Connection, batch: str) -> bool:
        return db.execute(_BUSY, {"batch_id": batch, "now": self.clock()}).first() is not None

    def _change_leases(self, **values: object) -> None:
        held = update(items).where(items.c.holder == self.holder, text(IS_LEASED))
        with self.writing() as db:
            db.execute(held.values(**values))

    def _work(self, db: Connection) -> Sequence[Any]:
        """Return the rows of the batches that are running, or whose pause has ended."""
        known = {"namespace_name": self.keys.namespace, "now": self.clock()}
        return db.execute(_WORK, known).all()

    def _is_work(self, rows: Sequence[Any]) -> bool:
        return any(row.state == "paused" or self._access(row) for row in rows)

    def _access(self, row: Any) -> Access | None:
        """Return a batch's Access, or None if this portal has no key that decrypts it."""
        access = self.decrypted(row.sealed_access)
        return None if access is None else msgspec.json.decode(access, type=Access)

    def _claim(self, db: Connection) -> Claim | None:
        now = self.clock()
        # The batch that has waited longest for a new lease comes first, so that a large batch does
        # not delay smaller batches.
        running = [row for row in self._work(db) if row.state == "running"]
        for row in sorted(running, key=lambda row: row.claimed_at):
            if (access := self._access(row)) is None:
                continue
            leased = db.execute(
                _LEASE_FROM_END if row.tries else _LEASE,
                {
                    "batch_id": row.id,
                    "now": now,
                    "holder_name": self.holder,
                    "until": now + LEASE_S,
                    "limit": self.concurrency,
                },
            ).first()
            if leased is None:
                continue
            # ``Batches.drop_expired`` needs the time of the last claim to within CLAIM_NOTED_S.
            if len(running) > 1 or row.claimed_at < now - CLAIM_NOTED_S:
                db.execute(update_batch(row.id).values(claimed_at=now))
            return Claim(
                batch=row.id,
                position=leased.position,
                subject=self.subject(row.id, leased.sealed),
                ask=split_ask(row.ask),
                tries=row.tries,
                attempts=leased.attempts,
                cause=leased.cause,
                reserved=None if amount_of(row.at_most) is None else Decimal(leased.reserved),
                access=access,
            )
        return None

    def _held(self, claim: Claim) -> dict[str, object]:
        """Return the parameters of ``_HELD``."""
        return {
            "batch_id": claim.batch,
            "item_position": claim.position,
            "holder_name": self.holder,
        }


def _put_back_if_unpaid(db: Connection, batch: str) -> None:
    """Put back what failed for want of credit after another thread has paused the batch for it."""
    if db.execute(_WAITS_FOR_CREDIT, {"batch_id": batch}).first() is not None:
        db.execute(_PUT_BACK_UNPAID, {"batch_id": batch})
