"""Checks whether a record is about the vehicle that the decode lookup found.

The decode lookup returns a vehicle's own data, such as plate and model. A fine or court order may
name another plate, make, model or year. The register is then wrong, or the plate may be cloned.
"""

from msgspec import Struct

from portal.vehicle.decode import Decoded
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction
from portal.vehicle.makes import is_same_maker, read_name, vehicle_name
from portal.vehicle.model_names import is_other_model as is_other_name
from portal.vehicle.plate import InvalidSubject, Plate


class VehicleIdentity(Struct, frozen=True):
    """A vehicle's plates, make, model and years from the decode lookup.

    ``plates`` has the plate in both formats (old and Mercosul). ``models`` has the registered model
    and the models of all price-table entries.
    """

    plates: frozenset[str]
    make: str
    models: tuple[str, ...]
    model_year: int | None
    built_year: int | None


def identity_of(decoded: Decoded) -> VehicleIdentity:
    name = vehicle_name(decoded)
    models = [name.model, *(f"{entry.model} {entry.version}" for entry in decoded.fipe)]
    return VehicleIdentity(
        plates=_spellings(decoded.plate.value),
        make=name.make,
        models=tuple(dict.fromkeys(model for model in models if model.strip())),
        model_year=decoded.model_year,
        built_year=decoded.built_year,
    )


def identity_of_name(make_model: Field) -> VehicleIdentity:
    """Return what a record's text such as "VW/GOL 1.0" says of the vehicle."""
    name = read_name(make_model.value)
    models = (name.model,) if name.make and name.model else ()
    return VehicleIdentity(frozenset(), name.make, models, None, None)


def is_other_model(identity: VehicleIdentity, make_model: Field) -> bool:
    """Return whether a text such as "VW/GOL 1.0" clearly names another make or model."""
    name = read_name(make_model.value)
    if not name.make or not identity.make:
        return False
    if not is_same_maker(name.make, identity.make):
        # If the table of makes lacks the vehicle's make, differing spellings prove nothing.
        return read_name(identity.make).make == identity.make
    return bool(identity.models) and all(
        is_other_name(name.model, known) for known in identity.models
    )


def is_other_year(known: int | None, text: Field) -> bool:
    """Return whether a record's year is readable and differs from the vehicle's year."""
    return known is not None and text.value.isdecimal() and int(text.value) not in (0, known)


def is_other_plate(identity: VehicleIdentity, plate: Field) -> bool:
    """Return whether a record's plate is readable and is not the vehicle's plate."""
    spellings = _spellings(plate.value)
    return bool(spellings and identity.plates) and not spellings & identity.plates


def differing_fields(identity: VehicleIdentity, record: Fine | Restriction) -> tuple[Field, ...]:
    """Return the fields of a record that name another plate, make, model or year.

    A year is returned with what it is the year of.
    """
    if isinstance(record, Fine):
        checks = [(record.make_model, is_other_model(identity, record.make_model))]
    else:
        checks = [
            (record.plate, is_other_plate(identity, record.plate)),
            (record.make_model, is_other_model(identity, record.make_model)),
            (
                Field(f"fabricação {record.built_year}"),
                is_other_year(identity.built_year, record.built_year),
            ),
            (
                Field(f"ano-modelo {record.model_year}"),
                is_other_year(identity.model_year, record.model_year),
            ),
        ]
    return tuple(field for field, differs in checks if differs)


def _spellings(text: str) -> frozenset[str]:
    try:
        plate = Plate.parse(text)
    except InvalidSubject:
        return frozenset()
    return frozenset({plate.text} | ({plate.twin.text} if plate.twin else set()))
