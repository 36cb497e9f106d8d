"""Runs batches in this process: leases items, looks them up and records the results."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Final, Protocol

from sqlalchemy.exc import SQLAlchemyError

from portal.access.tokens import Identity, RefusedToken, TokensUnavailable, UnknownToken
from portal.batch.item_leases import Claim, ItemLeases
from portal.batch.pauses import MOST_UNPAID, Pause, pause_after
from portal.batch.rows import Access
from portal.batch.turn import Turn
from portal.batch.typed_list import Subject
from portal.batch.verdicts import Fault, ends_item, verdict
from portal.gateway.lookup import Failure, Lookup, Served
from portal.gateway.operations import OPERATIONS, lookups_of
from portal.system.error_kind import error_kind
from portal.system.repeated_warning import RepeatedWarning
from portal.vehicle.operation_name import LookupName

log = logging.getLogger(__name__)
_warn = RepeatedWarning(log)

_REFUSED: Final = Fault("access", Pause("access", None))
_TOO_EXPENSIVE: Final = Fault("price", Pause("price", None))
_NO_CREDIT: Final = Fault("no_credit", Pause("no_credit", None))


class Background(Protocol):
    """Where the runner gets identities, answers and rows (``portal.desk.background``)."""

    def identify(self, access: Access) -> Identity:
        """Return the identity of the owner who has started a batch.

        Raises UnknownToken, RefusedToken or TokensUnavailable.
        """

    def fetch(self, lookup: Lookup, identity: Identity) -> Served:
        """Make one lookup of an item. Raises Failure."""

    def price(
        self, subject: Subject, ask: Sequence[LookupName], identity: Identity, enough: Decimal
    ) -> Decimal | None:
        """Return the price of an item's lookups that are not stored, or None if it is unknown.

        The store is read only if all lookups cost more than ``enough``. Raises Failure.
        """

    def row(
        self,
        subject: Subject,
        ask: Sequence[LookupName],
        answers: Mapping[LookupName, Served],
    ) -> bytes | None:
        """Return what the batch stores of a vehicle that it has looked up."""


class BatchRunner:
    """Looks up the items of running batches, on at most ``leases.concurrency`` threads.

    The leases of a killed process expire after LEASE_S seconds. After that, another process looks
    up the leased items. It pays nothing for answers that are already stored.

    The runner stores the row of an item's answers with the item (``Background.row``). The batch's
    page shows this row, because a row built later could mix answers of different days, and because
    some answers are never stored.

    ``has_work`` is false if the last ``tick`` has found no batch to run.

    ``turn`` is a lock that lets one thread compute at a time. Pass the same ``turn`` to the
    upstream client, which releases the lock (``Turn.given_up``) while waiting for the upstream.
    """

    def __init__(
        self,
        leases: ItemLeases,
        background: Background,
        turn: Turn | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._leases = leases
        self._background = background
        self._turn = turn or Turn()
        self._wait = wait
        self._pool = ThreadPoolExecutor(leases.concurrency, thread_name_prefix="batch")
        self._lock = threading.Lock()
        self._active = 0
        # For each batch, the number of items with a 402 since the upstream's last answer.
        self._unpaid: Counter[str] = Counter()
        self._is_stopping = False
        self.has_work = True

    def tick(self) -> None:
        """Start a thread if there is work, and renew leases.

        The scheduler calls this method regularly.
        """
        if self._is_stopping:
            return
        self.has_work = True  # also if the database is unavailable
        if self.active:
            self._leases.renew()
        self.has_work = self._leases.resume_due()
        if self.has_work and self.active < self._leases.concurrency:
            self._start_thread()

    @property
    def active(self) -> int:
        """The number of threads of this process that are looking up items."""
        with self._lock:
            return self._active

    def stop(self) -> None:
        """Start no further lookups, and wait for the lookups in progress."""
        self._is_stopping = True
        self._pool.shutdown()

    def _start_thread(self) -> None:
        with self._lock:
            if self._active >= self._leases.concurrency:
                return
            self._active += 1
        try:
            self._pool.submit(self._work)
        except RuntimeError:  # no thread can be started, or the pool was shut down
            self._end_thread()

    def _end_thread(self) -> None:
        with self._lock:
            self._active -= 1

    def _work(self) -> None:
        try:
            with self._turn.taken():
                claim = self._leases.claim()
            if claim is not None:
                self._start_thread()  # it ends at once if no further item can be leased
            while claim is not None:
                with self._turn.taken():
                    claim = self._run(claim)
        except SQLAlchemyError as error:
            # The item's lease expires. After this expiry, any process that can reach the database
            # may look up the item.
            _warn(f"a batch cannot go on: {error_kind(error)}")
        except Exception as error:
            log.error("unexpected %s in a batch", type(error).__name__)
        finally:
            self._end_thread()

    def _run(self, claim: Claim) -> Claim | None:
        """Look up one item. Return the next leased item, or None to end this thread.

        Each lookup is made only if the owner's token is valid and, after the first one, if
        ``ItemLeases.is_wanted`` is true. The item has just been leased for the first one, which is
        made only if the confirmed sum holds all of them.
        """
        faults: list[Fault] = []
        answers: dict[LookupName, Served] = {}
        for number, name in enumerate(lookups_of(claim.subject, claim.ask)):
            if self._is_stopping:
                self._leases.release(claim)
                return None
            if number and not self._leases.is_wanted(claim):
                self._leases.release(claim)
                return self._leases.claim()
            try:
                identity = self._background.identify(claim.access)
            except TokensUnavailable:
                self._leases.release(claim)
                return None
            except (UnknownToken, RefusedToken):
                outcome: Served | Fault = _REFUSED
            else:
                lacking = None if number else self._lacking(claim, identity)
                outcome = lacking or self._ask(name, claim, identity)
            if isinstance(outcome, Served):
                answers[name] = outcome
                if not outcome.from_cache:
                    self._unpaid.pop(claim.batch, None)
                continue
            is_first_402 = outcome.cause == "no_credit" and outcome not in faults
            if is_first_402 and self._is_unpaid(claim.batch):
                outcome = _NO_CREDIT
            is_last = ends_item(outcome, faults, claim.cause)
            faults.append(outcome)
            if is_last:
                break
        decided = verdict(faults, claim.cause, claim.attempts)
        if decided.state == "pending":
            return self._leases.put_back(claim, decided)
        return self._leases.finish(
            claim,
            decided.cause,
            answered=bool(answers),
            result=self._result(claim, answers),
            pause=decided.pause,
        )

    def _is_unpaid(self, batch: str) -> bool:
        """Count an item with a 402, and return whether the batch must pause."""
        with self._lock:
            self._unpaid[batch] += 1
            return self._unpaid[batch] >= MOST_UNPAID

    def _result(self, claim: Claim, answers: Mapping[LookupName, Served]) -> bytes | None:
        try:
            return self._background.row(claim.subject, claim.ask, answers)
        except Exception as error:  # without a row, pages use the stored answers
            log.error("unexpected %s in a result of a batch", type(error).__name__)
            return None

    def _lacking(self, claim: Claim, identity: Identity) -> Fault | None:
        """Return why none of an item's lookups is made, or None if the sum holds all of them.

        An item that has failed is looked up once more with what is left.
        """
        if claim.cause or claim.reserved is None:
            return None
        try:
            price = self._background.price(claim.subject, claim.ask, identity, claim.reserved)
        except Failure as failure:
            return _fault(claim, failure)
        return None if self._leases.set_aside(claim, price) else _TOO_EXPENSIVE

    def _ask(self, name: LookupName, claim: Claim, identity: Identity) -> Served | Fault:
        if not identity.has_scope(name):
            return Fault("out_of_scope")
        caller = replace(identity, batch=claim.batch)
        try:
            served = self._fetched(Lookup(OPERATIONS[name], claim.subject), caller)
        except Failure as failure:
            return _fault(claim, failure)
        return served if served.status == 200 else Fault("rejected")

    def _fetched(self, lookup: Lookup, caller: Identity) -> Served:
        """Make a lookup. Raises Failure.

        The failure of an earlier call, which is shared for two seconds, is waited out: the owner
        has confirmed a price for a call, and no item fails without one.
        """
        try:
            return self._background.fetch(lookup, caller)
        except Failure as failure:
            if not failure.shared_s:
                raise
            shared_s = failure.shared_s
        with self._turn.given_up():
            self._wait(shared_s)
        return self._background.fetch(lookup, caller)


def _fault(claim: Claim, failure: Failure) -> Fault:
    pause = pause_after(
        failure.kind,
        failure.retry_after_s,
        claim.tries,
        claim.attempts,
        held_back=failure.held_back,
    )
    return Fault(failure.kind, pause, failure.held_back)
