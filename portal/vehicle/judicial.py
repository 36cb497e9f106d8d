"""Reads a vehicle's court restrictions from an answer of the lookup "renajud"."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

from msgspec import Struct
from msgspec.structs import replace

from portal.vehicle import wire
from portal.vehicle.field import Field
from portal.vehicle.further import NOTHING, Contract, Further, further_of
from portal.vehicle.statements import Says, value_says
from portal.vehicle.wire import Sent

_RENAJUD_SINCE = 2008
# Where the flag denies an order, a text about the answer ("Consulta realizada") states none.
_WORDS: Final = re.compile(r"[^\W\d_]{4}")
# Members that say where an order comes from, and not what it forbids.
_OF_THE_COURT: Final = re.compile(
    r"\b(VARA|COMARCA|JUIZ|JUIZO|FORO|TRIBUNAL|CIDADE|MUNICIPIO|UF|USUARIO|CARTORIO|SECAO|SEGMENTO)$"
)
_NO_ORDER: frozenset[Says] = frozenset({"denial", "success"})


def _included(raw: object) -> datetime | None:
    """Read the day of inclusion. A day before Renajud began proves nothing, and is read as None."""
    moment = wire.read_moment(raw)
    return moment if moment is not None and moment.year >= _RENAJUD_SINCE else None


class Restriction(Struct, frozen=True):
    """A court restriction.

    ``recorded`` is the upstream's flag that says whether there is a restriction, or None if
    unknown. The flag may contradict other fields. ``included_at`` is a naive datetime in the
    upstream's local time. A day without a time is read as midnight.
    """

    plate: Annotated[Field, Sent("placa")]
    renavam: Annotated[Field, Sent("renavam")]
    make_model: Annotated[Field, Sent("marcaModelo")]
    model_year: Annotated[Field, Sent("anoModelo")]
    built_year: Annotated[Field, Sent("anoFabricacao")]
    court: Annotated[Field, Sent("tribunal")]
    court_body: Annotated[Field, Sent("orgaoJudiciario")]
    case: Annotated[Field, Sent("processo")]
    case_year: Annotated[Field, Sent("anoProcesso")]
    kinds_text: Annotated[Field, Sent("restricoes", text=wire.flat_text)]
    judicial_code: Annotated[Field, Sent("codigoJudicial", text=wire.flat_text)]
    included_at: Annotated[datetime | None, Sent("dataInclusao", _included)]
    included_at_text: Annotated[Field, Sent("dataInclusao", text=wire.date_text)]
    protocol: Annotated[Field, Sent("numeroProtocolo")]
    protocol_year: Annotated[Field, Sent("anoProtocolo")]
    letter: Annotated[Field, Sent("numeroOficio")]
    letter_year: Annotated[Field, Sent("anoOficio")]
    block_type: Annotated[Field, Sent("tipoBloqueio", text=wire.flat_text)]
    detail: Annotated[Field, Sent("detalheRenajud", text=wire.flat_text)]
    recorded: Annotated[bool | None, Sent("constaRenajud", wire.read_flag, shape="flag")]
    further: Further = NOTHING

    @property
    def further_texts(self) -> tuple[Field, ...]:
        """The texts of members that the contract does not have, which say more of the order."""
        return tuple(
            Field(statement.text)
            for statement in self.further.statements
            if not (
                statement.is_denied
                or statement.is_flag
                or statement.is_of_person
                or statement.is_withheld
                or not statement.names
                or _OF_THE_COURT.search(statement.names)
            )
        )

    @property
    def further_names(self) -> tuple[str, ...]:
        """The names, with their values, of further members that affirm what they name."""
        return tuple(
            statement.names if statement.is_flag else f"{statement.names}: {statement.text}"
            for statement in self.further.statements
            if statement.names
            and not (statement.is_denied or statement.is_of_person or statement.is_withheld)
        )

    @property
    def is_lifted(self) -> bool:
        """Whether ``recorded`` is False and no other field states or hides a restriction."""
        return self.recorded is False and self._states_nothing

    @property
    def is_denied(self) -> bool:
        """Whether a text says that there is no restriction, and no other field states one."""
        return self._states_nothing and "denial" in map(_says, self._statements)

    @property
    def _statements(self) -> tuple[Field, ...]:
        return (self.kinds_text, self.block_type, self.detail)

    @property
    def _states_nothing(self) -> bool:
        has_no_detail = not self.detail.is_hidden and not any(map(str.isalnum, self.detail.value))
        return (
            all(
                field.state == "empty" or _says(field) in _NO_ORDER
                for field in (self.kinds_text, self.block_type)
            )
            and (has_no_detail or _says(self.detail) in _NO_ORDER)
            and not any(map(states_order, (self.judicial_code, *self.further_texts)))
        )


_CONTRACT: Final = Contract(wire.shape_of(Restriction))


def states_order(field: Field) -> bool:
    """Return whether a code or a further text has words that may forbid something.

    A word of four letters is none of a code, such as "TJ-0042A".
    """
    return bool(_WORDS.search(str(field))) and _says(field) not in (*_NO_ORDER, "blank")


def _says(field: Field) -> Says:
    return "unknown" if field.is_hidden else value_says(field.value)


def read_restrictions(result: object, marker: str) -> tuple[Restriction, ...]:
    """Read the records of an answer's ``result``, in unchanged order. Never raises."""
    return tuple(_restriction(members, marker) for members in wire.objects_of(result))


def _restriction(members: Mapping[str, object], marker: str) -> Restriction:
    read = wire.read_as(Restriction, members, marker)
    further = further_of(members, _CONTRACT, marker)
    return read if further is NOTHING else replace(read, further=further)
