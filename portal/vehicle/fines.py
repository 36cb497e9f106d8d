"""Reads fines from an answer of "renainf", the lookup in the register of fines."""

from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Final

from portal.vehicle.field import Field
from portal.vehicle.wire import Record, records_of

_TRAFFIC_CODE_SINCE: Final = date(1998, 1, 22)  # art. 340 of the CTB


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a driver (``cnhCondutor``) or an offender (``cnhInfrator``)."""

    points: int
    number: Field
    impediment: Field
    ordinance: Field


@dataclass(frozen=True, slots=True)
class Fine:
    """One fine.

    A date, time or amount is None if the upstream's text cannot be read. A field with the suffix
    ``_text`` has the upstream's text. ``amount`` is in R$. The upstream often omits the cents
    ("130" for R$ 130,16), and ``portal.law`` restores them. Times are local times of the
    infraction's place.
    """

    code: Field
    description: Field
    notice: Field
    place: Field
    municipality_code: Field
    authority: Field
    authority_code: Field
    authority_state: Field
    kind: Field
    limit: Field
    measured: Field
    considered: Field
    make_model: Field
    committed_on: date | None
    committed_on_text: Field
    committed_at: time | None
    committed_at_text: Field
    registered_on: date | None
    registered_on_text: Field
    notified_on: date | None
    notified_on_text: Field
    penalty_on: date | None
    penalty_on_text: Field
    amount: Decimal | None
    amount_text: Field
    paid_on: date | None
    paid_on_text: Field
    payment_registered_on_text: Field
    paid_amount: Decimal | None
    paid_amount_text: Field
    paid_state: Field
    driver: Licence
    offender: Licence


def read_fines(result: object, marker: str) -> tuple[Fine, ...]:
    """Read the fines from an answer's ``result``, in unchanged order. Never raises."""
    return tuple(_fine(record) for record in records_of(result, marker))


def _fine(record: Record) -> Fine:
    payment = record.record("pagamento")
    return Fine(
        code=record.text("codigoInfracao"),
        description=record.text("descricao"),
        notice=record.text("autoInfracao"),
        place=record.text("localInfracao"),
        municipality_code=record.text("codigoMunicipioInfracao"),
        authority=record.text("orgaoAutuador"),
        authority_code=record.text("codigoOrgaoAutuador"),
        authority_state=record.text("ufOrgaoAutuador"),
        kind=record.text("tipo"),
        limit=record.text("limitePermitido"),
        measured=record.text("medicaoReal"),
        considered=record.text("medicaoConsiderada"),
        make_model=record.text("marcaModelo"),
        committed_on=_day(record, "dataInfracao"),
        committed_on_text=record.date_text("dataInfracao"),
        committed_at=record.clock("horaInfracao"),
        committed_at_text=record.text("horaInfracao"),
        registered_on=_day(record, "dataCadastroInfracao"),
        registered_on_text=record.date_text("dataCadastroInfracao"),
        notified_on=_day(record, "dataEmissaoNotificacao"),
        notified_on_text=record.date_text("dataEmissaoNotificacao"),
        penalty_on=_day(record, "dataEmissaoPenalidade"),
        penalty_on_text=record.date_text("dataEmissaoPenalidade"),
        amount=record.amount("valor"),
        amount_text=record.text("valor"),
        paid_on=_day(payment, "dataPagamento"),
        paid_on_text=payment.date_text("dataPagamento"),
        payment_registered_on_text=payment.date_text("dataRegistro"),
        paid_amount=payment.amount("valorPago"),
        paid_amount_text=payment.text("valorPago"),
        paid_state=payment.text("ufPagamento"),
        driver=_licence(record.record("cnhCondutor")),
        offender=_licence(record.record("cnhInfrator")),
    )


def _day(record: Record, name: str) -> date | None:
    """Read a date. A date before the present traffic code proves nothing, and is read as None."""
    day = record.day(name)
    return day if day is not None and day >= _TRAFFIC_CODE_SINCE else None


def _licence(record: Record) -> Licence:
    return Licence(
        points=record.integer("pontos") or 0,
        number=record.text("registro"),
        impediment=record.text("impedimento"),
        ordinance=record.text("portaria"),
    )
