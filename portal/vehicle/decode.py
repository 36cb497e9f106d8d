"""Reads a vehicle's attributes and prices from an answer of the decode lookup."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Final

from msgspec import Struct
from msgspec.structs import replace

from portal.data_files import read_toml
from portal.vehicle import wire
from portal.vehicle.field import EMPTY, UNREAD, Field, fold, read_field, scalar_text
from portal.vehicle.further import NOTHING, Contract, Further, further_of
from portal.vehicle.statements import attribute_says, is_blank
from portal.vehicle.wire import Sent
from portal.wording import MONTHS, bare

# The labels of Decoded's attributes, in display order.
ATTRIBUTE_LABELS: Final = read_toml(__package__, "labels.toml", dict[str, dict[str, str]])[
    "attributes"
]
_ZERO_KM = re.compile(r"32000\b.*|ZERO KM|0 ?KM")
# A month as "3", "MAR", "março de 2024", "03/2024", "2024-03" or a day of it.
_MONTH_AND_YEAR = re.compile(r"(?:\d{1,2}/)?(\d{1,2}) ?[/.-] ?(\d{4}|\d{2})", re.ASCII)
_YEAR_AND_MONTH = re.compile(r"(\d{4})[/.-]?(\d{2})(?:[/.-]\d{2})?(?:T.*)?", re.ASCII)
_NAMED_MONTH = re.compile(r"([A-Z]{3,9})\.?(?:(?: DE | ?[/.-] ?| )(\d{4}|\d{2}))?")
_MONTH_NAMES: Final = tuple(bare(name) for name in MONTHS)
_NATIONAL = wire.TRUE_WORDS | {"NACIONAL"}
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})
_IMPORTED = wire.FALSE_WORDS | {"IMPORTADO"}


def _attribute(raw: object, marker: str) -> Field:
    field = read_field(raw, marker)
    if not field:
        return field
    match attribute_says(field.value):
        case "nothing":
            return EMPTY
        case "unread":
            return UNREAD
        case "value":
            return field


def _not_zero(raw: object, marker: str) -> Field:
    """Read a field in which databases write zeros for a missing value."""
    field = _attribute(raw, marker)
    return EMPTY if field and not field.value.strip("0.,- ") else field


def _positive(raw: object) -> int | None:
    return wire.read_integer(raw) or None


def _price(raw: object) -> Decimal | None:
    """Read a price in R$. Zero is read as None, because no vehicle costs R$ 0,00."""
    return wire.read_amount(raw) or None


def _as_sent(raw: object) -> object:
    return raw


def _entries(raw: object, marker: str) -> "tuple[FipeEntry, ...]":
    sent = wire.objects_of(raw)
    return tuple(wire.read_as(FipeEntry, members, marker) for members in sent if _is_entry(members))


def _is_entry(members: Mapping[str, object]) -> bool:
    """Return whether an element has anything of an entry, and is no text in place of one."""
    return any(members.get(name) not in _NOTHING for name in _ENTRY)


class PricePoint(Struct, frozen=True):
    """A month's price in R$, above zero. ``month`` is the first day of the month."""

    month: date
    value: Decimal
    predicted: bool


_MONTH: Final = {"mes": "text", "ano": "text", "valor": "text", "predicao": "flag"}


@dataclass(frozen=True)
class FipeEntry:
    """A possible entry for the vehicle in FIPE, the table of average vehicle prices.

    ``current`` is the current price in R$, or None (never zero) if unknown. ``sent_history`` is the
    field ``historicoPreco`` as sent. A list of vehicles does not read it, because it is long.
    """

    year: Annotated[int | None, Sent("ano", wire.read_year)]
    year_text: Annotated[Field, Sent("ano")]
    fipe_id: Annotated[Field, Sent("fipeId")]
    make: Annotated[Field, Sent("marca")]
    model: Annotated[Field, Sent("modelo")]
    version: Annotated[Field, Sent("versao")]
    fuel: Annotated[Field, Sent("combustivel")]
    current: Annotated[Decimal | None, Sent("valorAtual", _price)]
    current_text: Annotated[Field, Sent("valorAtual")]
    sent_history: Annotated[object, Sent("historicoPreco", _as_sent, shape=[_MONTH])] = field(
        hash=False
    )

    @cached_property
    def history(self) -> tuple[PricePoint, ...]:
        """Each month of ``sent_history`` that has a price, in the order of this field."""
        return _history(self.sent_history)

    @property
    def has_unread_price(self) -> bool:
        """Whether the source sends or hides a price that is no amount. A blank or zero is none."""
        text = self.current_text
        is_sent = not is_blank(text.value.strip("0., ")) or text.is_hidden
        return self.current is None and is_sent

    @property
    def is_zero_km(self) -> bool:
        """Whether the entry is for new vehicles, for which the table has the year 32000."""
        return bool(_ZERO_KM.fullmatch(fold(self.year_text.value)))


_ENTRY: Final = wire.shape_of(FipeEntry)
_PRICES: Final = "informacoesFipe"


