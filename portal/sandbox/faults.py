"""Simulates faults of the upstream, such as a slow or truncated response."""

from dataclasses import replace

import msgspec

from portal.sandbox.example_plates import Fault
from portal.sandbox.exchange import HTML, Response, Role, error_response, json_response

PLATE_MESSAGE = "Por favor, informe uma placa válida."
UNAUTHORIZED_MESSAGE = "Não autorizado."
FORBIDDEN_MESSAGE = "Acesso negado!"

SLOW_S = 3.0
HUNG_S = 30.0

_MAINTENANCE = (
    "<!DOCTYPE html>\n"
    '<html lang="pt-BR"><head><meta charset="utf-8"><title>Manutenção</title></head>'
    "<body><h1>Estamos em manutenção</h1><p>Volte em alguns minutos.</p></body></html>\n"
).encode()

_FIREWALL = b"<!DOCTYPE html>\n<html><body><h1>403 Forbidden</h1></body></html>\n"
# Texts that such services put beside an empty list.
_BESIDE_NOTHING: dict[Fault, str] = {
    "success-text": "Consulta realizada com sucesso. Nenhum registro encontrado.",
    "unknown-text": "Consulte o edital no portal do órgão autuador.",
}
_STATUS: dict[Fault, Response] = {
    "400": error_response(400, PLATE_MESSAGE),
    "401": error_response(401, UNAUTHORIZED_MESSAGE),
    "402": error_response(402, "Saldo insuficiente para realizar a consulta."),
    "403": error_response(403, FORBIDDEN_MESSAGE),
    "404": error_response(404, "Veículo não encontrado na base consultada."),
    "429": error_response(429, "Muitas consultas. Aguarde um instante.", {"Retry-After": "2"}),
    "500": error_response(500, "Erro interno do servidor."),
    "message-in-200": error_response(200, "Falha ao consultar o órgão de trânsito."),
    "firewall": Response(403, _FIREWALL, {"Content-Type": HTML}),
    "html": Response(200, _MAINTENANCE, {"Content-Type": HTML}),
}
_DOWN = replace(error_response(503, "Serviço fora do ar."), is_refused=True)


def apply_fault(fault: Fault | None, response: Response, role: Role) -> Response:
    """Return what a base address with ``fault`` sends in place of ``response``.

    ``role`` says whether this address is the primary or the secondary base address.
    """
    match fault:
        case None:
            return response
        case "slow":
            return replace(response, delay_s=SLOW_S)
        case "hung":
            return replace(response, delay_s=HUNG_S)
        case "success-text" | "unknown-text":
            return _emptied(response, _BESIDE_NOTHING[fault])
        case "truncated":
            return replace(response, body=_cut(response.body))
        case "both-down":
            return _DOWN
        case "primary-down":
            return _DOWN if role == "primary" else response
        case _:
            return _STATUS[fault]


def _emptied(response: Response, message: str) -> Response:
    """Replace a list by an empty one with a message beside it. Keep any other result."""
    answer = msgspec.json.decode(response.body)
    if not isinstance(answer["result"], list):
        return response
    return json_response(200, answer | {"result": [], "message": message})


def _cut(body: bytes) -> bytes:
    return body[: len(body) // 2].decode("utf-8", "ignore").encode()
