"""The Portuguese names of upstream operations, in pages, files and API answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.law.act_matrix import Missing
from portal.vehicle.operation_name import LookupName, OperationName


@dataclass(frozen=True, slots=True)
class OperationTexts:
    """The names of an upstream operation.

    ``title`` is for the operator's page, and ``stored_title`` is for the privacy page.
    ``scope_word`` is for the operator's table of tokens. ``long_title`` labels the operation's
    checkbox in the forms for batches and tokens.
    """

    title: str
    stored_title: str
    scope_word: str
    long_title: str


OPERATION_TEXTS: Final[Mapping[OperationName, OperationTexts]] = {
    "decode": OperationTexts(
        title="Dados e FIPE",
        stored_title="Ficha do veículo",
        scope_word="dados",
        long_title="Dados do veículo e FIPE",
    ),
    "renainf": OperationTexts(
        title="Multas",
        stored_title="Multas",
        scope_word="multas",
        long_title="Multas (Renainf)",
    ),
    "renajud": OperationTexts(
        title="Restrições judiciais",
        stored_title="Restrições judiciais",
        scope_word="Justiça",
        long_title="Restrições judiciais (Renajud)",
    ),
    "report": OperationTexts(
        title="Análise escrita",
        stored_title="Análise escrita",
        scope_word="análise",
        long_title="Análise escrita",
    ),
}
# The words for a lookup within a sentence.
LOOKUP_WORDS: Final[Mapping[LookupName, str]] = {
    "decode": "dados do veículo",
    "renainf": "multas",
    "renajud": "restrições judiciais",
}
# The words for a lookup within a narrow cell of a table.
SHORT_LOOKUP_WORDS: Final[Mapping[LookupName, str]] = {
    "decode": "dados",
    "renainf": "multas",
    "renajud": "restrições",
}
# The part of the verdict that depends on the lookup's answer.
PARTS: Final[Mapping[LookupName, Missing]] = {
    "decode": "decode",
    "renainf": "fines",
    "renajud": "restrictions",
}
