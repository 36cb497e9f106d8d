"""Makes a vehicle's lookups in parallel. Each results in a panel, even if the lookup fails."""

import json
import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TypeVar

from portal.access.tokens import Identity
from portal.amounts import total
from portal.desk.written_reports import WrittenReports
from portal.dossier.answers import LONGEST_QUOTE, Panel, Panels, answer_panel
from portal.dossier.gaps import subject_phrase
from portal.gateway.gateway import Gateway, Snapshot
from portal.gateway.limits import Allowance
from portal.gateway.lookup import Failure, Lookup, Served, Spend
from portal.gateway.operations import LOOKUP_OPERATIONS, OPERATIONS
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.phrasebook.failures import sentence_about
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam
from portal.wording import sanitise_echo

log = logging.getLogger(__name__)

Found = TypeVar("Found")

OUT_OF_SCOPE = "O seu acesso não inclui esta consulta."
NOT_FOR_RENAVAM = "Esta consulta é feita pela placa."
REJECTED = "A fonte de dados não aceitou {}{}."
UNKNOWN = "A fonte de dados não tem registro para {}."
BROKEN = "Algo deu errado neste portal durante a consulta."


@dataclass(frozen=True, slots=True)
class LookupCost:
    """The highest possible cost of looking up one plate, in R$, and what limits it.

    ``most`` is None if the price of a lookup is unknown.
    ``left`` is how many more plates the limits of the day and the month's money allow, or None if
    there is no limit. ``midnight_s`` is the number of seconds until the next day. ``next_month_s``
    is that until the next month if the money allows less than the day, else None.
    """

    most: Decimal | None
    left: int | None
    midnight_s: float
    next_month_s: float | None = None


