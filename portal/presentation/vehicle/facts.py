"""A vehicle's attributes, with labels and units."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from portal.presentation import formats
from portal.presentation.panels import Panel
from portal.presentation.vehicle.panel import RenderContext, is_readable
from portal.presentation.vehicle.prices import Prices, prices_of
from portal.system.local_time import local_date
from portal.vehicle import (
    ATTRIBUTE_LABELS,
    EMPTY,
    HIDDEN,
    Decoded,
    Field,
    VehicleName,
    read_decode,
    vehicle_name,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled attribute; ``field`` is known, empty or hidden."""

    label: str
    field: Field


@dataclass(frozen=True, slots=True)
class VehicleFacts:
    """The decoder's data; ``line`` is the short description under the name."""

    name: VehicleName
    line: str
    facts: tuple[Fact, ...]
    prices: Prices

    @property
    def describes(self) -> bool:
        """Whether the answer identifies the vehicle.

        It does with a make or model in the registration, or a model or version in the price table.
        """
        entries = [tab.entry for tab in self.prices.tabs]
        return bool(str(self.name)) or any(e.model or e.version for e in entries)


def vehicle_facts(panel: Panel, context: RenderContext) -> VehicleFacts | None:
    """The vehicle of an answer; None if there is none or it is unreadable."""
    if panel.body is None or not is_readable(panel, "decode"):
        return None
    return read_facts(panel.body, context.marker, context.today)


@lru_cache(64)
def read_facts(body: bytes, marker: str, today: date) -> VehicleFacts:
    """The facts of a readable answer, with its price charts.

    The cache key includes the day, because a prediction becomes an estimate of a past month.
    """
    decoded = read_decode(body, marker)
    return VehicleFacts(
        name=vehicle_name(decoded),
        line=_line(decoded),
        facts=_facts(decoded),
        prices=prices_of(decoded, today),
    )


def read_ahead(operation: str, panel: Panel, marker: str) -> None:
    """Fill the cache of ``read_facts`` while the page waits for other lookups."""
    if panel.body is None or panel.fetched_at is None:
        return
    if operation == "decode" and is_readable(panel, "decode"):
        read_facts(panel.body, marker, local_date(panel.fetched_at))


def _line(decoded: Decoded) -> str:
    """``2014/2015 · gasolina · 180 cv · importado``: only what is known."""
    years = [str(year) for year in (decoded.built_year, decoded.model_year) if year]
    parts = [
        "/".join(years),
        str(decoded.fuel).lower(),
        str(_measured(decoded.power_text, decoded.power_cv, "cv")),
        str(_origin(decoded)).lower(),
    ]
    return " · ".join(part for part in parts if part)


def fact_fields(decoded: Decoded) -> Mapping[str, Field]:
    """The attributes of ATTRIBUTE_LABELS as a page shows them, with their units."""
    return {name: getattr(decoded, name) for name in ATTRIBUTE_LABELS} | {
        "power_text": _measured(decoded.power_text, decoded.power_cv, "cv"),
        "displacement_text": _measured(decoded.displacement_text, decoded.displacement_cc, "cm³"),
        "national": _origin(decoded),
    }


def _facts(decoded: Decoded) -> tuple[Fact, ...]:
    shown = fact_fields(decoded)
    return tuple(Fact(label, shown[name]) for name, label in ATTRIBUTE_LABELS.items())


def _measured(text: Field, number: int | None, unit: str) -> Field:
    """The number with its unit.

    A text that is not a number stays unchanged. Zero is EMPTY.
    """
    if number:
        return Field(f"{formats.integer(number)}\u00a0{unit}", "known")
    if text.is_hidden:
        return HIDDEN
    return text if text.value.strip("0., ") else EMPTY


def _origin(decoded: Decoded) -> Field:
    match decoded.is_national:
        case True:
            return Field("Nacional", "known")
        case False:
            return Field("Importado", "known")
        case None:
            return decoded.national
