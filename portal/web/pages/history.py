"""The pages that list and erase the visitor's own history of lookups.

The list shows only stored answers, so it never causes an upstream call.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from flask import redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.presentation.site.history_page import PAGE_SIZE, HistoryLine, HistoryPage
from portal.presentation.site.recent_lookup import recent_lookup
from portal.system.local_time import utc_time
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.web.services.responses import page_response, whole_number
from portal.web.services.routes import Routes, signed_in
from portal.web.services.sessions import local_path
from portal.web.services.web import Web

routes = Routes("history", robots="noindex", limited=True)


@routes.get("/historico")
@signed_in
def history(web: Web, identity: Identity) -> BaseResponse:
    number = request.args.get("pagina", 1, type=whole_number)
    # Read one more entry than the page shows, to find out whether there are older entries.
    entries = web.history.recent(web.sessions.history_key, PAGE_SIZE + 1, (number - 1) * PAGE_SIZE)
    shown = entries[:PAGE_SIZE]
    subjects = [parse_subject(entry.subject) for entry in shown]
    context = web.render_context()
    prices = web.prices(identity)
    paid = _payments(web, identity, [entry.subject for entry in shown])
    lines = [
        HistoryLine(
            recent_lookup(subject, panels, None, context),
            panels,
            utc_time(entry.asked_at),
            prices,
            None if paid is None else paid.get(entry.subject, Decimal(0)),
        )
        for entry, subject, panels in zip(
            shown, subjects, web.lookups.stored(subjects, identity), strict=True
        )
    ]
    page = HistoryPage(
        lines,
        kept_s=web.history.retention_s,
        number=number,
        has_older=len(entries) > PAGE_SIZE,
        now=context.now,
    )
    return page_response(page)


# This route needs no sign-in. Without a session there is no history, so nothing is erased.
@routes.post("/historico/apagar")
def erase(web: Web) -> BaseResponse:
    """Erase one vehicle from the visitor's history.

    If the form names no vehicle, erase the whole history.
    """
    back = redirect(local_path(request.form.get("next", "/")), 303)
    text = request.form.get("consulta", "")
    try:
        subject = parse_subject(text).text if text else None
    except InvalidSubject:
        return back
    web.history.erase(web.sessions.history_key, subject)
    return back


def _payments(
    web: Web, identity: Identity, subjects: Sequence[str]
) -> Mapping[str, Decimal] | None:
    """Return the R$ that the visitor paid for each plate or Renavam.

    Returns None in demo mode. Payments are recorded under the caller's name. All demo visitors
    share one name, so their payments cannot be told apart.
    """
    if web.sessions.is_demo:
        return None
    since = datetime.now(UTC).timestamp() - web.history.retention_s
    return web.paid(identity.name, subjects, since)
