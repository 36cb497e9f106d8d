"""Runs batches in this process: leases items, looks them up and records the results."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from sqlalchemy.exc import SQLAlchemyError

from portal.access import Identity, RefusedToken, TokensUnavailable, UnknownToken
from portal.batch.batches import Access, Batches, Claim
from portal.batch.pauses import Pause, pause_after
from portal.batch.turn import Turn
from portal.batch.typed_list import Subject
from portal.gateway import (
    OPERATIONS,
    Caller,
    Directive,
    Failure,
    Lookup,
    Served,
    Snapshot,
    lookups_of,
)
from portal.vehicle import LookupName

log = logging.getLogger(__name__)

RENEW_EVERY_S: Final = 1.5
_REFUSED: Final = Pause("access", None)


class Fetch(Protocol):
    """The type of ``Gateway.fetch``."""

    def __call__(
        self,
        lookup: Lookup,
        caller: Caller,
        directive: Directive = ...,
        snapshot: Snapshot | None = ...,
    ) -> Served: ...


Summarise = Callable[[Subject, Sequence[LookupName], Mapping[LookupName, Served]], bytes]


class BatchRunner:
    """Looks up the items of running batches, on at most ``concurrency`` threads.

    All processes together look up at most ``concurrency`` items of a batch at a time. The leases of
    a killed process expire after LEASE_S. Another process then looks up the leased items, and pays
    nothing for answers that are already stored. ``holder`` identifies this process in its leases.

    ``summarise`` returns a summary of an item's answers, which is stored with the item. Its
    arguments are the vehicle, the batch's lookups and the answers. A batch's page shows the
    summary, because some of the answers may have expired and some are never stored. Each thread
    holds ``turn`` while it computes. The upstream client must release the same Turn
    (``Turn.given_up``) while it waits for the upstream.
    """

    def __init__(
        self,
        batches: Batches,
        fetch: Fetch,
        identify: Callable[[Access], Identity],
        concurrency: int,
        monotonic: Callable[[], float] = time.monotonic,
        holder: str | None = None,
        summarise: Summarise | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._batches = batches
        self._fetch = fetch
        self._identify = identify
        self._concurrency = concurrency
        self._monotonic = monotonic
        self._summarise = summarise
        self._turn = turn or Turn()
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="batch")
        self._lock = threading.Lock()
        self._active = 0
        self._renewed_at = monotonic()
        self._is_stopping = False
        # A worker process creates its runner after it is forked, so workers have different holders.
        self._holder = holder or secrets.token_hex(8)

    def tick(self) -> None:
        """Start threads if there is work, and renew leases. The scheduler calls this regularly."""
        if self._is_stopping:
            return
        now, active = self._monotonic(), self.active
        if active and now - self._renewed_at >= RENEW_EVERY_S:
            self._batches.renew(self._holder)
            self._renewed_at = now
        self._batches.resume_due()
        if active < self._concurrency:
            claimable = self._batches.claimable(self._concurrency)
            for _ in range(min(claimable, self._concurrency - active)):
                self._start_thread()

    @property
    def active(self) -> int:
        """The number of threads of this process that are looking up items."""
        with self._lock:
            return self._active

    def stop(self) -> None:
        """Start no further lookups, and wait for those in progress."""
        self._is_stopping = True
        self._pool.shutdown()

    def _start_thread(self) -> None:
        with self._lock:
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
                claim = self._batches.claim(self._holder, self._concurrency)
            while claim is not None:
                with self._turn.taken():
                    claim = self._run(claim)
        except SQLAlchemyError as error:
            # The item's lease expires. A process that reaches the database then looks up the item.
            log.warning("a batch cannot go on: %s", type(error).__name__)
        except Exception as error:
            log.error("unexpected %s in a batch", type(error).__name__)
        finally:
            self._end_thread()

    def _run(self, claim: Claim) -> Claim | None:
        """Look up one item. Return the next claim, or None to end this thread.

        A purge, a cancellation or a revoked token ends the item before its next lookup.
        """
        cause = ""
        answers: dict[LookupName, Served] = {}
        for name in lookups_of(claim.subject, claim.ask):
            if self._is_stopping:
                self._batches.release(claim, self._holder)
                return None
            if not self._batches.is_wanted(claim, self._holder):
                self._batches.release(claim, self._holder)
                return self._batches.claim(self._holder, self._concurrency)
            try:
                identity = self._identify(claim.access)
            except TokensUnavailable:
                self._batches.release(claim, self._holder)
                return None
            except (UnknownToken, RefusedToken):
                found: Served | str | Pause = _REFUSED
            else:
                found = self._ask(name, claim, identity)
            if isinstance(found, Pause):
                self._batches.interrupt(claim, self._holder, found)
                return None
            if isinstance(found, Served):
                answers[name] = found
            else:
                cause = cause or found
        return self._batches.finish(
            claim,
            self._holder,
            cause,
            self._concurrency,
            answered=bool(answers),
            result=self._result(claim, answers),
        )

    def _result(self, claim: Claim, answers: Mapping[LookupName, Served]) -> bytes | None:
        if self._summarise is None:
            return None
        try:
            return self._summarise(claim.subject, claim.ask, answers)
        except Exception as error:  # without a summary, pages use the stored answers
            log.error("unexpected %s in a result of a batch", type(error).__name__)
            return None

    def _ask(self, name: LookupName, claim: Claim, identity: Identity) -> Served | str | Pause:
        """Return the answer, the cause of a failure, or the pause that the failure requires."""
        if not identity.has_scope(name):
            return "out_of_scope"
        caller = Caller.of(identity, claim.batch)
        try:
            served = self._fetch(Lookup(OPERATIONS[name], claim.subject), caller)
        except Failure as failure:
            pause = pause_after(failure.kind, failure.retry_after_s, claim.tries, claim.attempts)
            return pause or failure.kind
        return served if served.status == 200 else "rejected"
