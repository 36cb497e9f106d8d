"""The fields of fines and court restrictions that no other view model shows.

With these fields, a page shows every field of a record.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from portal import formats
from portal.law import AssessedFine, AssessedOrder, excess_of, is_speeding
from portal.vehicle import EMPTY, Field, Licence, fold
from portal.vehicle.source_text import sentence

# Some answers have this text in place of a restriction's detail. The text means "a detail exists in
# Renajud" (the register of court restrictions).
_DETAIL_EXISTS: Final = "CONSTA DETALHE RENAJUD"
_OTHER_VEHICLE: Final = (
    "Este registro descreve outro veículo ({what}): erro de cadastro ou placa clonada? Confira "
    "com {whom} antes de comprar."
)


@dataclass(frozen=True, slots=True)
class Detail:
    label: str
    field: Field


def given(details: Iterable[Detail]) -> tuple[Detail, ...]:
    """Return the fields that the source sends or marks as hidden."""
    return tuple(one for one in details if one.field.state != "empty")


def blank(details: Iterable[Detail]) -> tuple[str, ...]:
    """Return the labels of the fields that the source leaves blank."""
    return tuple(one.label for one in details if one.field.state == "empty")


def fine_notes(fine: AssessedFine) -> tuple[str, ...]:
    """Return sentences on contradictions, such as that a record describes another vehicle."""
    whom = "o órgão autuador"
    return tuple(
        filter(None, (fine.wording.conflict, _speed_note(fine), _other_vehicle(fine, whom)))
    )


def order_notes(order: AssessedOrder) -> tuple[str, ...]:
    """Return sentences on contradictions, such as that a record describes another vehicle."""
    return tuple(filter(None, (_other_vehicle(order, "o juízo e o Detran"),)))


def _is_speeding(fine: AssessedFine) -> bool:
    return fine.infraction is not None and is_speeding(fine.infraction.code)


def _speed_note(fine: AssessedFine) -> str:
    record = fine.record
    fields = (record.limit, record.measured, record.considered)
    if not _is_speeding(fine) or all(field.state == "empty" for field in fields):
        return ""
    return excess_of(fine.infraction, record.limit, record.considered).note


def speeds(fine: AssessedFine) -> Iterator[Detail]:
    """Yield the legal limit and the measured values, usually in km/h."""
    record = fine.record
    fields = (record.limit, record.measured, record.considered)
    if all(field.state == "empty" for field in fields):
        return
    unit = "km/h" if _is_speeding(fine) else "(a fonte não diz a unidade)"
    labels = ("Limite", "Medido", "Considerado (após a tolerância)")
    for label, field in zip(labels, fields, strict=True):
        yield Detail(label, _with_unit(field, unit))
    excess = excess_of(fine.infraction, record.limit, record.considered)
    if _is_speeding(fine) and excess.over is not None and excess.over > 0:
        yield Detail("Acima do limite", Field(formats.percent(excess.over, 0), "known"))


def _with_unit(field: Field, unit: str) -> Field:
    """Add the unit to a number, but not to a text such as "80 km/h"."""
    is_number = field.value.replace(",", "").replace(".", "").isdecimal()
    return Field(f"{field.value} {unit}", "known") if is_number else field


def payment(fine: AssessedFine) -> Iterator[Detail]:
    """Yield the fields about a payment, or nothing if all are blank.

    A zero amount counts as blank.
    """
    record = fine.record
    amount = EMPTY if record.paid_amount == 0 else record.paid_amount_text
    fields = (record.paid_on_text, amount, record.payment_registered_on_text, record.paid_state)
    if all(field.state == "empty" for field in fields):
        return
    yield Detail("Pagamento", record.paid_on_text)
    yield Detail("Valor pago", Field(fine.paid.words, "known") if fine.paid.words else amount)
    yield Detail("Pagamento registrado em", record.payment_registered_on_text)
    yield Detail("Estado do pagamento", record.paid_state)


def other_of_fine(assessed: AssessedFine) -> Iterator[Detail]:
    """Yield the fields of a fine that a page shows nowhere else."""
    fine = assessed.record
    yield Detail("Código como veio", fine.code)
    yield Detail("Valor como veio", fine.amount_text)
    yield Detail("Código do órgão autuador", fine.authority_code)
    yield Detail("Código do município", fine.municipality_code)
    yield Detail("Veículo descrito", fine.make_model)
    yield from _licence("condutor", fine.driver)
    yield from _licence("infrator", fine.offender)


def _licence(whose: str, licence: Licence) -> Iterator[Detail]:
    points = Field(str(licence.points), "known") if licence.points else EMPTY
    yield Detail(f"CNH do {whose}", licence.number)
    yield Detail(f"Impedimento da CNH do {whose}", sentence(licence.impediment))
    yield Detail(f"Portaria da CNH do {whose}", licence.ordinance)
    yield Detail(f"Pontos na CNH do {whose}, pela fonte", points)


def other_of_order(order: AssessedOrder) -> Iterator[Detail]:
    """Yield the fields of a court order that a page shows nowhere else."""
    record = order.record
    flag = {True: Field("sim", "known"), False: Field("não", "known"), None: EMPTY}
    yield Detail("Consta no Renajud, pela fonte", flag[record.recorded])
    yield Detail("Tribunal, como a fonte escreve", record.court)
    if str(record.court_body) != order.court_body:
        yield Detail("Órgão judiciário, como a fonte escreve", record.court_body)
    yield Detail("Código judicial", record.judicial_code)
    yield Detail("Ano do processo", record.case_year)
    if not record.protocol:
        yield Detail("Ano do protocolo", record.protocol_year)
    if not record.letter:
        yield Detail("Ano do ofício", record.letter_year)
    yield Detail("Placa", record.plate)
    yield Detail("Renavam", record.renavam)
    yield Detail("Veículo descrito", record.make_model)
    yield Detail("Ano de fabricação", record.built_year)
    yield Detail("Ano-modelo", record.model_year)


def protocol(order: AssessedOrder) -> Field:
    return _numbered(order.record.protocol, order.record.protocol_year)


def letter(order: AssessedOrder) -> Field:
    return _numbered(order.record.letter, order.record.letter_year)


def _numbered(number: Field, year: Field) -> Field:
    """Join a number and its year: "123/2024"."""
    if number and year.is_hidden:
        return Field(f"{number} (ano oculto pela fonte)", "known")
    return Field(f"{number}/{year}", "known") if number and year else number


def court_detail(detail: Field) -> Field:
    if fold(detail.value) == _DETAIL_EXISTS:
        return Field("a fonte diz que há um detalhe no Renajud, sem trazê-lo", "known")
    return sentence(detail)


def _other_vehicle(record: AssessedFine | AssessedOrder, whom: str) -> str:
    if not record.differing:
        return ""
    return _OTHER_VEHICLE.format(what=" ".join(map(str, record.differing)), whom=whom)
