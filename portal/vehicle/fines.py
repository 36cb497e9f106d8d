"""Reads fines from an answer of "renainf", the lookup in the register of fines."""

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Annotated, Final

from msgspec import Struct
from msgspec.structs import replace

from portal.vehicle import wire
from portal.vehicle.field import Field
from portal.vehicle.further import NOTHING, Contract, Further, further_of
from portal.vehicle.wire import Sent, date_text

_TRAFFIC_CODE_SINCE: Final = date(1998, 1, 22)  # art. 340 of the CTB


def _day(raw: object) -> date | None:
    """Read a date. A date before the present traffic code proves nothing, and is read as None."""
    moment = wire.read_moment(raw)
    return moment.date() if moment and moment.date() >= _TRAFFIC_CODE_SINCE else None


def _points(raw: object) -> int:
    return wire.read_integer(raw) or 0


def _licence(raw: object, marker: str) -> "Licence":
    return wire.read_as(Licence, wire.members_of(raw), marker)


class Licence(Struct, frozen=True):
    """The licence of a driver (``cnhCondutor``) or an offender (``cnhInfrator``)."""

    points: Annotated[int, Sent("pontos", _points, shape="number")]
    number: Annotated[Field, Sent("registro")]
    impediment: Annotated[Field, Sent("impedimento")]
    ordinance: Annotated[Field, Sent("portaria")]


_LICENCE: Final = wire.shape_of(Licence)


class Fine(Struct, frozen=True):
    """One fine.

    A date, time or amount is None if the upstream's text cannot be read. A field with the suffix
    ``_text`` has the upstream's text. ``amount`` is in R$. The upstream often omits the cents
    ("130" for R$ 130,16), and ``portal.law`` restores them. Times are local times of the
    infraction's place.
    """

    code: Annotated[Field, Sent("codigoInfracao")]
    description: Annotated[Field, Sent("descricao")]
    notice: Annotated[Field, Sent("autoInfracao")]
    place: Annotated[Field, Sent("localInfracao")]
    municipality_code: Annotated[Field, Sent("codigoMunicipioInfracao")]
    authority: Annotated[Field, Sent("orgaoAutuador")]
    authority_code: Annotated[Field, Sent("codigoOrgaoAutuador")]
    authority_state: Annotated[Field, Sent("ufOrgaoAutuador")]
    kind: Annotated[Field, Sent("tipo")]
    limit: Annotated[Field, Sent("limitePermitido")]
    measured: Annotated[Field, Sent("medicaoReal")]
    considered: Annotated[Field, Sent("medicaoConsiderada")]
    make_model: Annotated[Field, Sent("marcaModelo")]
    committed_on: Annotated[date | None, Sent("dataInfracao", _day)]
    committed_on_text: Annotated[Field, Sent("dataInfracao", text=date_text)]
    committed_at: Annotated[time | None, Sent("horaInfracao", wire.read_clock)]
    committed_at_text: Annotated[Field, Sent("horaInfracao")]
    registered_on: Annotated[date | None, Sent("dataCadastroInfracao", _day)]
    registered_on_text: Annotated[Field, Sent("dataCadastroInfracao", text=date_text)]
    notified_on: Annotated[date | None, Sent("dataEmissaoNotificacao", _day)]
    notified_on_text: Annotated[Field, Sent("dataEmissaoNotificacao", text=date_text)]
    penalty_on: Annotated[date | None, Sent("dataEmissaoPenalidade", _day)]
    penalty_on_text: Annotated[Field, Sent("dataEmissaoPenalidade", text=date_text)]
    amount: Annotated[Decimal | None, Sent("valor", wire.read_amount)]
    amount_text: Annotated[Field, Sent("valor")]
    paid_on: Annotated[date | None, Sent("pagamento.dataPagamento", _day)]
    paid_on_text: Annotated[Field, Sent("pagamento.dataPagamento", text=date_text)]
    payment_registered_on_text: Annotated[Field, Sent("pagamento.dataRegistro", text=date_text)]
    paid_amount: Annotated[Decimal | None, Sent("pagamento.valorPago", wire.read_amount)]
    paid_amount_text: Annotated[Field, Sent("pagamento.valorPago")]
    paid_state: Annotated[Field, Sent("pagamento.ufPagamento")]
    driver: Annotated[Licence, Sent("cnhCondutor", text=_licence, shape=_LICENCE)]
    offender: Annotated[Licence, Sent("cnhInfrator", text=_licence, shape=_LICENCE)]
    further: Further = NOTHING


_CONTRACT: Final = Contract(wire.shape_of(Fine))


def read_fines(result: object, marker: str) -> tuple[Fine, ...]:
    """Read the fines from an answer's ``result``, in unchanged order. Never raises."""
    return tuple(_fine(members, marker) for members in wire.objects_of(result))


def _fine(members: Mapping[str, object], marker: str) -> Fine:
    read = wire.read_as(Fine, members, marker)
    further = further_of(members, _CONTRACT, marker)
    return read if further is NOTHING else replace(read, further=further)
