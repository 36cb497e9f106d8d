"""The written report of a vehicle: made from what the panels hold, and shown with its age."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from portal.access import Identity
from portal.gateway import Caller, Directive, Gateway, Served
from portal.vehicle import Plate
from portal.web.api import report_lookup
from portal.web.lookups import Lookups
from portal.web.panels import Panel
from portal.web.view_models import Panels


class WrittenReports:
    """Has reports written and finds the newest one."""

    def __init__(self, gateway: Gateway, lookups: Lookups) -> None:
        self._gateway = gateway
        self._lookups = lookups

    def write(self, plate: Plate, panels: Panels, identity: Identity) -> Served:
        """Have a report written from these records; raises the gateway's Failure."""
        caller = Caller(identity.name, identity.daily_limit, identity.credential)
        lookup = report_lookup(plate, _data(panels))
        served = self._gateway.fetch(lookup, caller)
        if served.status == 200:
            self._gateway.keep_as_newest(lookup, caller)
        return served

    def newest(self, plate: Plate, panels: Panels, identity: Identity) -> tuple[Panel, bool]:
        """The newest report stored, and whether the records have changed since.

        A record that is missing on this page is no change: it may have left the memory, be out
        of this person's scope, or its source be down.
        """
        caller = Caller(identity.name, identity.daily_limit, identity.credential)
        price = self._gateway.terms("report").price
        newest = self._gateway.newest_report(plate, caller)
        if newest is None or not identity.may("report"):
            return Panel("unasked", price=price), False
        shown = Panel(
            "fresh",
            newest.body,
            datetime.fromtimestamp(newest.fetched_at, UTC),
            newest.origin,
            from_memory=True,
            price=price,
        )
        data = _data(panels)
        if "indisponiveis" in data:
            return shown, False
        current = self._lookups.panel(report_lookup(plate, data), identity, Directive.PEEK)
        return shown, current.fetched_at != shown.fetched_at


def _data(panels: Panels) -> dict[str, Any]:
    """What the upstream is given to analyse: the results at hand, the others by name."""
    data: dict[str, Any] = {}
    missing = []
    for name, panel in (
        ("decode", panels.decode),
        ("renainf", panels.renainf),
        ("renajud", panels.renajud),
    ):
        if panel.body is None:
            missing.append(name)
        else:
            data[name] = msgspec.json.decode(panel.body)["result"]
    if missing:
        data["indisponiveis"] = missing
    return data
