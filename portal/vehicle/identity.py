"""Checks whether a record is about the vehicle that the decode lookup found.

The decode lookup returns a vehicle's own data, such as plate and model. A fine or court order may
name another plate, make, model or year. The register is then wrong, or the plate may be cloned.
"""

import re
from dataclasses import dataclass

from portal.vehicle.decode import Decoded
from portal.vehicle.field import Field, fold
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction
from portal.vehicle.makes import read_name, vehicle_name
from portal.vehicle.plate import InvalidSubject, Plate

# Matches a word of a model's name, but not an engine size ("1.0") or a valve count ("16V").
_MODEL_WORD = re.compile(r"(?![0-9.]{1,20}[A-Z]?\b)[A-Z0-9-]{2,}")

# The most letters of a name that does not go on in a longer name.
_SHORT = 3


@dataclass(frozen=True, slots=True)
class VehicleIdentity:
    """A vehicle's plates, make, model and years from the decode lookup.

    ``plates`` has the plate in both formats (old and Mercosul). ``model_words`` has the words of
    the registered model and of the models in all price-table entries.
    """

    plates: frozenset[str]
    make: str
    model_words: frozenset[str]
    model_year: int | None
    built_year: int | None


def identity_of(decoded: Decoded) -> VehicleIdentity:
    name = vehicle_name(decoded)
    models = [name.model, *(f"{entry.model} {entry.version}" for entry in decoded.fipe)]
    return VehicleIdentity(
        plates=_spellings(decoded.plate.value),
        make=name.make,
        model_words=_model_words(" ".join(models)),
        model_year=decoded.model_year,
        built_year=decoded.built_year,
    )


def is_other_model(identity: VehicleIdentity, make_model: Field) -> bool:
    """Return whether a text such as "VW/GOL 1.0" clearly names another make or model."""
    name = read_name(make_model.value)
    if not name.make or not identity.make:
        return False
    if name.make != identity.make:
        # If the table of makes lacks the vehicle's make, differing spellings prove nothing.
        return read_name(identity.make).make == identity.make
    words = _model_words(name.model)
    return bool(words and identity.model_words) and not any(
        _is_same(word, known) for word in words for known in identity.model_words
    )


def _is_same(word: str, known: str) -> bool:
    """Return whether two words name the same model. The longer word may go on: 320I, 320IA.

    A short word without digits does not: "GOL" is not "GOLF".
    """
    short = min(word, known, key=len)
    may_go_on = len(short) > _SHORT or any(map(str.isdecimal, short))
    return word == known or (may_go_on and (word.startswith(known) or known.startswith(word)))


def is_other_year(known: int | None, text: Field) -> bool:
    """Return whether a record's year is readable and differs from the vehicle's year."""
    return known is not None and text.value.isdecimal() and int(text.value) not in (0, known)


def is_other_plate(identity: VehicleIdentity, plate: Field) -> bool:
    """Return whether a record's plate is readable and is not the vehicle's plate."""
    spellings = _spellings(plate.value)
    return bool(spellings and identity.plates) and not spellings & identity.plates


def differing_fields(identity: VehicleIdentity, record: Fine | Restriction) -> tuple[Field, ...]:
    """Return the fields of a record that name another plate, make, model or year."""
    if isinstance(record, Fine):
        checks = [(record.make_model, is_other_model(identity, record.make_model))]
    else:
        checks = [
            (record.plate, is_other_plate(identity, record.plate)),
            (record.make_model, is_other_model(identity, record.make_model)),
            (record.built_year, is_other_year(identity.built_year, record.built_year)),
            (record.model_year, is_other_year(identity.model_year, record.model_year)),
        ]
    return tuple(field for field, differs in checks if differs)


def _spellings(text: str) -> frozenset[str]:
    try:
        plate = Plate.parse(text)
    except InvalidSubject:
        return frozenset()
    return frozenset({plate.text} | ({plate.twin.text} if plate.twin else set()))


def _model_words(text: str) -> frozenset[str]:
    return frozenset(_MODEL_WORD.findall(fold(text)))
