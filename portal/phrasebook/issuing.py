"""Why a dossier is not issued."""

from typing import Final

NOTHING_TO_ISSUE: Final = "Não há o que emitir"
NO_ANSWER: Final = (
    "Nenhuma consulta deste veículo tem resposta guardada, e um dossiê sem registros não prova "
    "nada. Consulte o veículo e emita depois."
)
PURGED: Final = (
    "Os dados deste veículo foram excluídos enquanto o dossiê era emitido. Nada foi emitido."
)
KEY_REUSED: Final = "Este pedido já emitiu outro dossiê"
ISSUE_AGAIN: Final = "Abra o veículo de novo e emita o dossiê pela página dele."
