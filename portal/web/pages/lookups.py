"""A page's lookups: run in parallel, each returns a panel even if it fails."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial

from portal.access import Identity
from portal.gateway import (
    DECODE,
    RENAINF,
    RENAJUD,
    Caller,
    Directive,
    Failure,
    Gateway,
    Lookup,
    Operation,
    Served,
)
from portal.presentation import Panels, subject_phrase
from portal.presentation.failure_texts import FAULTS
from portal.presentation.panels import Panel, Replaced
from portal.vehicle import Plate, Renavam

log = logging.getLogger(__name__)

OUT_OF_SCOPE = "O seu acesso não inclui esta consulta."
NOT_FOR_RENAVAM = "Esta consulta é feita pela placa."
REJECTED = "A fonte de dados não aceitou {}."
UNKNOWN = "A fonte de dados não tem registro para {}."
BROKEN = "Algo deu errado neste portal durante a consulta."


class Lookups:
    """Turns operations on a subject into panels."""

    def __init__(self, gateway: Gateway, pool: Executor) -> None:
        self._gateway = gateway
        self._pool = pool

    def panels(
        self,
        subject: Plate | Renavam,
        operations: Sequence[Operation],
        identity: Identity,
        directive: Directive = Directive.NORMAL,
    ) -> Panels:
        """The panels of one subject, "unasked" for the operations not given."""
        return self.panels_of_all([subject], operations, identity, directive)[0]

    def panels_of_all(
        self,
        subjects: Sequence[Plate | Renavam],
        operations: Sequence[Operation],
        identity: Identity,
        directive: Directive = Directive.NORMAL,
    ) -> list[Panels]:
        """The panels of each subject; all lookups run in parallel.

        Stored answers never wait for the upstream: only lookups that need the upstream use a
        thread of the pool, and the last of them runs in the calling thread.
        """
        results: dict[Lookup, Panel] = {}
        to_fetch: list[Lookup] = []
        for lookup in dict.fromkeys(
            Lookup(operation, subject) for subject in subjects for operation in operations
        ):
            if directive is Directive.REFRESH:
                to_fetch.append(lookup)
                continue
            first = Directive.ONLY_IF_CACHED if directive is Directive.NORMAL else directive
            panel = self.panel(lookup, identity, first)
            if panel.state == "unasked" and directive is Directive.NORMAL:
                to_fetch.append(lookup)
            else:
                results[lookup] = panel
        pending = [
            _PendingLookup(partial(self.panel, lookup, identity, directive)) for lookup in to_fetch
        ]
        for each in pending[:-1]:
            # If the system cannot start a thread, the lookups run one after another below.
            with suppress(RuntimeError):
                self._pool.submit(each.run)
                each.is_submitted = True
        for each in reversed(pending):
            if not each.is_submitted:
                each.run()
        results |= {
            lookup: each.panel.result() for lookup, each in zip(to_fetch, pending, strict=True)
        }
        unasked = Panel("unasked")
        return [
            Panels(
                decode=results.get(Lookup(DECODE, subject), unasked),
                renainf=results.get(Lookup(RENAINF, subject), unasked),
                renajud=results.get(Lookup(RENAJUD, subject), unasked),
            )
            for subject in subjects
        ]

    def panel(
        self, lookup: Lookup, identity: Identity, directive: Directive = Directive.NORMAL
    ) -> Panel:
        """The panel of one lookup; never raises."""
        price = self._gateway.terms(lookup.operation.name).price
        if not identity.has_scope(lookup.operation.name):
            return Panel("unavailable", price=price, reason=OUT_OF_SCOPE, cause="out_of_scope")
        if isinstance(lookup.subject, Renavam) and lookup.operation not in (RENAINF, RENAJUD):
            return Panel(
                "unavailable", price=price, reason=NOT_FOR_RENAVAM, cause="not_for_renavam"
            )
        caller = Caller(identity.name, identity.daily_limit, identity.credential)
        replaced = None
        try:
            served = self._gateway.fetch(lookup, caller, directive)
            replaced = self._gateway.previous(lookup, caller)
        except Failure as failure:
            if failure.kind == "not_stored":
                return Panel("unasked", price=price)
            sentence = FAULTS[failure.kind].sentence
            if failure.kind == "not_found":
                sentence = UNKNOWN.format(subject_phrase(lookup.subject))
            return Panel("unavailable", price=price, reason=sentence, cause=failure.kind)
        except Exception as error:
            log.error("unexpected %s in a panel", type(error).__name__)
            # A failed panel must neither fail the page nor look like a clean record.
            return Panel("unavailable", price=price, reason=BROKEN, cause="broken")
        if served.status != 200:
            sentence = REJECTED.format(subject_phrase(lookup.subject))
            return Panel("unavailable", price=price, reason=sentence, cause="rejected")
        return _panel(served, replaced, price)


class _PendingLookup:
    """A lookup that runs once, in the first thread that calls ``run``.

    An executor that could not start a thread keeps the submitted task, and runs it once it has a
    thread, so ``run`` may be called twice.
    """

    def __init__(self, fetch: Callable[[], Panel]) -> None:
        self._fetch = fetch
        self._started = threading.Lock()
        self.panel: Future[Panel] = Future()
        self.is_submitted = False

    def run(self) -> None:
        if not self._started.acquire(blocking=False):
            return
        try:
            self.panel.set_result(self._fetch())
        except BaseException as error:
            self.panel.set_exception(error)
            raise


def _panel(served: Served, replaced: Served | None, price: Decimal) -> Panel:
    is_older = replaced is not None and replaced.fetched_at < served.fetched_at
    return Panel(
        state="stale" if served.cache_status == "stale" else "fresh",
        body=served.body,
        fetched_at=datetime.fromtimestamp(served.fetched_at, UTC),
        origin=served.origin,
        from_memory=served.from_memory,
        price=price,
        replaced=Replaced(replaced.body, datetime.fromtimestamp(replaced.fetched_at, UTC))
        if replaced is not None and is_older
        else None,
        is_stored=served.stored,
    )