class Lookups:
    def __init__(
        self, gateway: Gateway, pool: Executor, allowance: Callable[[Identity], Allowance]
    ) -> None:
        self.reports = WrittenReports(gateway)
        self._gateway = gateway
        self._pool = pool
        self._allowance = allowance

    def panels(
        self,
        subject: Plate | Renavam,
        identity: Identity,
        spend: Spend = Spend.ASKED,
        names: Collection[LookupName] = LOOKUPS,
    ) -> Panels:
        """Return the panels of a subject (a plate or Renavam).

        The panel of a lookup that is not in ``names`` has the state "unasked".
        """
        return self.panels_of_all([subject], identity, spend, names)[0]

    def panels_of_all(
        self,
        subjects: Sequence[Plate | Renavam],
        identity: Identity,
        spend: Spend = Spend.ASKED,
        names: Collection[LookupName] = LOOKUPS,
        *,
        previous: bool = True,
    ) -> list[Panels]:
        """Return the panels of each subject, with the newest written report that is stored.

        Upstream calls run in parallel.

        The calling thread first reads all stored answers, with the older answers that they have
        replaced if ``previous`` is true. The calling thread then makes one of the lookups that need
        the upstream, and then those that no thread of the pool has begun.
        """
        results: dict[Lookup, Panel] = {}
        pending: dict[Lookup, _PendingLookup] = {}
        for lookup in dict.fromkeys(
            Lookup(OPERATIONS[name], subject) for subject in subjects for name in names
        ):
            stored = partial(self._stored, lookup, identity, spend, previous)
            settled = self._settle(lookup, stored)
            if isinstance(settled, Panel):
                results[lookup] = settled
            else:
                fetch = partial(self._fetched, settled, spend)
                pending[lookup] = _PendingLookup(partial(self._settle, lookup, fetch))
        self._run(list(pending.values()))
        results |= {lookup: waiting.panel.result() for lookup, waiting in pending.items()}
        unasked = Panel("unasked")
        answered = (
            (
                subject,
                [
                    results.get(Lookup(operation, subject), unasked)
                    for operation in LOOKUP_OPERATIONS
                ],
            )
            for subject in subjects
        )
        return [
            self._with_report(subject, Panels(*panels), identity) for subject, panels in answered
        ]

    def now(
        self, plate: Plate, identity: Identity, names: Collection[LookupName], since: float
    ) -> dict[LookupName, Panel]:
        """Make lookups whatever is stored, and return their panels.

        An answer that was fetched after ``since`` (epoch s) counts. A failed lookup has no stored
        answer in its place.
        """

        def fetched(lookup: Lookup) -> Panel:
            snapshot = self._gateway.read(lookup, identity)
            return self._fetched(snapshot, Spend.NOW)

        pending = {}
        for name in names:
            lookup = Lookup(OPERATIONS[name], plate, since=since)
            make = partial(self._settle, lookup, partial(fetched, lookup))
            pending[name] = _PendingLookup(make)
        self._run(list(pending.values()))
        return {name: waiting.panel.result() for name, waiting in pending.items()}

    def _run(self, pending: "Sequence[_PendingLookup]") -> None:
        """Make lookups in parallel, the last of them in this thread."""
        for waiting in pending[:-1]:
            with suppress(RuntimeError):  # no thread can be started
                self._pool.submit(waiting.run)
        for waiting in reversed(pending):
            waiting.run()

    def has_report(self, subject: Plate | Renavam, identity: Identity) -> bool:
        """Return whether a written report is stored that the identity may read."""
        return isinstance(subject, Plate) and self.reports.has_any(subject, identity)

    def _with_report(self, subject: Plate | Renavam, panels: Panels, identity: Identity) -> Panels:
        if not isinstance(subject, Plate):
            return panels
        return replace(panels, report=self.reports.newest(subject, panels, identity))

    def stored(self, subjects: Sequence[Plate | Renavam], identity: Identity) -> list[Panels]:
        """Return each subject's panels from stored answers, for a list of vehicles.

        A list does not show what has changed, so this method does not read replaced answers.
        """
        return self.panels_of_all(subjects, identity, Spend.NEVER, previous=False)

    def cost(self, identity: Identity) -> LookupCost:
        """Return the price of all permitted lookups of a plate, and what limits them.

        The plates that are left are those for which the limits still allow all lookups.
        """
        allowed = [one for one in LOOKUP_OPERATIONS if identity.has_scope(one.name)]
        prices = [self._gateway.terms[one.name].price for one in allowed if identity.may_spend]
        allowance = self._allowance(identity)
        price = total(prices)
        of_day = of_month = None
        if allowance.left is not None:
            of_day = allowance.left // max(1, len(allowed))
        if allowance.money is not None and price:
            of_month = int(allowance.money // price)
        if of_month is not None and (of_day is None or of_month < of_day):
            next_month_s = allowance.until_next_month_s
            return LookupCost(price, of_month, allowance.until_midnight_s, next_month_s)
        return LookupCost(price, of_day, allowance.until_midnight_s)

    def _stored(
        self, lookup: Lookup, identity: Identity, spend: Spend, previous: bool
    ) -> Panel | Snapshot:
        """Return a lookup's panel, or a snapshot for ``_fetched`` if the upstream is needed."""
        if not identity.has_scope(lookup.operation.name):
            return Panel("unavailable", reason=OUT_OF_SCOPE, cause="out_of_scope")
        if not lookup.operation.takes(lookup.subject):
            return Panel("unavailable", reason=NOT_FOR_RENAVAM, cause="not_for_renavam")
        snapshot = self._gateway.read(lookup, identity)
        served = self._gateway.cached(snapshot, spend)
        if served is None and not identity.may_spend:  # no call can replace an old answer
            served = self._gateway.cached(snapshot, Spend.NEVER)
        if served is not None:
            return self._answered(snapshot, served, previous)
        if spend in (Spend.LATER, Spend.NEVER):
            return Panel("unasked")
        return snapshot

    def _fetched(self, snapshot: Snapshot, spend: Spend) -> Panel:
        served = self._gateway.fetch(snapshot.lookup, snapshot.caller, spend, snapshot)
        return self._answered(snapshot, served)

    def _answered(self, snapshot: Snapshot, served: Served, previous: bool = True) -> Panel:
        if served.status == 404:  # ``_settle`` builds the panel of this failure
            raise Failure("not_found")
        if served.status != 200:
            sentence = rejection_sentence(served, snapshot.lookup.subject)
            return Panel("unavailable", reason=sentence, cause="rejected")
        replaced = self._gateway.previous(snapshot) if previous else None
        return answer_panel(served, replaced, snapshot.lookup.asked)

    def _settle(self, lookup: Lookup, find: Callable[[], Found]) -> Found | Panel:
        """Return the result of ``find``, or a panel that describes the failure of ``find``.

        If the result is a panel, this method adds the price of the lookup.
        """
        outcome: Found | Panel
        try:
            outcome = find()
        except Failure as failure:
            sentence = sentence_about(failure.kind, failure.retry_after_s)
            if failure.kind == "not_found":
                sentence = UNKNOWN.format(subject_phrase(lookup.subject))
            outcome = Panel(
                "unavailable",
                reason=sentence,
                cause=failure.kind,
                retry_after_s=failure.retry_after_s,
            )
        except Exception as error:
            log.error("unexpected %s in a panel", type(error).__name__)
            # The page must still be shown, and must not suggest that the vehicle has no records.
            outcome = Panel("unavailable", reason=BROKEN, cause="broken")
        if isinstance(outcome, Panel):
            return replace(outcome, price=self._gateway.terms[lookup.operation.name].price)
        return outcome


def rejection_sentence(served: Served, subject: Plate | Renavam) -> str:
    """Say that the source rejected a subject (400), and quote the source.

    The contract's own message is not quoted, because the sentence already says the same.
    """
    message = sanitise_echo(json.loads(served.body)["message"], LONGEST_QUOTE)
    quote = f": “{message}”" if message and message != INVALID_PLATE else ""
    return REJECTED.format(subject_phrase(subject), quote)


class _PendingLookup:
    """A lookup that runs once, in the first thread that calls ``run``.

    The executor may call ``run`` even later: if it cannot start a thread, ``submit`` fails, but the
    executor keeps the task.
    """

    def __init__(self, fetch: Callable[[], Panel]) -> None:
        self._fetch = fetch
        self._started = threading.Lock()
        self.panel: Future[Panel] = Future()

    def run(self) -> None:
        if not self._started.acquire(blocking=False):
            return
        try:
            self.panel.set_result(self._fetch())
        except BaseException as error:
            self.panel.set_exception(error)
            raise
