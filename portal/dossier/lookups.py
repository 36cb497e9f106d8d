"""The Portuguese names of upstream operations, in pages, files and API answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.data_files import read_csv
from portal.law.act_matrix import VerdictPart
from portal.vehicle.operation_name import LOOKUPS, LookupName, OperationName


@dataclass(frozen=True, slots=True)
class OperationTexts:
    """The names of an upstream operation.

    ``part`` is the part of the verdict that depends on the operation's answer, or "".
    ``title`` is for the operator's page, and ``stored_title`` is for the privacy page.
    ``scope_word`` is for the operator's table of tokens. ``long_title`` labels the operation's
    checkbox in the forms for batches and tokens.
    """

    name: OperationName
    part: VerdictPart | Literal[""]
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
PARTS: Final[Mapping[LookupName, VerdictPart]] = {
    name: part for name in LOOKUPS if (part := OPERATION_TEXTS[name].part)
}
