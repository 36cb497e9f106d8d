"""The pages that list and erase the visitor's own history of lookups.

The list shows only stored answers, so it never causes an upstream call.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access import History, Identity
from portal.gateway import Gateway
from portal.presentation.render_context import RenderContext
from portal.presentation.site.history_page import PAGE_SIZE, HistoryLine, HistoryPage
from portal.presentation.site.recent_lookup import recent_lookup
from portal.vehicle import LOOKUPS, InvalidSubject, parse_subject
from portal.web.pages.lookups import Lookups
from portal.web.pages.responses import keep_out_of_indexes, page_response
from portal.web.pages.sessions import Sessions, local_path

# Takes a caller's name, a sequence of plates and Renavams (vehicle register numbers), and a time in
# epoch seconds. Returns, for each plate or Renavam, the R$ that the caller has paid since then.
PaidSince = Callable[[str, Sequence[str], float], Mapping[str, Decimal]]


class HistoryPages:
    def __init__(
        self,
        gateway: Gateway,
        history: History,
        paid: PaidSince,
        lookups: Lookups,
        sessions: Sessions,
        render_context: Callable[[], RenderContext],
    ) -> None:
        self._gateway = gateway
        self._history = history
        self._paid = paid
        self._lookups = lookups
        self._sessions = sessions
        self._render_context = render_context

    def blueprint(self) -> Blueprint:
        pages = Blueprint("history", __name__)
        pages.add_url_rule("/historico", "history", self._sessions.require_sign_in(self.history))
        # This route needs no sign-in. Without a session there is no history, so nothing is erased.
        pages.add_url_rule("/historico/apagar", "erase", self.erase, methods=["POST"])
        pages.after_request(keep_out_of_indexes)
        return pages

    def history(self, identity: Identity) -> BaseResponse:
        number = _page_number(request.args.get("pagina", ""))
        key = self._sessions.history_key
        # Read one more entry than the page shows, to find out whether there are older entries.
        entries = self._history.recent(key, PAGE_SIZE + 1, (number - 1) * PAGE_SIZE)
        shown = entries[:PAGE_SIZE]
        subjects = [parse_subject(entry.subject) for entry in shown]
        context = self._render_context()
        prices = {
            name: self._gateway.terms(name).price for name in LOOKUPS if identity.has_scope(name)
        }
        paid = self._payments(identity, [entry.subject for entry in shown])
        lines = [
            HistoryLine(
                recent_lookup(subject, panels, None, context),
                panels,
                datetime.fromtimestamp(entry.asked_at, UTC),
                prices,
                None if paid is None else paid.get(entry.subject, Decimal(0)),
            )
            for entry, subject, panels in zip(
                shown, subjects, self._lookups.stored(subjects, identity), strict=True
            )
        ]
        page = HistoryPage(
            lines,
            kept_s=self._history.retention_s,
            number=number,
            has_older=len(entries) > PAGE_SIZE,
            now=context.now,
        )
        return page_response(page)

    def erase(self) -> BaseResponse:
        """Erase one vehicle from the visitor's history.

        If the form names no vehicle, erase the whole history.
        """
        subject = None
        if text := request.form.get("consulta", ""):
            try:
                subject = parse_subject(text).text
            except InvalidSubject:
                return redirect(local_path(request.form.get("next", "/")), 303)
        self._history.erase(self._sessions.history_key, subject)
        return redirect(local_path(request.form.get("next", "/")), 303)

    def _payments(
        self, identity: Identity, subjects: Sequence[str]
    ) -> Mapping[str, Decimal] | None:
        """Return the R$ that the visitor paid for each plate or Renavam.

        Returns None in demo mode. Payments are recorded under the caller's name. All demo visitors
        share one name, so their payments cannot be told apart.
        """
        if self._sessions.is_demo:
            return None
        since = datetime.now(UTC).timestamp() - self._history.retention_s
        return self._paid(identity.name, subjects, since)


def _page_number(text: str) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 5
    return max(1, int(text)) if is_number else 1
