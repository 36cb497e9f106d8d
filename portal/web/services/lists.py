"""What the pages of lists read of a request, and where a typed list leads."""

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.batch.typed_list import read_list
from portal.presentation.tools.comparison import MOST_PLATES
from portal.presentation.tools.vehicle_list import FILTERS, LONGEST_SEARCH, ORDERS, TAGS, ListChoice
from portal.web.http.user_initiated import is_user_initiated
from portal.web.services.responses import one_of, whole_number
from portal.web.services.web import Web
from portal.wording import sanitise_echo


def list_choice() -> ListChoice:
    asked = request.args
    return ListChoice(
        only=asked.get("so", "", type=one_of(FILTERS)),
        tag=asked.get("etiqueta", "", type=one_of(TAGS)),
        order=asked.get("ordem", "", type=one_of(ORDERS)),
        search=sanitise_echo(asked.get("busca", "").strip(), LONGEST_SEARCH),
        number=asked.get("pagina", 1, type=whole_number),
        noted=asked.get("nota", "")[:11],
    )


def batch_of(web: Web, text: str) -> BaseResponse | None:
    """Lead a typed text with more plates than a comparison has to the preview of a batch.

    Nothing is looked up. Returns None for fewer plates, or more than a batch may have.
    """
    listed = read_list(text)
    if not MOST_PLATES < len(listed.subjects) <= web.batch_limit:
        return None
    identity = web.sessions.current()
    ask = tuple(web.prices(identity)) if identity else ()
    if identity is None or not ask or not is_user_initiated():
        return redirect(url_for("batches.form", placas=" ".join(text.split())), 303)
    batch = web.pricing.create(web.sessions.history_key, identity, ask, listed)
    return redirect(url_for("batches.batch", batch=batch), 303)
