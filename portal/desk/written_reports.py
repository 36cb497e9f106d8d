"""Written reports on a vehicle.

The upstream writes a report from the records that the portal sends.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import chain, combinations
from typing import Any

import msgspec

from portal.access.tokens import Identity
from portal.dossier.answers import Panel, Panels, WrittenReport
from portal.gateway.gateway import Gateway
from portal.gateway.lookup import Served, Spend, report_lookup
from portal.system.local_time import utc_time
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.vehicle.wire import OVERSIZED, result_of

_decoder = msgspec.json.Decoder(float_hook=Decimal)  # Decimal keeps all digits of a number


class NoRecords(Exception):
    """There is no record to report on.

    The portal then requests no report, because the upstream charges even for an empty one.
    """


class WrittenReports:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def write(
        self, plate: Plate, panels: Panels, identity: Identity, last_purge: int | None
    ) -> Served:
        """Request a written report on the records in the panels.

        If the vehicle was purged after ``last_purge``, which ``Gateway.last_purge`` returned before
        the panels were read, the report is not stored. Raises NoRecords if the panels have no
        records, or a Failure of the gateway.
        """
        results = _results(panels)
        if not results:
            raise NoRecords
        lookup = report_lookup(plate, _data(results), last_purge)
        served = self._gateway.fetch(lookup, identity)
        if served.status == 200:
            self._gateway.keep_as_newest(lookup, identity)
        return served

    def has_any(self, plate: Plate, identity: Identity) -> bool:
        """Return whether a report on the plate is stored, and the identity has the scope for it."""
        is_allowed = identity.has_scope("report")
        return is_allowed and self._gateway.newest_report(plate, identity) is not None

    def newest(self, plate: Plate, panels: Panels, identity: Identity) -> Panel:
        """Return the newest report that the identity may read.

        The identity needs the scope of each lookup on which the report is based. If the report is
        not based on records in ``panels``, these lookups are unknown. The identity then needs the
        scopes of all three lookups. If a scope is missing, this method looks for another stored
        report, which must be based only on records in ``panels``.

        A report is outdated if ``panels`` has the records of all three lookups and the report is
        based on other records. If ``panels`` lacks a lookup's records, for example because the
        identity lacks the scope, this method cannot tell whether these records have changed since
        the report. The report is then not considered outdated.
        """
        price = self._gateway.terms["report"].price
        may_read = identity.has_scope("report")
        newest = self._gateway.newest_report(plate, identity) if may_read else None
        if newest is None:
            return Panel("unasked", price=price)
        results = _results(panels)
        made_of = next(
            (
                subset
                for subset, served_report in self._stored_reports(plate, results, identity)
                if served_report.fetched_at == newest.fetched_at
            ),
            None,
        )
        if not all(map(identity.has_scope, made_of or LOOKUPS)):
            readable = next(self._stored_reports(plate, results, identity), None)
            if readable is None:
                return Panel("unasked", price=price)
            made_of, newest = readable
        outdated = made_of is None and len(results) == len(LOOKUPS)
        return replace(_report_panel(newest, made_of, price), from_cache=True, outdated=outdated)

    def unstored_panel(self, served: Served, panels: Panels) -> Panel:
        price = self._gateway.terms["report"].price
        return _report_panel(served, tuple(_results(panels)), price)

    def _stored_reports(
        self, plate: Plate, results: Mapping[LookupName, Any], identity: Identity
    ) -> Iterator[tuple[tuple[LookupName, ...], Served]]:
        """Yield each subset of ``results`` that has a stored report, with this report.

        The store key of a report depends on its records, so this method tries each subset. Larger
        subsets come first, because they are more likely to have a report.
        """
        sizes = range(len(results), 0, -1)
        for subset in chain.from_iterable(combinations(results, size) for size in sizes):
            lookup = report_lookup(plate, _data({name: results[name] for name in subset}))
            snapshot = self._gateway.read(lookup, identity)
            served = self._gateway.cached(snapshot, Spend.NEVER)
            if served is not None and served.status == 200:  # a stored 400 is no report
                yield subset, served


def _report_panel(
    served: Served, made_of: tuple[LookupName, ...] | None, price: Decimal | None
) -> WrittenReport:
    return WrittenReport(
        "fresh",
        served.body,
        result_of(served.body),
        utc_time(served.fetched_at),
        served.origin,
        price=price,
        made_of=made_of,
    )


def _results(panels: Panels) -> dict[LookupName, Any]:
    return {
        name: _decoder.decode(body)["result"]
        for name in LOOKUPS
        if (body := panels.of(name).body) is not None and panels.of(name).result is not OVERSIZED
    }


def _data(results: Mapping[LookupName, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {str(name): result for name, result in results.items()}
    missing = [name for name in LOOKUPS if name not in results]
    return {**data, "indisponiveis": missing} if missing else data
