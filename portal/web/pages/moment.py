"""The proof of the moment of payment, on pages: asks again, compares, and issues a dossier."""

import logging
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.desk.desk import Desk
from portal.desk.issuing import NothingToIssue
from portal.desk.moments import USUAL, Terms, Unanswered, UnknownFormer
from portal.dossier.answers import Panel
from portal.issued.identifiers import display_number
from portal.pdf.process import PAGE_WITHIN_S, RenderingInterrupted
from portal.phrasebook.failures import FAULTS
from portal.phrasebook.issuing import NOTHING_TO_ISSUE, PURGED
from portal.presentation.issued.summary import summary_of
from portal.vehicle.plate import Plate
from portal.web.http.errors import page_error
from portal.web.http.rate_limits import refuse
from portal.web.papers import moment_paper
from portal.web.routing.responses import show_notice, ticked_lookups
from portal.web.routing.routes import Routes
from portal.web.routing.vehicles import of_vehicle
from portal.web.web import Web

NOT_ISSUED: Final = "A prova do ato não foi emitida"
NOT_READY: Final = "O dossiê não ficou pronto a tempo"
ASK_AGAIN: Final = (
    "A fonte foi consultada e a resposta está guardada, mas nada foi emitido. Volte e toque de "
    "novo em “Consultar e emitir”: em até dois minutos não há nova consulta, nem nova cobrança."
)
NO_ANSWER: Final = "{} Sem a resposta deste momento não há o que provar, e nada foi emitido."

log = logging.getLogger(__name__)

routes = Routes("moment", robots="noindex, nofollow", limited=True)


@routes.post("/placa/<text>/ato")
@of_vehicle(Plate)
def moment(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    """Ask the ticked lookups again, RENAJUD if none is, and issue what they say.

    The form has no key: one would give a tab that stays open the proof of an earlier moment.
    """
    ask = ticked_lookups() or USUAL
    if not desk.moments.may(ask):
        abort(403)
    terms = Terms(plate, ask, request.form.get("number", "").strip())
    refuse(web.limits.issue_wait(request.remote_addr))
    try:
        number = desk.moments.issue(terms, moment_paper(web))
        web.limits.count_issued(request.remote_addr)
    except UnknownFormer:
        abort(404)
    except NothingToIssue:
        return page_error(409, NOTHING_TO_ISSUE, PURGED, plate.text)
    except Unanswered as error:
        panel = error.panel
        advice = NO_ANSWER.format(panel.reason)
        return page_error(_status(panel), NOT_ISSUED, advice, plate.text, panel.retry_after_s)
    except RenderingInterrupted as error:
        log.warning("the paper of a moment is not ready: %s", error)
        return page_error(503, NOT_READY, ASK_AGAIN, plate.text, PAGE_WITHIN_S)
    issued = desk.issuing.owned(number)
    summary = summary_of(issued) if issued else None
    if summary and summary.moment:
        moment = summary.moment
        # With a text below its title, a notice is a warning.
        rest = " ".join((moment.finding, *moment.changes))
        below = ". " if moment.nothing_changed else "\n"
        show_notice(f"{moment.heading}{below}{rest}")
    return redirect(url_for("dossiers.dossier", text=display_number(number)), 303)


def _status(panel: Panel) -> int:
    """Return the status of a lookup that has no answer."""
    statuses: dict[str, int] = {kind: fault.status for kind, fault in FAULTS.items()}
    return statuses.get(panel.cause, 502)
