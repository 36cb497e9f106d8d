"""Vehicle pages: plate, panels, dossier, negotiation, refresh and report.

A page for a Renavam (vehicle register number) shows the lookups that need no plate.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from flask import (
    Blueprint,
    abort,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse

from portal.access import History, Identity
from portal.gateway import (
    LOOKUP_OPERATIONS,
    OPERATIONS,
    Directive,
    Failure,
    Gateway,
    lookups_of,
)
from portal.pdf import PDFUnavailable
from portal.presentation.failure_texts import FAULTS, INVALID_PLATE, sentence_about
from portal.presentation.panels import Panel, Panels
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.render_context import RenderContext
from portal.presentation.site.site import Site
from portal.presentation.tools.negotiation import negotiation_page
from portal.presentation.vehicle.changes import what_changed
from portal.presentation.vehicle.page import panel_fragment, renavam_page, vehicle_page
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, not_refreshed, panel_needs
from portal.system.local_time import local_time
from portal.vehicle import LOOKUPS, InvalidSubject, LookupName, Plate, Renavam
from portal.web.http.errors import page_error
from portal.web.http.user_initiated import is_user_initiated
from portal.web.pages.dossier_code import DossierCodes
from portal.web.pages.lookups import Lookups, rejection_sentence
from portal.web.pages.page_cache import PageCache
from portal.web.pages.public import PublicPages, check_possible
from portal.web.pages.responses import keep_out_of_indexes, page_response, pdf_response
from portal.web.pages.sessions import Sessions
from portal.web.pages.written_reports import NoRecords, WrittenReports

NOT_REFRESHED = "Nem tudo foi atualizado"
REFRESHED = "Atualizado às {}"
NOT_STORED = (
    "A resposta não pôde ser guardada\n"
    "Ela está só nesta página: imprima ou salve o que precisar. Se for pedida de novo, pode ser "
    "cobrada de novo."
)
NO_REPORT = "A análise não pôde ser escrita"
NOTHING_TO_WRITE_ABOUT = (
    "Nenhum registro deste veículo está disponível agora, e sem registros não há em que "
    "basear a análise. Ela não foi pedida nem cobrada. Tente de novo daqui a pouco."
)
NOT_STORED_AT_ISSUE = "Não havia resposta guardada desta consulta quando o dossiê foi emitido."
NOT_STORED_IN_BATCH = "Não havia resposta guardada desta consulta quando o dossiê foi feito."
NOT_ASKED_IN_BATCH = (
    "Esta consulta não foi pedida no lote, e não havia resposta guardada dela quando o dossiê foi "
    "feito."
)


class VehiclePages:
    """The vehicle pages, all of which require an identity.

    A GET that no user initiated shows only stored answers, so that it costs nothing.
    """

    def __init__(
        self,
        *,
        gateway: Gateway,
        lookups: Lookups,
        sessions: Sessions,
        history: History,
        public_pages: PublicPages,
        codes: DossierCodes,
        render_pdf: Callable[[str], bytes],
        render_context: Callable[[], RenderContext],
        site: Callable[[], Site],
        page_cache: PageCache,
    ) -> None:
        self._lookups = lookups
        self._reports = WrittenReports(gateway)
        self._sessions = sessions
        self._history = history
        self._public_pages = public_pages
        self._codes = codes
        self._render_pdf = render_pdf
        self._render_context = render_context
        self._site = site
        self._page_cache = page_cache

    def blueprint(self) -> Blueprint:
        pages = Blueprint("vehicle", __name__)
        plate = "/placa/<text>"
        for path, name, view, method in (
            (plate, "vehicle", self.vehicle, "GET"),
            (f"{plate}/painel/<name>", "panel", self.panel, "GET"),
            (f"{plate}/dossie", "dossier", self.dossier, "GET"),
            (f"{plate}/dossie.pdf", "dossier_pdf", self.dossier_pdf, "GET"),
            (f"{plate}/negociacao", "negotiation", self.negotiation, "GET"),
            (f"{plate}/atualizar", "refresh", self.refresh, "POST"),
            (f"{plate}/laudo", "report", self.report, "POST"),
        ):
            pages.add_url_rule(path, name, self.for_subject(Plate, view), methods=[method])
        pages.add_url_rule("/renavam/<text>", "renavam", self.for_subject(Renavam, self.renavam))
        pages.after_request(keep_out_of_indexes)
        return pages

    def for_subject(
        self, kind: type[Plate] | type[Renavam], view: Callable[..., BaseResponse]
    ) -> Callable[..., BaseResponse]:
        """Return a view that requires a sign-in and a valid plate or Renavam in the URL.

        If the plate or Renavam is not in its canonical form, the returned view redirects to the URL
        with the canonical form.
        """

        def checked(text: str, identity: Identity, **parts: str) -> BaseResponse:
            try:
                subject = kind.parse(text)
                check_possible(subject)
            except InvalidSubject:
                return self._public_pages.search_response(400, text[:80], INVALID_PLATE)
            if subject.text != text:
                assert request.endpoint is not None
                path = url_for(request.endpoint, text=subject.text, **dict[str, Any](parts))
                # Append the query unparsed. If ``url_for`` got the parameters of the query as
                # arguments, a parameter such as ``_scheme`` would change the redirect's target.
                query = request.query_string.decode("ascii", "ignore")
                return redirect(f"{path}?{query}" if query else path, 308)
            return view(subject, identity, **parts)

        return self._sessions.require_sign_in(checked)

    def vehicle(self, plate: Plate, identity: Identity) -> BaseResponse:
        user_initiated = is_user_initiated()
        with_lookups = request.args.get("completo") == "1"
        if user_initiated:
            self._record_history(plate)
            directive = Directive.NORMAL if with_lookups else Directive.ONLY_IF_CACHED
        else:
            directive = Directive.PEEK
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity, directive)
        report, outdated = self._reports.newest(plate, panels, identity)
        context = self._render_context()
        html = self._page_cache.render(
            self._site(),
            vehicle_page,
            plate,
            panels,
            report,
            replace(context, now=context.now.replace(microsecond=0)),
            follow=user_initiated,
            report_outdated=outdated,
            may_refresh=identity.has_scope("refresh"),
            left_today=self._lookups.cost(identity).left,
            may_write=identity.has_scope("report"),
        )
        return make_response(html)

    def panel(self, plate: Plate, identity: Identity, name: str) -> BaseResponse:
        if name not in PANEL_NAMES:
            abort(404)
        operations = [OPERATIONS[needed] for needed in panel_needs(name)]
        directive = Directive.NORMAL if is_user_initiated() else Directive.PEEK
        panels = self._lookups.panels(plate, operations, identity, directive)
        page = panel_fragment(name, plate, panels, self._render_context())
        return page_response(page)

    def renavam(self, renavam: Renavam, identity: Identity) -> BaseResponse:
        user_initiated = is_user_initiated()
        if user_initiated:
            self._record_history(renavam)
        directive = Directive.NORMAL if user_initiated else Directive.PEEK
        operations = [OPERATIONS[name] for name in lookups_of(renavam)]
        panels = self._lookups.panels(renavam, operations, identity, directive)
        page = renavam_page(renavam, panels.renainf, panels.renajud, self._render_context())
        return page_response(page)

    def dossier(self, plate: Plate, identity: Identity) -> BaseResponse:
        return page_response(self._draft(plate, identity))

    def dossier_pdf(self, plate: Plate, identity: Identity) -> BaseResponse:
        page = self._draft(plate, identity)
        html = render_template(page.template, page=page)
        if page.state != "ready":
            # Someone could show an empty PDF to others as a dossier. The response is therefore the
            # HTML page, which states what is missing.
            is_outage = page.gap is not None and page.gap.can_retry and page.state == "empty"
            return make_response(html, 503 if is_outage else 200)
        try:
            return pdf_response(self._render_pdf(html), plate.text)
        except PDFUnavailable:
            return page_error(501)

    def negotiation(self, plate: Plate, identity: Identity) -> BaseResponse:
        """Return the negotiation page from stored answers, without an upstream call."""
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity, Directive.PEEK)
        asked = request.args.to_dict() | {"multas": ",".join(request.args.getlist("multas"))}
        page = negotiation_page(plate, panels, self._render_context(), asked)
        status = 400 if page.is_wrong else 200
        return page_response(page, status)

    def refresh(self, plate: Plate, identity: Identity) -> BaseResponse:
        if not identity.has_scope("refresh"):
            abort(403)
        operations = tuple(
            operation for operation in LOOKUP_OPERATIONS if identity.has_scope(operation.name)
        )
        before = self._lookups.panels(plate, operations, identity, Directive.PEEK)
        panels = self._lookups.panels(plate, operations, identity, Directive.REFRESH)
        failures = not_refreshed(panels, plate)
        if failures:
            flash(f"{NOT_REFRESHED}\n{failures}")
        elif operations:
            context = self._render_context()
            told = REFRESHED.format(f"{local_time(context.now):%H:%M}")
            changes = what_changed(before, panels, context)
            flash(f"{told}: {changes}" if changes else told)
        if any(panel.served and not panel.served.stored for panel in panels.all):
            # The paid answer was not stored, so a redirect would lose the answer.
            flash(NOT_STORED)
            report, outdated = self._reports.newest(plate, panels, identity)
            return self._unstored_page(plate, panels, report, identity, outdated=outdated)
        return redirect(url_for("vehicle.vehicle", text=plate.text), 303)

    def report(self, plate: Plate, identity: Identity) -> BaseResponse:
        # Without any lookup in scope, there is no record that a report could be about.
        if not identity.has_scope("report") or not any(map(identity.has_scope, LOOKUPS)):
            abort(403)
        last_purge = self._reports.last_purge()
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity)
        try:
            served = self._reports.write(plate, panels, identity, last_purge)
        except NoRecords:
            return page_error(503, NO_REPORT, NOTHING_TO_WRITE_ABOUT, plate.text)
        except Failure as failure:
            fault = FAULTS[failure.kind]
            sentence = sentence_about(failure.kind, failure.retry_after_s)
            return page_error(fault.status, NO_REPORT, sentence, plate.text)
        if served.status != 200:
            return page_error(502, NO_REPORT, rejection_sentence(served, plate), plate.text)
        if not served.stored:
            written = self._reports.unstored_panel(served, panels)
            return self._unstored_page(plate, panels, written, identity, outdated=False)
        return redirect(url_for("vehicle.vehicle", text=plate.text, _anchor="laudo"), 303)

    def _unstored_page(
        self, plate: Plate, panels: Panels, report: Panel, identity: Identity, *, outdated: bool
    ) -> BaseResponse:
        """Return the vehicle page, showing paid answers that could not be stored."""
        page = vehicle_page(
            plate,
            panels,
            report,
            self._render_context(),
            may_refresh=identity.has_scope("refresh"),
            left_today=self._lookups.cost(identity).left,
            may_write=identity.has_scope("report"),
            report_outdated=outdated,
        )
        return page_response(page)

    def stored_dossier(
        self, plate: Plate, ask: Collection[LookupName], identity: Identity
    ) -> str | None:
        """Return the dossier of a plate in a batch as HTML, from stored answers.

        ``ask`` contains the lookups that the batch makes. For a lookup without a stored answer, the
        dossier states that the answer is missing, and whether the batch makes this lookup. Returns
        None if no lookup has a readable stored answer.
        """
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity, Directive.PEEK)
        reasons = [
            NOT_STORED_IN_BATCH if lookup in ask else NOT_ASKED_IN_BATCH for lookup in LOOKUPS
        ]
        page = self._stamped(plate, Panels(*map(_settled, panels.all, reasons)), identity)
        return render_template(page.template, page=page) if page.state == "ready" else None

    def _draft(self, plate: Plate, identity: Identity) -> DossierPage:
        directive = Directive.NORMAL if is_user_initiated() else Directive.PEEK
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity, directive)
        return self._stamped(plate, panels, identity)

    def _stamped(self, plate: Plate, panels: Panels, identity: Identity) -> DossierPage:
        """Return a draft dossier with its code."""
        page = self._dossier(plate, panels, identity, self._render_context())
        return self._codes.stamp(page, panels)

    def issuable_dossier(self, plate: Plate, identity: Identity) -> DossierPage:
        """Return the dossier to issue, from stored answers and with masked names.

        For a lookup without a stored answer, the dossier states that the answer is missing.
        """
        panels = self._lookups.panels(plate, LOOKUP_OPERATIONS, identity, Directive.PEEK)
        settled = Panels(*(_settled(panel, NOT_STORED_AT_ISSUE) for panel in panels.all))
        context = replace(self._render_context(), mask_names=True)
        return self._dossier(plate, settled, identity, context)

    def _dossier(
        self, plate: Plate, panels: Panels, identity: Identity, context: RenderContext
    ) -> DossierPage:
        report, outdated = self._reports.newest(plate, panels, identity)
        return dossier_page(
            plate,
            panels,
            report,
            context,
            address=request.url_root.rstrip("/"),
            report_outdated=outdated,
        )

    def _record_history(self, subject: Plate | Renavam) -> None:
        self._history.record(self._sessions.history_key, subject.text)


def _settled(panel: Panel, reason: str) -> Panel:
    """Replace the state "unasked" (no stored answer) by "unavailable" with the given reason."""
    if panel.state != "unasked":
        return panel
    return replace(panel, state="unavailable", reason=reason)
