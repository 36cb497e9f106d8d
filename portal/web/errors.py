"""One table does the error work: why a lookup failed → status, message, a panel's sentence."""

import logging
from dataclasses import dataclass
from math import ceil
from typing import Final

from flask import (
    Flask,
    Response,
    abort,
    g,
    jsonify,
    make_response,
    render_template,
    request,
    url_for,
)
from werkzeug.exceptions import HTTPException

from portal.access import HistoryUnavailable, TokensUnavailable
from portal.gateway import Failure, FailureKind
from portal.web.view_models import error_page

log = logging.getLogger(__name__)

INVALID_PLATE: Final = "Por favor, informe uma placa válida."
UNAUTHORIZED: Final = "Não autorizado."
FORBIDDEN: Final = "Acesso negado!"
TOO_MANY: Final = "Pedidos demais. Aguarde um pouco."


@dataclass(frozen=True, slots=True)
class Fault:
    """What a failure becomes: a status and message for scripts, a sentence for a panel."""

    status: int
    message: str
    sentence: str


FAULTS: Final[dict[FailureKind, Fault]] = {
    "unreachable": Fault(
        503,
        "Nenhum endereço da fonte de dados pode ser consultado agora. Tente de novo em instantes.",
        "A fonte de dados não pode ser consultada neste momento.",
    ),
    "too_slow": Fault(
        504,
        "A fonte de dados demorou demais para responder.",
        "A fonte de dados demorou demais para responder.",
    ),
    "bad_answer": Fault(
        502,
        "A fonte de dados não deu uma resposta válida.",
        "A fonte de dados não deu uma resposta válida.",
    ),
    "busy": Fault(
        503,
        "A fonte de dados pediu uma pausa. Tente de novo em instantes.",
        "A fonte de dados pediu uma pausa nas consultas.",
    ),
    "operator_refused": Fault(
        503,
        "A fonte de dados não aceitou o acesso deste portal. Avise quem o opera.",
        "A fonte de dados não aceitou o acesso deste portal; quem o opera precisa verificar.",
    ),
    "refused_401": Fault(401, UNAUTHORIZED, "A fonte de dados não aceitou a sua credencial."),
    "refused_403": Fault(403, FORBIDDEN, "A fonte de dados negou acesso à sua credencial."),
    "not_found": Fault(
        404,
        "A fonte de dados não tem registro para o que foi pedido.",
        "A fonte de dados não tem registro para esta consulta.",
    ),
    "day_limit": Fault(
        503,
        "O limite diário de consultas deste portal foi atingido.",
        "O limite diário de consultas deste portal foi atingido.",
    ),
    "token_limit": Fault(
        429,
        "O limite diário de consultas do seu acesso foi atingido.",
        "O limite diário de consultas do seu acesso foi atingido.",
    ),
    "not_stored": Fault(
        504,
        "Não há resposta guardada para este pedido.",
        "Ainda não consultado.",
    ),
    "no_ledger": Fault(
        503,
        "O portal não conseguiu registrar a consulta e por isso não a fez. Tente de novo.",
        "O portal não conseguiu registrar a consulta e por isso não a fez.",
    ),
}

# status → title, advice: what happened and what to do, never an upstream's words.
_PAGES: Final[dict[int, tuple[str, str]]] = {
    400: ("Pedido não entendido", "Confira o endereço ou os dados enviados e tente de novo."),
    401: ("É preciso entrar", "Entre com o seu token para ver dados de veículos."),
    403: ("Acesso negado", "O seu acesso não permite isto. Fale com quem opera o portal."),
    404: ("Página não encontrada", "Confira o endereço, ou procure o veículo pela placa."),
    405: ("Ação não permitida", "Esta página não aceita esse tipo de pedido."),
    413: ("Conteúdo grande demais", "Envie menos dados de uma vez."),
    415: ("Tipo de conteúdo não aceito", "Envie os dados no formato pedido."),
    429: ("Pedidos demais", "Aguarde um pouco antes de tentar de novo."),
    500: ("Algo deu errado aqui", "O erro foi registrado. Tente de novo em instantes."),
    503: (
        "Indisponível no momento",
        "O portal não pode atender a este pedido agora. Tente de novo em instantes.",
    ),
    501: (
        "PDF indisponível neste servidor",
        "Falta uma biblioteca para gerar o PDF. Abra o dossiê e use a impressão do navegador.",
    ),
}

