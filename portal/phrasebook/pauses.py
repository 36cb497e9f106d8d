"""Why a list waits, on its page, on the operator's and in messages."""

from collections.abc import Mapping
from typing import Final

# By the code of a pause (``portal.batch.model.Reason``).
PAUSES: Final[Mapping[str, str]] = {
    "owner": "Pausado por você",
    "day_limit": "O limite diário de consultas deste portal foi atingido",
    "token_limit": "O limite diário de consultas do seu acesso foi atingido",
    "budget": "O orçamento do mês acabou",
    "price": "A próxima consulta passaria do valor confirmado",
    "unreachable": "A fonte de dados não pode ser consultada agora",
    "busy": "A fonte de dados pediu uma pausa",
    "portal": "O portal está sem acesso aos próprios registros",
    "access": "O acesso não é mais aceito",
    "operator_refused": "A fonte de dados não aceitou o acesso deste portal",
    "no_credit": "A fonte de dados exige pagamento ou saldo",
}


def pause_words(reason: str) -> str:
    """Return why a list is paused, or "" without a reason."""
    return PAUSES.get(reason, "")
