"""Reads a vehicle's court restrictions from an answer of the lookup "renajud"."""

import re
from dataclasses import dataclass
from datetime import datetime

from portal.vehicle.field import Field, fold
from portal.vehicle.wire import Record, records_of

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


@dataclass(frozen=True, slots=True)
class Restriction:
    """A court restriction.

    ``recorded`` is the upstream's flag that says whether there is a restriction, or None if
    unknown. The flag may contradict other fields. ``included_at`` is a naive datetime in the
    upstream's local time. A day without a time is read as midnight.
    """

    plate: Field
    renavam: Field
    make_model: Field
    model_year: Field
    built_year: Field
    court: Field
    court_body: Field
    case: Field
    case_year: Field
    kinds_text: Field
    judicial_code: Field
    included_at: datetime | None
    included_at_text: Field
    protocol: Field
    protocol_year: Field
    letter: Field
    letter_year: Field
    block_type: Field
    detail: Field
    recorded: bool | None

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
    return tuple(_restriction(record) for record in records_of(result, marker))


def _included(record: Record) -> datetime | None:
    """Read the day of inclusion. A day before Renajud began proves nothing, and is read as None."""
    moment = record.moment("dataInclusao")
    return moment if moment is not None and moment.year >= _RENAJUD_SINCE else None


def _restriction(record: Record) -> Restriction:
    return Restriction(
        plate=record.text("placa"),
        renavam=record.text("renavam"),
        make_model=record.text("marcaModelo"),
        model_year=record.text("anoModelo"),
        built_year=record.text("anoFabricacao"),
        court=record.text("tribunal"),
        court_body=record.text("orgaoJudiciario"),
        case=record.text("processo"),
        case_year=record.text("anoProcesso"),
        kinds_text=record.flat_text("restricoes"),
        judicial_code=record.text("codigoJudicial"),
        included_at=_included(record),
        included_at_text=record.date_text("dataInclusao"),
        protocol=record.text("numeroProtocolo"),
        protocol_year=record.text("anoProtocolo"),
        letter=record.text("numeroOficio"),
        letter_year=record.text("anoOficio"),
        block_type=record.flat_text("tipoBloqueio"),
        detail=record.text("detalheRenajud"),
        recorded=record.flag("constaRenajud"),
    )