# What may be over by the time somebody tries again.
_MAY_PASS: Final = (429, 500, 503, 504)

_MESSAGES: Final[dict[int, str]] = {
    401: UNAUTHORIZED,
    403: FORBIDDEN,
    404: "Endereço não encontrado.",
    405: "Método não permitido neste endereço.",
    413: "O corpo do pedido passa de 256 KiB.",
    415: "O corpo do pedido deve ser application/json.",
    429: TOO_MANY,
    500: "Erro interno do portal.",
    503: "O portal não pode atender a este pedido neste momento. Tente de novo em instantes.",
}


def is_json_path(path: str) -> bool:
    """Whether scripts ask here, and get every error as ``{"message": …}``."""
    return path == "/detran" or path.startswith("/detran/")


def message_response(status: int, message: str, retry_after_s: float | None = None) -> Response:
    """The contract's error body, with Retry-After in whole seconds where there is one."""
    response = jsonify(message=message)
    response.status_code = status
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, ceil(retry_after_s)))
    return response


def failure_response(failure: Failure, pass_through: bool) -> Response:
    """A lookup's failure for a script."""
    fault = FAULTS[failure.kind]
    status = fault.status
    if failure.kind == "busy" and pass_through:
        status = 429
    retry_after_s = failure.retry_after_s
    if status in (429, 503) and retry_after_s is None:
        retry_after_s = 1.0
    return message_response(status, fault.message, retry_after_s if status in (429, 503) else None)


def page_error(status: int, title: str = "", advice: str = "", query: str = "") -> Response:
    """An error as a page; it fetches nothing."""
    usual = _PAGES.get(status, _PAGES[500] if status >= 500 else _PAGES[400])
    page = error_page(
        status,
        title or usual[0],
        advice or usual[1],
        g.request_id,
        query=query,
        retry_path=_same_again() if status in _MAY_PASS else "",
    )
    return make_response(render_template(page.template, page=page), status)


def _same_again() -> str:
    """The address that was asked for, "" where asking again is more than reading."""
    if request.method != "GET" or request.endpoint is None:
        return ""
    path = url_for(request.endpoint, **(request.view_args or {}))
    query = request.query_string.decode("ascii", "ignore")
    return f"{path}?{query}" if query else path


def register_errors(app: Flask) -> None:
    """Every error leaves in its caller's own format."""

    def answer(status: int) -> Response:
        if is_json_path(request.path):
            return message_response(status, _MESSAGES.get(status, "O pedido não foi entendido."))
        return page_error(status)

    def expected(error: HTTPException) -> Response:
        if error.response is not None or error.code is None or error.code < 400:
            return make_response(error.get_response())
        response = answer(error.code)
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After"):
                response.headers[name] = value
        return response

    def unexpected(error: Exception) -> Response:
        # The class and place alone: a message may carry a plate, a token or a URL.
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
        log.error("unexpected %s at %s", type(error).__name__, place)
        return answer(500)

    def out_of_reach(error: HistoryUnavailable | TokensUnavailable) -> Response:
        log.error("%s: %s", type(error).__name__, error)
        response = answer(503)
        response.headers["Retry-After"] = "1"
        return response

    def unreadable_query() -> None:
        # Scripts' credentials are read from the raw bytes; everything else reads text.
        if not request.query_string.isascii() and not is_json_path(request.path):
            try:
                request.query_string.decode()
            except UnicodeDecodeError:
                abort(400)

    app.before_request(unreadable_query)
    app.register_error_handler(HTTPException, expected)
    for each in (HistoryUnavailable, TokensUnavailable):
        app.register_error_handler(each, out_of_reach)
    app.register_error_handler(Exception, unexpected)
