"""Tells a record of the source from an element that stands in place of one.

An element of a list is a record only if a member of the contract has content: no denial, blank,
failure or text about the answer. Sources also put such texts, codes, flags and counts where a
record would be; ``portal.vehicle.notices`` judges those.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from portal.vehicle.drift import CONTRACT
from portal.vehicle.field import scalar_text
from portal.vehicle.statements import says, value_says
from portal.vehicle.wire import is_null_date, read_flag

FLAG: Final = "constaRenajud"
# What the source repeats of the question, or knows of the vehicle without any fine or order.
ECHO: Final = frozenset(
    {"placa", "renavam", "marcaModelo", "anoModelo", "anoFabricacao", "ufOrgaoAutuador"}
)
# In a record that denies, these members say whom the source asked.
_CONTEXT: Final = frozenset(
    {
        *("orgaoAutuador", "codigoOrgaoAutuador", "codigoMunicipioInfracao", "tipo"),
        *("tribunal", "orgaoJudiciario"),
    }
)
# What an order forbids, by the source. All else is of no matter where the flag denies the order.
OF_ORDER: Final = ("restricoes", "tipoBloqueio", "detalheRenajud")
# A code that has words, such as "BUSCA E APREENSAO", forbids something, too.
_CODE_OF_ORDER: Final = "codigoJudicial"
# The members that say what was recorded. A text of them may deny the record.
DENYING: Final = ("descricao", *OF_ORDER)
# Most records have content in one of these, so the other members need not be read.
_DECISIVE: Final = ("dataInfracao", "codigoInfracao", "valor", "marca", "restricoes")
# Members whose content is a number or a day. The marker of a hidden value is none.
_NUMERIC: Final = re.compile(
    r"(?:data|hora|valor|codigo|numero|ano|medicao|limite|capacidade)\w*"
    r"|autoInfracao|registro|pontos|processo|chassi|potencia|cilindradas|fipeId"
)
_DIGIT: Final = re.compile(r"[1-9]")
_WORD: Final = re.compile(r"[^\W\d_]{4}")
_ANY_WORD: Final = re.compile(r"[^\W\d_]{2}")
# What a text of a report says that tells of the vehicle.
_TELLING: Final = ("unknown", "denial")
# A code of the source's own, such as "0" or "99". The contract's codes have more digits.
_RETURN_CODE: Final = re.compile(r"0*[0-9]{1,3}")
_CODE: Final = re.compile(r"c[oó]d(?:igo)?|code|retorno|return", re.IGNORECASE)
_LONGEST_RETURN_TEXT: Final = 300


def is_record(members: Mapping[str, Any]) -> bool:
    """Return whether an element, or decode's own object, holds a record."""
    if (flag := recorded_flag(members)) is not None:
        return flag or _describes_order(members)
    if any(_has_content(name, members.get(name)) for name in _DECISIVE):
        return True
    names = _names()
    filled = [name for name in members if name in names and _has_content(name, members[name])]
    if all(name in _CONTEXT for name in filled):
        return bool(filled) and not any(map(_denies, map(members.get, DENYING)))
    # Beside a code of the source's own, the description is the text of the code.
    return filled != ["descricao"] or not _has_return_code(members)


def is_report(members: Mapping[str, Any]) -> bool:
    """Return whether a written report says something of the vehicle.

    It may say so in a member of any name. Its texts deny by their nature ("Nada consta"), so only a
    failure, a success and a blank say nothing.
    """
    return any(_tells(value) for name, value in members.items() if name not in ECHO)


def _tells(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_tells, value.values()))
        case list():
            return any(map(_tells, value))
        case str():
            return len(value) > _LONGEST_RETURN_TEXT or _tells_text(value)
        case _:
            return value is True


def _tells_text(text: str) -> bool:
    is_success = says(text) == "success"
    return bool(_ANY_WORD.search(text)) and value_says(text) in _TELLING and not is_success


def is_member(name: str) -> bool:
    """Return whether the contract has a member of this name in a record of any operation."""
    return name in _names() or name in ECHO or name == FLAG


def is_of_order(members: Mapping[str, Any]) -> bool:
    """Return whether an element has members of a court order."""
    return FLAG in members or any(name in members for name in OF_ORDER)


def recorded_flag(members: Mapping[str, Any]) -> bool | None:
    """Return whether an element says that there is an order, or None if it does not say."""
    return read_flag(members[FLAG]) if FLAG in members else None


class Contents(Struct, frozen=True):
    """The ``result`` of an answer, and which of its elements are records.

    ``remarks`` are the objects that are none. An element that is no object counts as a record.
    """

    result: object
    remarks: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, result: object) -> "Contents":
        elements = result if isinstance(result, list) else [result]
        objects = (element for element in elements if isinstance(element, dict))
        return cls(result, [element for element in objects if not is_record(element)])

    @property
    def has_records(self) -> bool:
        elements = len(self.result) if isinstance(self.result, list) else 1
        return len(self.remarks) < elements

    @property
    def without_remarks(self) -> object:
        """The ``result`` without the elements that are no records.

        An element whose flag denies an order stays, because pages show it.
        """
        left_out = {id(one) for one in self.remarks if recorded_flag(one) is not False}
        if not isinstance(self.result, list) or not left_out:
            return self.result
        return [element for element in self.result if id(element) not in left_out]


def _describes_order(members: Mapping[str, Any]) -> bool:
    if any(_has_content(name, members.get(name)) for name in OF_ORDER):
        return True
    code = scalar_text(members.get(_CODE_OF_ORDER))
    return bool(_WORD.search(code)) and value_says(code) == "unknown"


@cache
def _names() -> frozenset[str]:
    """Return the contract's members of a record, of any operation, that may have content."""
    shapes: list[Any] = [
        shape[0] if isinstance(shape, list) else shape for shape in CONTRACT.values()
    ]
    return frozenset().union(*shapes) - ECHO - {FLAG}


def _has_content(name: str, value: Any) -> bool:
    match value:
        case dict():
            return any(_has_content(inner, inner_value) for inner, inner_value in value.items())
        case list():
            return any(_has_content(name, element) for element in value)
        case bool() | None:
            return value is True
        case _:
            return _is_content(name, scalar_text(value))


def _is_content(name: str, text: str) -> bool:
    if len(text) > _LONGEST_RETURN_TEXT:
        return True
    if not _NUMERIC.fullmatch(name):
        return value_says(text) == "unknown"
    if not _DIGIT.search(text) or is_null_date(text):
        return False
    if name.startswith("codigo") and _RETURN_CODE.fullmatch(text):
        return False
    return not _WORD.search(text) or value_says(text) == "unknown"


def _denies(value: Any) -> bool:
    return value_says(scalar_text(value)) == "denial"


def _has_return_code(members: Mapping[str, Any]) -> bool:
    """Return whether a code, or the text of one, stands beside the contract's members."""
    return any(
        _CODE.search(name) and (name not in _names() or _RETURN_CODE.fullmatch(scalar_text(value)))
        for name, value in members.items()
        if scalar_text(value)
    )
