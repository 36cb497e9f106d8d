"""The texts about failed lookups and requests, for pages and for API answers."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from portal.dossier.answers import DAILY_LIMITS
from portal.gateway.lookup import FailureKind
from portal.presentation.api_errors import API_ERRORS
from portal.wording import NO_BREAK_SPACE


@dataclass(frozen=True, slots=True)
class Fault:
    """The texts for a failed lookup.

    ``code`` names the error of API answers in API_ERRORS. Pages show ``sentence``.
    """

    code: str
    sentence: str

    @property
    def status(self) -> int:
        return API_ERRORS[self.code].status


FAULTS: Final[dict[FailureKind, Fault]] = {
    "unreachable": Fault(
        "upstream_unreachable", "A fonte de dados não pode ser consultada neste momento."
    ),
    "too_slow": Fault("upstream_timeout", "A fonte de dados demorou demais para responder."),
    "bad_answer": Fault("upstream_bad_answer", "A fonte de dados não deu uma resposta válida."),
    "other_vehicle": Fault(
        "upstream_bad_answer", "A fonte de dados respondeu sobre outro veículo."
    ),
    "busy": Fault("upstream_busy", "A fonte de dados pediu uma pausa nas consultas."),
    "operator_refused": Fault(
        "upstream_access",
        "A fonte de dados não aceitou o acesso deste portal; quem o opera precisa verificar.",
    ),
    "no_credit": Fault(
        "upstream_no_credit",
        "A fonte de dados exige pagamento ou saldo; quem contratou o acesso precisa verificar.",
    ),
    "refused_401": Fault("credential_refused", "A fonte de dados não aceitou a sua credencial."),
    "refused_403": Fault("access_refused", "A fonte de dados negou acesso à sua credencial."),
    "not_found": Fault("record_not_found", "A fonte de dados não tem registro para esta consulta."),
    "day_limit": Fault(
        "portal_daily_limit", "O limite diário de consultas deste portal foi atingido."
    ),
    "token_limit": Fault("daily_limit", "O limite diário de consultas do seu acesso foi atingido."),
    # Only a batch fails with "price", and no API answer is about one of its lookups.
    "price": Fault("internal_error", "A consulta passaria do valor confirmado para o lote."),
    "not_stored": Fault("not_stored", "Ainda não consultado."),
    "no_ledger": Fault(
        "ledger_unavailable", "O portal não conseguiu registrar a consulta e por isso não a fez."
    ),
}

# A lookup fails with one of these kinds if a daily limit is reached. The limits are reset at
# midnight.


def back_at_midnight(left_s: float) -> str:
    """Return ``Volta à 0h (em 4 h).`` ("available again at midnight, in 4 hours").

    ``left_s`` is the number of seconds until midnight.
    """
    minutes = max(1, ceil(left_s / 60))
    span = f"{round(minutes / 60)}{NO_BREAK_SPACE}h"
    if minutes < 60:
        span = f"{minutes}{NO_BREAK_SPACE}min"
    return f"Volta à 0h (em {span})."


def sentence_about(kind: FailureKind, retry_after_s: float | None) -> str:
    """Return the sentence that a page shows about a failure.

    For a failure in DAILY_LIMITS, a second sentence says when the limit is reset.
    ``retry_after_s`` is the number of seconds until then. If it is None, the second sentence is
    left out.
    """
    sentence = FAULTS[kind].sentence
    if kind in DAILY_LIMITS and retry_after_s is not None:
        return f"{sentence} {back_at_midnight(retry_after_s)}"
    return sentence


# Maps an HTTP status to the title and advice of the error page.
ERROR_PAGES: Final[dict[int, tuple[str, str]]] = {
    400: ("Pedido não entendido", "Confira o endereço ou os dados enviados e tente de novo."),
    401: ("É preciso entrar", "Entre com o seu token para ver dados de veículos."),
    403: ("Acesso negado", "O seu acesso não permite isto. Fale com quem opera o portal."),
    404: ("Página não encontrada", "Confira o endereço, ou procure o veículo pela placa."),
    405: (
        "Ação não permitida",
        "Volte à página anterior e use os botões dela.",
    ),
    410: ("Não existe mais", "Este dossiê venceu, foi revogado ou foi excluído."),
    413: ("Conteúdo grande demais", "Envie menos dados de uma vez."),
    415: ("Tipo de conteúdo não aceito", "Envie os dados no formato pedido."),
    429: (
        "Pedidos demais",
        "Foram muitos em pouco tempo. Espere um pouco e tente de novo.",
    ),
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
