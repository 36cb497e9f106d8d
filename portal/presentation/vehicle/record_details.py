"""The fields of fines and court restrictions that no other view model shows.

With these fields, a page shows every field of a record.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from portal.law import FineAssessment, court_body_name, excess_of, is_speeding
from portal.presentation import formats
from portal.presentation.source_text import sentence
from portal.vehicle import (
    EMPTY,
    Field,
    Fine,
    Licence,
    Restriction,
    VehicleIdentity,
    differing_fields,
    fold,
)

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


@dataclass(frozen=True, slots=True)
class DetailList:
    """The fields of a record.

    ``shown`` has the fields that the source sends or marks as hidden. ``blank`` has the labels of
    the fields that the source leaves blank.
    """

    shown: tuple[Detail, ...]
    blank: tuple[str, ...]

    @classmethod
    def of(cls, details: Iterable[Detail]) -> "DetailList":
        listed = tuple(details)
        return cls(
            shown=tuple(one for one in listed if one.field.state != "empty"),
            blank=tuple(one.label for one in listed if one.field.state == "empty"),
        )


@dataclass(frozen=True, slots=True)
class FineDetails:
    """The parts of a fine's record that a page shows besides the legal assessment.

    ``speeds`` has the legal limit and the measured values, usually in km/h. ``other`` has the
    fields that the page shows nowhere else. ``notes`` are sentences on contradictions, for example
    that the record describes another vehicle.
    """

    speeds: tuple[Detail, ...]
    payment: tuple[Detail, ...]
    other: DetailList
    notes: tuple[str, ...]
    names_other_vehicle: bool


@dataclass(frozen=True, slots=True)
class RestrictionDetails:
    protocol: Field
    letter: Field
    detail: Field
    other: DetailList
    notes: tuple[str, ...]


def fine_details(fine: Fine, law: FineAssessment, vehicle: VehicleIdentity | None) -> FineDetails:
    """Return the details of a fine.

    If the record describes a vehicle that differs from ``vehicle``, the details contain a note.
    """
    speeds, speed_note = _speeds(fine, law)
    other_car = _other_vehicle(fine, vehicle, "o órgão autuador")
    return FineDetails(
        speeds=speeds,
        payment=tuple(_payment(fine, law)),
        other=DetailList.of(_other_of_fine(fine)),
        notes=tuple(filter(None, (law.description_note, speed_note, other_car))),
        names_other_vehicle=bool(other_car),
    )


def restriction_details(record: Restriction, vehicle: VehicleIdentity | None) -> RestrictionDetails:
    """Return the details of a court restriction.

    If the record describes a vehicle that differs from ``vehicle``, the details contain a note.
    """
    return RestrictionDetails(
        protocol=_numbered(record.protocol, record.protocol_year),
        letter=_numbered(record.letter, record.letter_year),
        detail=_detail(record.detail),
        other=DetailList.of(_other_of_restriction(record)),
        notes=tuple(filter(None, (_other_vehicle(record, vehicle, "o juízo e o Detran"),))),
    )


def _speeds(fine: Fine, law: FineAssessment) -> tuple[tuple[Detail, ...], str]:
    fields = (fine.limit, fine.measured, fine.considered)
    if all(field.state == "empty" for field in fields):
        return (), ""
    are_speeds = law.infraction is not None and is_speeding(law.infraction.code)
    unit = "km/h" if are_speeds else "(a fonte não diz a unidade)"
    excess = excess_of(law.infraction, fine.limit, fine.considered)
    labels = ("Limite", "Medido", "Considerado (após a tolerância)")
    details = [
        Detail(label, _with_unit(field, unit)) for label, field in zip(labels, fields, strict=True)
    ]
    if are_speeds and excess.over is not None and excess.over > 0:
        over = formats.percent(excess.over, 0)
        details.append(Detail("Acima do limite", Field(over, "known")))
    return tuple(details), excess.note if are_speeds else ""


def _with_unit(field: Field, unit: str) -> Field:
    """Add the unit to a number, but not to a text such as "80 km/h"."""
    is_number = field.value.replace(",", "").replace(".", "").isdecimal()
    return Field(f"{field.value} {unit}", "known") if is_number else field


def _payment(fine: Fine, law: FineAssessment) -> Iterator[Detail]:
    """Yield the fields about a payment, or nothing if all are blank.

    A zero amount counts as blank.
    """
    amount = EMPTY if fine.paid_amount == 0 else fine.paid_amount_text
    fields = (fine.paid_on_text, amount, fine.payment_registered_on_text, fine.paid_state)
    if all(field.state == "empty" for field in fields):
        return
    paid = Field(law.paid.words, "known") if law.paid.words else amount
    yield Detail("Pagamento", fine.paid_on_text)
    yield Detail("Valor pago", paid)
    yield Detail("Pagamento registrado em", fine.payment_registered_on_text)
    yield Detail("Estado do pagamento", fine.paid_state)


def _other_of_fine(fine: Fine) -> Iterator[Detail]:
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


def _other_of_restriction(record: Restriction) -> Iterator[Detail]:
    flag = {True: Field("sim", "known"), False: Field("não", "known"), None: EMPTY}
    yield Detail("Consta no Renajud, pela fonte", flag[record.recorded])
    yield Detail("Tribunal, como a fonte escreve", record.court)
    if str(record.court_body) != court_body_name(str(record.court_body)):
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


def _numbered(number: Field, year: Field) -> Field:
    """Join a number and its year: "123/2024"."""
    if number and year.is_hidden:
        return Field(f"{number} (ano oculto pela fonte)", "known")
    return Field(f"{number}/{year}", "known") if number and year else number


def _detail(detail: Field) -> Field:
    if fold(detail.value) == _DETAIL_EXISTS:
        return Field("a fonte diz que há um detalhe no Renajud, sem trazê-lo", "known")
    return sentence(detail)


def _other_vehicle(record: Fine | Restriction, vehicle: VehicleIdentity | None, whom: str) -> str:
    differing = differing_fields(vehicle, record) if vehicle else ()
    return _OTHER_VEHICLE.format(what=" ".join(map(str, differing)), whom=whom) if differing else ""
