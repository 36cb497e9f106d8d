"""A vehicle's attributes, with their labels and units."""

from collections.abc import Mapping

from portal import formats
from portal.dossier.details import Detail, further_details
from portal.law.duties import duties_of
from portal.phrasebook import duties
from portal.vehicle.decode import ATTRIBUTE_LABELS, Decoded
from portal.vehicle.field import EMPTY, UNREAD, Field
from portal.vehicle.makes import make_name
from portal.vehicle.spelling import sentence


def line_of(decoded: Decoded) -> str:
    """Return a line with the known values of years, fuel, power and origin.

    For example: ``2014/2015 · gasolina · 180 cv · importado``.
    """
    years = [str(year) for year in (decoded.built_year, decoded.model_year) if year]
    parts = [
        "/".join(years),
        str(sentence(decoded.fuel)).lower().replace("gnv", "GNV"),
        str(_measured(decoded.power_text, decoded.power_cv, "cv")),
        str(_origin(decoded)).lower(),
    ]
    return " · ".join(part for part in parts if part)


def attribute_fields(decoded: Decoded) -> Mapping[str, Field]:
    """Return the attributes in ATTRIBUTE_LABELS as a page shows them, with units."""
    shown = {name: getattr(decoded, name) for name in ATTRIBUTE_LABELS} | {
        "make": _make(decoded.make),
        "fuel": sentence(decoded.fuel),
        "vehicle_type": sentence(decoded.vehicle_type),
        "gearbox": sentence(decoded.gearbox),
        "load": _load(decoded.load),
        "power_text": _measured(decoded.power_text, decoded.power_cv, "cv"),
        "displacement_text": _measured(decoded.displacement_text, decoded.displacement_cc, "cm³"),
        "national": _origin(decoded),
    }
    if not decoded.unread or decoded.is_unread_in_prices:
        return shown
    return {name: UNREAD if field.state == "empty" else field for name, field in shown.items()}


def attributes_of(decoded: Decoded) -> tuple[Detail, ...]:
    shown = attribute_fields(decoded)
    attributes = [Detail(label, shown[name]) for name, label in ATTRIBUTE_LABELS.items()]
    others = further_details(decoded.further)
    said = duties.words(duties_of(decoded))
    by_kind = [Detail("Deveres da espécie", Field(said))] if said else []
    return (*attributes, Detail("Placa na resposta", decoded.plate), *by_kind, *others)


def _measured(text: Field, number: int | None, unit: str) -> Field:
    """Return ``number`` with its unit, or ``text`` if there is no number.

    A ``text`` that means zero becomes EMPTY.
    """
    if number:
        return Field(f"{formats.integer(number)}\u00a0{unit}")
    return EMPTY if text and not text.value.strip("0., ") else text


def _make(make: Field) -> Field:
    return Field(make_name(make.value)) if make else make


def _load(load: Field) -> Field:
    """Append a note to a load without a unit: the source states no unit."""
    is_number = load.value.replace(".", "").replace(",", "").isdecimal()
    return Field(f"{load} (a fonte não diz a unidade)") if is_number else load


def _origin(decoded: Decoded) -> Field:
    match decoded.is_national:
        case True:
            return Field("Nacional")
        case False:
            return Field("Importado")
        case None:
            return sentence(decoded.national)
