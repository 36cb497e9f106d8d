"""The errors of the JSON API by their codes.

Responses are made from this table, and the API reference and the OpenAPI document show it. The
contract's paths have the same errors, without the codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

INVALID_PLATE: Final = "Por favor, informe uma placa válida."
UNAUTHORIZED: Final = "Não autorizado."
FORBIDDEN: Final = "Acesso negado!"
_BUSY: Final = "A fonte de dados pediu uma pausa. Tente de novo em instantes."
_HOW_TO_SEND: Final = "Envie o token sozinho em Authorization, sem Bearer, ou em at, não nos dois."
_LATER: Final = "Espere os segundos de Retry-After e repita."
_TELL_OPERATOR: Final = "Avise quem opera o portal; repetir não adianta."


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error's HTTP status, its message, and what the client can do.

    A response may have a message with more detail instead.
    """

    status: int
    message: str
    remedy: str


API_ERRORS: Final[Mapping[str, ApiError]] = {
    "plate_invalid": ApiError(
        400, INVALID_PLATE, "Confira a placa; repetir igual dá o mesmo erro."
    ),
    "parameter_unknown": ApiError(
        400,
        "Este endereço não tem este parâmetro, ou o corpo não tem este membro.",
        "Confira o nome; a mensagem sugere um parecido. Nada foi consultado.",
    ),
    "parameter_invalid": ApiError(
        400, "Um parâmetro tem um valor que não existe.", "A mensagem diz quais valores valem."
    ),
    "body_invalid": ApiError(
        400, "O corpo não tem a forma pedida.", "Envie o objeto JSON que a mensagem descreve."
    ),
    "batch_empty": ApiError(
        400,
        "Nenhuma placa nem Renavam válido no lote.",
        "Envie ao menos uma placa ou um Renavam válido.",
    ),
    "batch_too_long": ApiError(
        400, "O lote tem placas demais.", "Divida a lista em lotes menores."
    ),
    "idempotency_key_invalid": ApiError(
        400,
        "Idempotency-Key tem de 1 a 128 caracteres ASCII visíveis.",
        "Envie uma chave só, como um UUID.",
    ),
    "request_malformed": ApiError(
        400, "O pedido não foi entendido.", "Envie o corpo inteiro, com o tamanho declarado."
    ),
    "credential_missing": ApiError(401, UNAUTHORIZED, _HOW_TO_SEND),
    "credential_unknown": ApiError(401, UNAUTHORIZED, "Confira o token; o portal não o conhece."),
    "credential_refused": ApiError(
        401, UNAUTHORIZED, "Confira a sua credencial: a fonte de dados não a aceitou."
    ),
    "token_ended": ApiError(
        403, FORBIDDEN, "O token venceu ou foi revogado: peça outro a quem opera o portal."
    ),
    "scope_missing": ApiError(
        403, FORBIDDEN, "Peça a quem opera o portal um token com o escopo da operação."
    ),
    "access_refused": ApiError(
        403, FORBIDDEN, "A fonte de dados negou acesso à sua credencial; fale com ela."
    ),
    "path_unknown": ApiError(404, "Endereço não encontrado.", "Confira o caminho."),
    "batch_unknown": ApiError(
        404, "Lote não encontrado.", "Confira o identificador, ou o lote já foi apagado."
    ),
    "dossier_unknown": ApiError(
        404,
        "Este portal não emitiu um dossiê com este número.",
        "Confira o número; se está certo, não confie no papel.",
    ),
    "record_not_found": ApiError(
        404,
        "A fonte de dados não tem registro para o que foi pedido.",
        "A fonte não conhece o veículo; não repita.",
    ),
    "method_not_allowed": ApiError(
        405, "Método não permitido neste endereço.", "Use um dos métodos do cabeçalho Allow."
    ),
    "batch_state": ApiError(
        409,
        "O estado do lote não permite a ação.",
        "Leia state no lote; um lote cancelado não recomeça.",
    ),
    "lookup_not_asked": ApiError(
        409, "Este lote não pediu esta consulta.", "Crie um lote que a peça em ask."
    ),
    "body_too_large": ApiError(
        413, "O corpo do pedido passa de 256 KiB.", "Envie menos dados de uma vez."
    ),
    "body_type": ApiError(
        415,
        "O corpo do pedido deve ser application/json.",
        "Envie o cabeçalho Content-Type com application/json.",
    ),
    "idempotency_mismatch": ApiError(
        422,
        "Esta Idempotency-Key já foi usada com outro conteúdo.",
        "Use uma chave nova para cada pedido novo.",
    ),
    "daily_limit": ApiError(
        429,
        "O limite diário de consultas do seu acesso foi atingido.",
        "Espere até a 0h de Brasília. O que está guardado não conta no limite.",
    ),
    "too_many_requests": ApiError(429, "Pedidos demais. Aguarde um pouco.", _LATER),
    "upstream_limit": ApiError(429, _BUSY, _LATER),
    "internal_error": ApiError(
        500, "Erro interno do portal.", "Informe request_id a quem opera o portal."
    ),
    "pdf_unavailable": ApiError(
        501,
        "Falta neste servidor uma biblioteca para gerar o PDF.",
        "Baixe outro formato e avise quem opera o portal.",
    ),
    "upstream_bad_answer": ApiError(
        502,
        "A fonte de dados não deu uma resposta válida.",
        "Tente de novo em alguns minutos; a consulta pode ter sido cobrada.",
    ),
    "upstream_no_credit": ApiError(
        502,
        "A fonte de dados exige pagamento ou saldo. Avise quem contratou o acesso a ela.",
        "Avise quem contratou o acesso; repetir não adianta.",
    ),
    "answer_unconfirmed": ApiError(
        502,
        "A fonte de dados enviou um texto em vez de registros.",
        "Leia a mensagem: ela cita a fonte, que nada confirmou.",
    ),
    "upstream_unreachable": ApiError(
        503,
        "Nenhum endereço da fonte de dados pode ser consultado agora. Tente de novo em instantes.",
        _LATER,
    ),
    "upstream_busy": ApiError(503, _BUSY, _LATER),
    "upstream_access": ApiError(
        503,
        "A fonte de dados não aceitou o acesso deste portal. Avise quem o opera.",
        _TELL_OPERATOR,
    ),
    "portal_daily_limit": ApiError(
        503,
        "O limite diário de consultas deste portal foi atingido.",
        "Espere até a 0h de Brasília. O que está guardado não conta no limite.",
    ),
    "ledger_unavailable": ApiError(
        503,
        "O portal não conseguiu registrar a consulta e por isso não a fez. Tente de novo.",
        _LATER,
    ),
    "portal_unavailable": ApiError(
        503,
        "O portal não pode atender a este pedido neste momento. Tente de novo em instantes.",
        _LATER,
    ),
    "pdf_not_ready": ApiError(503, "O PDF não ficou pronto a tempo.", _LATER),
    "upstream_timeout": ApiError(
        504,
        "A fonte de dados demorou demais para responder.",
        "Repita uma vez; a consulta pode ter sido cobrada.",
    ),
    "not_stored": ApiError(
        504,
        "Não há resposta guardada para este pedido.",
        "Repita sem only-if-cached, o que pode custar uma consulta.",
    ),
}
