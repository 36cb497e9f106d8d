"""Reads a vehicle's court restrictions from an answer of the lookup "renajud"."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from portal.vehicle import wire
from portal.vehicle.field import Field, fold
from portal.vehicle.wire import Sent

# In ``detail``, ``kinds_text`` or ``block_type``, a text such as "NADA CONSTA" ("nothing recorded")
# says that there is no restriction. The first word of such a text is in _DENYING_WORDS, and all
# other words are in _DENIED_WORDS. "NAO CONSTA BAIXA" ("no lifting recorded") says the opposite.
_DENYING_WORDS = "NADA NAO NENHUM NENHUMA SEM NEGATIVO NEGATIVA INEXISTENTE"
_DENIED_WORDS = """
CONSTA CONSTAM HA POSSUI EXISTE EXISTEM REGISTRO REGISTROS RESTRICAO RESTRICOES BLOQUEIO BLOQUEIOS
DETALHE DETALHES ENCONTRADA ENCONTRADAS ENCONTRADO ENCONTRADOS INFORMACAO INFORMACOES ORDEM ORDENS
BASE SISTEMA JUDICIAL JUDICIAIS RENAJUD VEICULO NO NA NOS PARA O A DE
"""
_RENAJUD_SINCE = 2008
_DENYING = frozenset(_DENYING_WORDS.split())
_DENIED = frozenset(_DENIED_WORDS.split())


def _included(raw: object) -> datetime | None:
    """Read the day of inclusion. A day before Renajud began proves nothing, and is read as None."""
    moment = wire.read_moment(raw)
    return moment if moment is not None and moment.year >= _RENAJUD_SINCE else None


@dataclass(frozen=True, slots=True)
class Restriction:
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
    judicial_code: Annotated[Field, Sent("codigoJudicial")]
    included_at: Annotated[datetime | None, Sent("dataInclusao", _included)]
    included_at_text: Annotated[Field, Sent("dataInclusao", text=wire.date_text)]
    protocol: Annotated[Field, Sent("numeroProtocolo")]
    protocol_year: Annotated[Field, Sent("anoProtocolo")]
    letter: Annotated[Field, Sent("numeroOficio")]
    letter_year: Annotated[Field, Sent("anoOficio")]
    block_type: Annotated[Field, Sent("tipoBloqueio", text=wire.flat_text)]
    detail: Annotated[Field, Sent("detalheRenajud")]
    recorded: Annotated[bool | None, Sent("constaRenajud", wire.read_flag, shape="flag")]

    @property
    def is_lifted(self) -> bool:
        """Whether ``recorded`` is False and no other field states or hides a restriction."""
        if self.recorded is not False:
            return False
        has_detail = self.detail.is_hidden or any(c.isalnum() for c in self.detail.value)
        stated = (self.kinds_text, self.block_type)
        return (not has_detail or _denies(self.detail)) and all(
            field.state == "empty" or _denies(field) for field in stated
        )


def _denies(field: Field) -> bool:
    words = re.findall(r"\w+", fold(field.value))
    return bool(words) and words[0] in _DENYING and _DENIED.issuperset(words[1:])


def read_restrictions(result: object, marker: str) -> tuple[Restriction, ...]:
    """Read the records of an answer's ``result``, in unchanged order. Never raises."""
    return tuple(wire.read_as(Restriction, members, marker) for members in wire.objects_of(result))