class Decoded(Struct, frozen=True, dict=True):
    """A vehicle's data.

    A number that cannot be read is None. A field with the suffix ``_text`` has the upstream's text.
    ``further`` is what the members say that the contract does not name. ``unread`` are the source's
    words for a part that it could not read, or "". It is a part of the prices if
    ``is_unread_in_prices`` is true, and may be any part otherwise.
    """

    make: Annotated[Field, Sent("marca", text=_attribute)]
    description: Annotated[Field, Sent("descricao", text=_attribute)]
    plate: Annotated[Field, Sent("placa")]
    model_year: Annotated[int | None, Sent("anoModelo", wire.read_year)]
    model_year_text: Annotated[Field, Sent("anoModelo", text=_not_zero)]
    built_year: Annotated[int | None, Sent("anoFabricacao", wire.read_year)]
    built_year_text: Annotated[Field, Sent("anoFabricacao", text=_not_zero)]
    fuel: Annotated[Field, Sent("combustivel", text=_attribute)]
    vehicle_type: Annotated[Field, Sent("tipoVeiculo", text=_attribute)]
    chassis: Annotated[Field, Sent("chassi", text=_attribute)]
    power_cv: Annotated[int | None, Sent("potencia", _positive)]
    power_text: Annotated[Field, Sent("potencia", text=_not_zero)]
    displacement_cc: Annotated[int | None, Sent("cilindradas", _positive)]
    displacement_text: Annotated[Field, Sent("cilindradas", text=_not_zero)]
    passengers: Annotated[int | None, Sent("capacidadePassageiro", _positive)]
    passengers_text: Annotated[Field, Sent("capacidadePassageiro", text=_not_zero)]
    load: Annotated[Field, Sent("capacidadeCarga", text=_not_zero)]
    gearbox: Annotated[Field, Sent("caixaCambio", text=_not_zero)]
    national: Annotated[Field, Sent("nacional", text=_attribute)]
    fipe: Annotated[
        tuple[FipeEntry, ...],
        Sent(_PRICES, text=_entries, shape=[_ENTRY]),
    ]
    further: Further = NOTHING
    unread: str = ""
    is_unread_in_prices: bool = False

    @cached_property
    def texts(self) -> tuple[Field, ...]:
        """The texts of the attributes."""
        return tuple(getattr(self, name) for name in ATTRIBUTE_LABELS)

    @property
    def is_national(self) -> bool | None:
        """Whether the vehicle was built in Brazil ("SIM", "NACIONAL"). None if unknown."""
        word = fold(self.national.value)
        return word in _NATIONAL if word in _NATIONAL | _IMPORTED else None


_SHAPE: Final = wire.shape_of(Decoded)
_CONTRACT: Final = Contract(_SHAPE)


def read_decode(result: object, marker: str) -> Decoded:
    """Read the vehicle from an answer's ``result``. Never raises."""
    members = wire.members_of(result)
    read = wire.read_as(Decoded, members, marker)
    further = further_of(members, _CONTRACT, marker)
    return read if further is NOTHING else replace(read, further=further)


def unnamed_members(result: Mapping[str, object]) -> dict[str, object]:
    """Return what the contract does not name in a vehicle's data and in its prices."""
    unnamed = {name: raw for name, raw in result.items() if name not in _SHAPE}
    prices = result.get(_PRICES)
    if not isinstance(prices, list | dict | None):
        return unnamed | {_PRICES: prices}
    beside = [
        {name: raw for name, raw in entry.items() if name not in _ENTRY}
        for entry in wire.objects_of(prices)
        if not entry.keys() <= _ENTRY.keys()
    ]
    return unnamed | {_PRICES: beside} if beside else unnamed


def _history(raw: object) -> tuple[PricePoint, ...]:
    """Read the months of ``historicoPreco`` that have a date and a price."""
    elements = raw if isinstance(raw, list) else [raw]
    months = [_month_price(element) for element in elements if isinstance(element, dict)]
    return tuple([month for month in months if month is not None])


def _stated_month(raw: object) -> tuple[int | None, int | None]:
    """Return the month and the year of a text such as "MAR/24", each None if it has none."""
    text = fold(scalar_text(raw))
    if match := _YEAR_AND_MONTH.fullmatch(text):
        return int(match[2]), wire.read_year(match[1])
    if match := _MONTH_AND_YEAR.fullmatch(text):
        return int(match[1]), wire.read_year(match[2])
    match = _NAMED_MONTH.fullmatch(text)
    named = [n for n, name in enumerate(_MONTH_NAMES, 1) if match and name.startswith(match[1])]
    if match is None or len(named) != 1:
        return None, None
    return named[0], wire.read_year(match[2])


def _month_price(members: Mapping[str, object]) -> PricePoint | None:
    year, month = wire.read_year(members.get("ano")), wire.read_integer(members.get("mes"))
    value = wire.read_amount(members.get("valor"))
    if month is None or month > 12:
        month, stated = _stated_month(members.get("mes"))
        year = year if stated is None or year == stated else None if year else stated
    if year is None or month is None or not 1 <= month <= 12 or not value:
        return None
    # If the flag ``predicao`` (prediction) is missing or unreadable, the price counts as real.
    return PricePoint(date(year, month, 1), value, wire.read_flag(members.get("predicao")) is True)
