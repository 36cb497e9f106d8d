"""The written report of a vehicle: made from what the panels hold, and shown with its age."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import combinations
from typing import Any

import msgspec

from portal.access import Identity
from portal.gateway import Caller, Directive, Failure, Gateway, Served, report_lookup
from portal.presentation import LOOKUP_WORDS, Lookup, Panels, WrittenReport
from portal.presentation.panels import Panel
from portal.vehicle import Plate

_decoder = msgspec.json.Decoder(float_hook=Decimal)  # every digit goes into the report


class NoRecords(Exception):
    """There is no record to write about: a report on nothing would still cost its price."""


class WrittenReports:
    """Has reports written and finds the newest one."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def write(self, plate: Plate, panels: Panels, identity: Identity) -> Served:
        """Have a report written from these records; raises NoRecords before anything is
        asked, else the gateway's Failure."""
        results = _results(panels)
        if not results:
            raise NoRecords
        lookup = report_lookup(plate, _data(results))
        caller = _caller(identity)
        served = self._gateway.fetch(lookup, caller)
        if served.status == 200:
            self._gateway.keep_as_newest(lookup, caller)
        return served

    def newest(self, plate: Plate, panels: Panels, identity: Identity) -> tuple[Panel, bool]:
        """The newest report that this reader may see, and whether the records have changed since.

        A report tells what its records say, so it takes their scopes to read it: those it was
        written from, and all three where these cannot be established. A reader who lacks one
        gets the report written from the records on this page, if there is one.

        A record that is missing on this page is no change: it may have left the memory, be out
        of this person's scope, or its source be down.
        """
        caller = _caller(identity)
        price = self._gateway.terms("report").price
        newest = self._gateway.newest_report(plate, caller)
        if newest is None or not identity.has_scope("report"):
            return Panel("unasked", price=price), False
        results = _results(panels)
        made_of = next(
            (
                chosen
                for chosen, held in self._written_from(plate, results, caller)
                if held.fetched_at == newest.fetched_at
            ),
            None,
        )
        if not all(map(identity.has_scope, made_of or LOOKUP_WORDS)):
            of_these = next(self._written_from(plate, results, caller), None)
            if of_these is None:
                return Panel("unasked", price=price), False
            made_of, newest = of_these
        has_changed = made_of is None and len(results) == len(LOOKUP_WORDS)
        return _shown(newest, made_of, price, from_memory=True), has_changed

    def just_written(self, served: Served, panels: Panels) -> Panel:
        """A report as it came, for a page that will find it nowhere else."""
        price = self._gateway.terms("report").price
        return _shown(served, tuple(_results(panels)), price, from_memory=False)

    def _written_from(
        self, plate: Plate, results: Mapping[Lookup, Any], caller: Caller
    ) -> Iterator[tuple[tuple[Lookup, ...], Served]]:
        """The stored reports written from today's records, and from which of them.

        A report is found by what it was written from, so that is tried: all records at hand
        first, which is the usual case and ends the search.
        """
        for chosen in _choices(tuple(results)):
            lookup = report_lookup(plate, _data({name: results[name] for name in chosen}))
            try:
                held = self._gateway.fetch(lookup, caller, Directive.PEEK)
            except Failure:
                continue
            if held.status == 200:  # not the upstream's rejection of such a request
                yield chosen, held


def _caller(identity: Identity) -> Caller:
    return Caller(identity.name, identity.daily_limit, identity.credential)


def _shown(
    served: Served, made_of: tuple[Lookup, ...] | None, price: Decimal, *, from_memory: bool
) -> WrittenReport:
    return WrittenReport(
        "fresh",
        served.body,
        datetime.fromtimestamp(served.fetched_at, UTC),
        served.origin,
        from_memory=from_memory,
        price=price,
        made_of=made_of,
    )


def _choices(names: tuple[Lookup, ...]) -> Iterator[tuple[Lookup, ...]]:
    """Every choice of at least one, the largest first."""
    for count in range(len(names), 0, -1):
        yield from combinations(names, count)


def _results(panels: Panels) -> dict[Lookup, Any]:
    """The records at hand."""
    return {
        name: _decoder.decode(body)["result"]
        for name in LOOKUP_WORDS
        if (body := panels.of(name).body) is not None
    }


def _data(results: Mapping[Lookup, Any]) -> dict[str, Any]:
    """What the upstream is given to analyse: the results at hand, the others by name."""
    data: dict[str, Any] = {str(name): result for name, result in results.items()}
    missing = [name for name in LOOKUP_WORDS if name not in results]
    return {**data, "indisponiveis": missing} if missing else data
