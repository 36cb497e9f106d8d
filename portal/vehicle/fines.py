"""Reads fines from an answer of "renainf", the lookup in the register of fines."""

from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Annotated, Final

from portal.vehicle.field import Field
from portal.vehicle.wire import Record, read_as, records_of, sent

_TRAFFIC_CODE_SINCE: Final = date(1998, 1, 22)  # art. 340 of the CTB


def _day(record: Record, name: str) -> date | None:
    """Read a date. A date before the present traffic code proves nothing, and is read as None."""
    day = record.day(name)
    return day if day is not None and day >= _TRAFFIC_CODE_SINCE else None


def _points(record: Record, name: str) -> int:
    return record.integer(name) or 0


def _licence(record: Record, name: str) -> "Licence":
    return read_as(Licence, record.record(name))


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a driver (``cnhCondutor``) or an offender (``cnhInfrator``)."""

    points: Annotated[int, sent("pontos", _points)]
    number: Annotated[Field, sent("registro")]
    impediment: Annotated[Field, sent("impedimento")]
    ordinance: Annotated[Field, sent("portaria")]


@dataclass(frozen=True, slots=True)
class Fine:
    """One fine.

    A date, time or amount is None if the upstream's text cannot be read. A field with the suffix
    ``_text`` has the upstream's text. ``amount`` is in R$. The upstream often omits the cents
    ("130" for R$ 130,16), and ``portal.law`` restores them. Times are local times of the
    infraction's place.
    """

    code: Annotated[Field, sent("codigoInfracao")]
    description: Annotated[Field, sent("descricao")]
    notice: Annotated[Field, sent("autoInfracao")]
    place: Annotated[Field, sent("localInfracao")]
    municipality_code: Annotated[Field, sent("codigoMunicipioInfracao")]
    authority: Annotated[Field, sent("orgaoAutuador")]
    authority_code: Annotated[Field, sent("codigoOrgaoAutuador")]
    authority_state: Annotated[Field, sent("ufOrgaoAutuador")]
    kind: Annotated[Field, sent("tipo")]
    limit: Annotated[Field, sent("limitePermitido")]
    measured: Annotated[Field, sent("medicaoReal")]
    considered: Annotated[Field, sent("medicaoConsiderada")]
    make_model: Annotated[Field, sent("marcaModelo")]
    committed_on: Annotated[date | None, sent("dataInfracao", _day)]
    committed_on_text: Annotated[Field, sent("dataInfracao", Record.date_text)]
    committed_at: Annotated[time | None, sent("horaInfracao", Record.clock)]
    committed_at_text: Annotated[Field, sent("horaInfracao")]
    registered_on: Annotated[date | None, sent("dataCadastroInfracao", _day)]
    registered_on_text: Annotated[Field, sent("dataCadastroInfracao", Record.date_text)]
    notified_on: Annotated[date | None, sent("dataEmissaoNotificacao", _day)]
    notified_on_text: Annotated[Field, sent("dataEmissaoNotificacao", Record.date_text)]
    penalty_on: Annotated[date | None, sent("dataEmissaoPenalidade", _day)]
    penalty_on_text: Annotated[Field, sent("dataEmissaoPenalidade", Record.date_text)]
    amount: Annotated[Decimal | None, sent("valor", Record.amount)]
    amount_text: Annotated[Field, sent("valor")]
    paid_on: Annotated[date | None, sent("pagamento.dataPagamento", _day)]
    paid_on_text: Annotated[Field, sent("pagamento.dataPagamento", Record.date_text)]
    payment_registered_on_text: Annotated[Field, sent("pagamento.dataRegistro", Record.date_text)]
    paid_amount: Annotated[Decimal | None, sent("pagamento.valorPago", Record.amount)]
    paid_amount_text: Annotated[Field, sent("pagamento.valorPago")]
    paid_state: Annotated[Field, sent("pagamento.ufPagamento")]
    driver: Annotated[Licence, sent("cnhCondutor", _licence)]
    offender: Annotated[Licence, sent("cnhInfrator", _licence)]


def read_fines(result: object, marker: str) -> tuple[Fine, ...]:
    """Read the fines from an answer's ``result``, in unchanged order. Never raises."""
    return tuple(read_as(Fine, record) for record in records_of(result, marker))
