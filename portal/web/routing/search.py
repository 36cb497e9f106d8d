"""The search page, which several views answer with, and the visitor's latest lookups."""

from datetime import date
from functools import lru_cache

from flask import Response

from portal.access.tokens import TokensUnavailable
from portal.desk.desk import Desk
from portal.presentation.lists.recent_lookup import RecentLookup, recent_lookup
from portal.presentation.site.search_page import SearchPage
from portal.system.local_time import utc_time
from portal.vehicle.plate import parse_subject
from portal.web.routing.responses import page_response
from portal.web.web import Web


def search_response(web: Web, status: int = 200, query: str = "", problem: str = "") -> Response:
    try:
        desk = web.visitor_desk()
    except TokensUnavailable:
        desk = None
    page = SearchPage(
        query=query,
        problem=problem,
        contact=web.contact,
        cost=desk.cost() if desk else None,
        recent=recent(web, desk) if desk else (),
        showcases=_showcases(web, web.render_context().today) if web.sessions.is_demo else (),
    )
    return page_response(page, status)


def recent(web: Web, desk: Desk) -> list[RecentLookup]:
    """Return the visitor's latest lookups, from stored answers."""
    entries = desk.recent()
    subjects = [parse_subject(entry.subject) for entry in entries]
    now = web.render_context().now
    return [
        recent_lookup(dossier, utc_time(entry.asked_at), now)
        for entry, dossier in zip(entries, desk.stored(subjects), strict=True)
    ]


@lru_cache(maxsize=1)
def _showcases(web: Web, _: date) -> tuple[RecentLookup, ...]:
    """Return the demo's example plates, which are built once a day."""
    now = web.render_context().now
    return tuple(
        recent_lookup(web.desks.example(plate, panels, now), None, now, note=caption)
        for plate, caption, panels in web.examples.showcases()
    )
