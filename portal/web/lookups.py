"""A page's lookups: side by side, each ending as a panel whatever happens to it."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from datetime import UTC, datetime

from portal.access import Identity
from portal.gateway import (
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
from portal.vehicle import Plate, Renavam
from portal.web.errors import FAULTS
from portal.web.panels import Panel
from portal.web.view_models import Panels

OUT_OF_SCOPE = "O seu acesso não inclui esta consulta."
NOT_FOR_RENAVAM = "Esta consulta é feita pela placa."
REJECTED = "A fonte de dados não aceitou este número."
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
        """What is known of the operations asked for; the others stay unasked.

        What is in memory never waits for what is not: only lookups that must ask the upstream
        take a thread, and the last of them uses ours.
        """
        known: dict[str, Panel] = {}
        to_ask: list[Operation] = []
        for operation in operations:
            if directive is Directive.REFRESH:
                to_ask.append(operation)
                continue
            first = Directive.ONLY_IF_CACHED if directive is Directive.NORMAL else directive
            panel = self.panel(Lookup(operation, subject), identity, first)
            if panel.state == "unasked" and directive is Directive.NORMAL:
                to_ask.append(operation)
            else:
                known[operation.name] = panel
        waiting: dict[str, Future[Panel]] = {
            operation.name: self._pool.submit(
                self.panel, Lookup(operation, subject), identity, directive
            )
            for operation in to_ask[:-1]
        }
        if to_ask:
            last = to_ask[-1]
            known[last.name] = self.panel(Lookup(last, subject), identity, directive)
        known |= {name: future.result() for name, future in waiting.items()}
        unasked = Panel("unasked")
        return Panels(
            decode=known.get("decode", unasked),
            renainf=known.get("renainf", unasked),
            renajud=known.get("renajud", unasked),
        )

    def panel(
        self, lookup: Lookup, identity: Identity, directive: Directive = Directive.NORMAL
    ) -> Panel:
        """One lookup as a panel; never raises."""
        price = self._gateway.terms(lookup.operation.name).price
        if not identity.may(lookup.operation.name):
            return Panel("unavailable", price=price, reason=OUT_OF_SCOPE)
        if isinstance(lookup.subject, Renavam) and lookup.operation not in (RENAINF, RENAJUD):
            return Panel("unavailable", price=price, reason=NOT_FOR_RENAVAM)
        caller = Caller(identity.name, identity.daily_limit, identity.credential)
        try:
            served = self._gateway.fetch(lookup, caller, directive)
        except Failure as failure:
            if failure.kind == "not_stored":
                return Panel("unasked", price=price)
            return Panel("unavailable", price=price, reason=FAULTS[failure.kind].sentence)
        except Exception:
            # A panel must not cost the visitor the page, nor look like a clean record.
            return Panel("unavailable", price=price, reason=BROKEN)
        if served.status != 200:
            return Panel("unavailable", price=price, reason=REJECTED)
        return _panel(served, lookup, self._gateway)


def _panel(served: Served, lookup: Lookup, gateway: Gateway) -> Panel:
    return Panel(
        state="stale" if served.cache_status == "stale" else "fresh",
        body=served.body,
        fetched_at=datetime.fromtimestamp(served.fetched_at, UTC),
        origin=served.origin,
        from_memory=served.from_memory,
        price=gateway.terms(lookup.operation.name).price,
    )
