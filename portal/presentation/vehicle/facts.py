"""A vehicle's attributes, with their labels and units."""

from collections.abc import Mapping
from dataclasses import dataclass

from portal.presentation import formats
from portal.presentation.panels import Panel, is_readable
from portal.presentation.render_context import RenderContext
from portal.presentation.source_text import sentence
from portal.presentation.vehicle.price_view import PriceView, price_view
from portal.presentation.vehicle.prices import Prices, prices_of
from portal.presentation.vehicle.query import Query
from portal.presentation.vehicle.record_details import Detail, DetailList
from portal.vehicle import (
    ATTRIBUTE_LABELS,
    EMPTY,
    HIDDEN,
    Decoded,
    Field,
    VehicleIdentity,
    VehicleName,
    identity_of,
    make_name,
    read_decode,
    vehicle_name,
)


@dataclass(frozen=True, slots=True)
class VehicleFacts:
    """The vehicle's own data, from the lookup "decode".

    ``query`` holds the visitor's choices for the price section.
    """

    identity: VehicleIdentity
    name: VehicleName
    line: str
    facts: tuple[Detail, ...]
    prices: Prices
    query: Query

    @property
    def listing(self) -> DetailList:
        return DetailList.of(self.facts)

    @property
    def price_view(self) -> PriceView | None:
        """The price section, or None if the answer has no price-table entry."""
        return price_view(self.prices, self.query)

    @property
    def describes(self) -> bool:
        """Whether the answer identifies a vehicle.

        True if the answer has a make or model, or a price-table entry with a model or version.
        """
        entries = [tab.entry for tab in self.prices.tabs]
        return bool(str(self.name)) or any(e.model or e.version for e in entries)


def vehicle_facts(panel: Panel, context: RenderContext) -> VehicleFacts | None:
    """Return the facts in an answer, or None if the answer is missing or unreadable."""
    if not is_readable(panel.result, "decode"):
        return None
    decoded = read_decode(panel.result, context.marker)
    return VehicleFacts(
        identity=identity_of(decoded),
        name=vehicle_name(decoded),
        line=_line(decoded),
        facts=_facts(decoded),
        prices=prices_of(decoded, context.today),
        query=context.query,
    )


def _line(decoded: Decoded) -> str:
    """Return a line with the known values of years, fuel, power and origin.

    For example: ``2014/2015 · gasolina · 180 cv · importado``.
    """
    years = [str(year) for year in (decoded.built_year, decoded.model_year) if year]
    parts = [
        "/".join(years),
        str(sentence(decoded.fuel)).lower(),
        str(_measured(decoded.power_text, decoded.power_cv, "cv")),
        str(_origin(decoded)).lower(),
    ]
    return " · ".join(part for part in parts if part)


def fact_fields(decoded: Decoded) -> Mapping[str, Field]:
    """Return the attributes in ATTRIBUTE_LABELS as a page shows them, with units."""
    return {name: getattr(decoded, name) for name in ATTRIBUTE_LABELS} | {
        "make": _make(decoded.make),
        "fuel": sentence(decoded.fuel),
        "vehicle_type": sentence(decoded.vehicle_type),
        "gearbox": sentence(decoded.gearbox),
        "load": _load(decoded.load),
        "power_text": _measured(decoded.power_text, decoded.power_cv, "cv"),
        "displacement_text": _measured(decoded.displacement_text, decoded.displacement_cc, "cm³"),
        "national": _origin(decoded),
    }


def _facts(decoded: Decoded) -> tuple[Detail, ...]:
    shown = fact_fields(decoded)
    attributes = [Detail(label, shown[name]) for name, label in ATTRIBUTE_LABELS.items()]
    return (*attributes, Detail("Placa na resposta", decoded.plate))


def _measured(text: Field, number: int | None, unit: str) -> Field:
    """Return ``number`` with its unit, or ``text`` if there is no number.

    A ``text`` that means zero becomes EMPTY.
    """
    if number:
        return Field(f"{formats.integer(number)}\u00a0{unit}", "known")
    if text.is_hidden:
        return HIDDEN
    return text if text.value.strip("0., ") else EMPTY


def _make(make: Field) -> Field:
    return Field(make_name(make.value), "known") if make else make


def _load(load: Field) -> Field:
    """Append a note to a load without a unit: the source states no unit."""
    is_number = load.value.replace(".", "").replace(",", "").isdecimal()
    return Field(f"{load} (a fonte não diz a unidade)", "known") if is_number else load


def _origin(decoded: Decoded) -> Field:
    match decoded.is_national:
        case True:
            return Field("Nacional", "known")
        case False:
            return Field("Importado", "known")
        case None:
            return sentence(decoded.national)
