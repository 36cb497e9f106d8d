"""The Portuguese names of upstream operations, in pages, files and API answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.data_files import read_csv
from portal.law.act_matrix import Missing
from portal.vehicle.operation_name import LOOKUPS, LookupName, OperationName


@dataclass(frozen=True, slots=True)
class OperationTexts:
    """The names of an upstream operation.

    ``title`` is for the operator's page, and ``stored_title`` is for the privacy page.
    ``scope_word`` is for the operator's table of tokens. ``long_title`` labels the operation's
    checkbox in the forms for batches and tokens.
    """

    name: OperationName
    title: str
    stored_title: str
    scope_word: str
    long_title: str
    in_sentence: str


OPERATION_TEXTS: Final[Mapping[OperationName, OperationTexts]] = {
    texts.name: texts for texts in read_csv(__package__, "operations.csv", OperationTexts)
}
LOOKUP_WORDS: Final[Mapping[LookupName, str]] = {
    name: OPERATION_TEXTS[name].in_sentence for name in LOOKUPS
}
# The part of the verdict that depends on the lookup's answer.
PARTS: Final[Mapping[LookupName, Missing]] = {
    "decode": "decode",
    "renainf": "fines",
    "renajud": "restrictions",
}
