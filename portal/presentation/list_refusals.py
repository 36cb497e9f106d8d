"""Says why a list of vehicles cannot become a batch, on pages and in answers of the API."""

from typing import Final

from portal.batch.model import MOST_DRAFTS
from portal.batch.uploads import BinaryFormat
from portal.data_files import read_toml
from portal.desk.lists import ListRefused
from portal.presentation.wrong_entries import first_message

_BINARY_FILES: Final = read_toml(__package__, "binary_files.toml", dict[BinaryFormat, str])
NOTHING_ASKED: Final = "Escolha ao menos uma consulta."
NOTHING_GIVEN: Final = "Informe ao menos uma placa ou um Renavam."
NOTHING_VALID: Final = "Nada disso é placa nem Renavam. {}"
TOO_LONG: Final = "São {} placas; um lote tem no máximo {}."
TOO_MANY_DRAFTS: Final = (
    f"Você tem {MOST_DRAFTS} lotes a conferir, e nenhum é apagado para dar lugar a outro. Comece "
    "ou descarte um deles, abaixo; cada um vence em 24 horas."
)


def refusal_sentence(refused: ListRefused) -> str:
    match refused.problem:
        case "binary":
            return _BINARY_FILES[refused.format]
        case "nothing_asked":
            return NOTHING_ASKED
        case "empty":
            hint = first_message(refused.wrong)
            return NOTHING_VALID.format(hint) if hint else NOTHING_GIVEN
        case "too_long":
            return TOO_LONG.format(refused.count, refused.limit)
        case "too_many_drafts":
            return TOO_MANY_DRAFTS
