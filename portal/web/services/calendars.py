"""The calendar of a vehicle's deadlines, which pages and JSON API serve."""

from portal.access.tokens import Identity
from portal.dossier.answers import Panel
from portal.gateway.lookup import Directive
from portal.presentation.exports.calendar import deadline_calendar
from portal.vehicle.plate import Plate
from portal.web.services.web import Web


def stored_deadlines(web: Web, plate: Plate, identity: Identity) -> tuple[Panel, bytes | None]:
    """Return the panel of the stored fines, and the calendar, or None without a readable answer."""
    panels = web.lookups.panels(plate, identity, Directive.PEEK, ["renainf"])
    context = web.render_context()
    dossier = context.dossier(plate, panels)
    name = f"Prazos de {plate.display}"
    return panels.renainf, deadline_calendar([dossier], name, context.today)
