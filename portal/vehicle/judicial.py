"""Reads a vehicle's court restrictions from an answer of the lookup "renajud"."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from portal.vehicle.field import Field, fold
from portal.vehicle.wire import Record, read_as, records_of, sent

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


def _included(record: Record, name: str) -> datetime | None:
    """Read the day of inclusion. A day before Renajud began proves nothing, and is read as None."""
    moment = record.moment(name)
    return moment if moment is not None and moment.year >= _RENAJUD_SINCE else None


@dataclass(frozen=True, slots=True)
class Restriction:
    """A court restriction.

    ``recorded`` is the upstream's flag that says whether there is a restriction, or None if
    unknown. The flag may contradict other fields. ``included_at`` is a naive datetime in the
    upstream's local time. A day without a time is read as midnight.
    """

    plate: Annotated[Field, sent("placa")]
    renavam: Annotated[Field, sent("renavam")]
    make_model: Annotated[Field, sent("marcaModelo")]
    model_year: Annotated[Field, sent("anoModelo")]
    built_year: Annotated[Field, sent("anoFabricacao")]
    court: Annotated[Field, sent("tribunal")]
    court_body: Annotated[Field, sent("orgaoJudiciario")]
    case: Annotated[Field, sent("processo")]
    case_year: Annotated[Field, sent("anoProcesso")]
    kinds_text: Annotated[Field, sent("restricoes", Record.flat_text)]
    judicial_code: Annotated[Field, sent("codigoJudicial")]
    included_at: Annotated[datetime | None, sent("dataInclusao", _included)]
    included_at_text: Annotated[Field, sent("dataInclusao", Record.date_text)]
    protocol: Annotated[Field, sent("numeroProtocolo")]
    protocol_year: Annotated[Field, sent("anoProtocolo")]
    letter: Annotated[Field, sent("numeroOficio")]
    letter_year: Annotated[Field, sent("anoOficio")]
    block_type: Annotated[Field, sent("tipoBloqueio", Record.flat_text)]
    detail: Annotated[Field, sent("detalheRenajud")]
    recorded: Annotated[bool | None, sent("constaRenajud", Record.flag)]

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
    return tuple(read_as(Restriction, record) for record in records_of(result, marker))
