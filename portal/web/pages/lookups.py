"""A page's lookups: side by side, each ending as a panel whatever happens to it."""

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
    """Turns operations on a subject into panels.

    ``read_ahead`` is told of each answer that was waited for, in its own thread: what can be
    made of it then need not be made after the slowest lookup.
    """

    def __init__(
        self,
        gateway: Gateway,
        pool: Executor,
        read_ahead: Callable[[str, Panel], object] = lambda _operation, _panel: None,
    ) -> None:
        self._gateway = gateway
        self._pool = pool
        self._read_ahead = read_ahead

    def panels(
        self,
        subject: Plate | Renavam,
        operations: Sequence[Operation],
        identity: Identity,
        directive: Directive = Directive.NORMAL,
    ) -> Panels:
        """What is known of the operations asked for; the others stay unasked."""
        return self.side_by_side([subject], operations, identity, directive)[0]

    def side_by_side(
        self,
        subjects: Sequence[Plate | Renavam],
        operations: Sequence[Operation],
        identity: Identity,
        directive: Directive = Directive.NORMAL,
    ) -> list[Panels]:
        """The panels of each subject, all lookups at once.

        What is in memory never waits for what is not: only lookups that must ask the upstream
        take a thread, and the last of them uses ours.
        """
        known: dict[Lookup, Panel] = {}
        to_ask: list[Lookup] = []
        for lookup in dict.fromkeys(Lookup(one, of) for of in subjects for one in operations):
            if directive is Directive.REFRESH:
                to_ask.append(lookup)
                continue
            first = Directive.ONLY_IF_CACHED if directive is Directive.NORMAL else directive
            panel = self.panel(lookup, identity, first)
            if panel.state == "unasked" and directive is Directive.NORMAL:
                to_ask.append(lookup)
            else:
                known[lookup] = panel
        asking = [_Asking(partial(self.panel, lookup, identity, directive)) for lookup in to_ask]
        for each in asking[:-1]:
            # The system may have no thread to spare: then we ask one after another.
            with suppress(RuntimeError):
                self._pool.submit(each.run)
                each.is_handed_over = True
        for each in reversed(asking):
            if not each.is_handed_over:
                each.run()
        known |= {lookup: each.panel.result() for lookup, each in zip(to_ask, asking, strict=True)}
        unasked = Panel("unasked")
        return [
            Panels(
                decode=known.get(Lookup(DECODE, subject), unasked),
                renainf=known.get(Lookup(RENAINF, subject), unasked),
                renajud=known.get(Lookup(RENAJUD, subject), unasked),
            )
            for subject in subjects
        ]

    def panel(
        self, lookup: Lookup, identity: Identity, directive: Directive = Directive.NORMAL
    ) -> Panel:
        """One lookup as a panel; never raises."""
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
            # A panel must not cost the visitor the page, nor look like a clean record.
            return Panel("unavailable", price=price, reason=BROKEN, cause="broken")
        if served.status != 200:
            sentence = REJECTED.format(subject_phrase(lookup.subject))
            return Panel("unavailable", price=price, reason=sentence, cause="rejected")
        panel = _panel(served, replaced, price)
        if not panel.from_memory:
            with suppress(Exception):  # the page meets it again, where it belongs
                self._read_ahead(lookup.operation.name, panel)
        return panel


class _Asking:
    """One lookup that is asked once, by whichever thread comes first.

    An executor that was refused a thread keeps what it was given, and runs it when it has one.
    """

    def __init__(self, ask: Callable[[], Panel]) -> None:
        self._ask = ask
        self._begun = threading.Lock()
        self.panel: Future[Panel] = Future()
        self.is_handed_over = False

    def run(self) -> None:
        if not self._begun.acquire(blocking=False):
            return
        try:
            self.panel.set_result(self._ask())
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
