"""The rows of "É este carro?": what the record says, and where on the vehicle to look.

The records alone are read. A row of which they say nothing is left out.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from portal.dossier.attributes import attribute_fields
from portal.dossier.dossier import Dossier
from portal.law.at_the_car import CAR_ROWS, Seen, by_row
from portal.law.findings import CarRow
from portal.phrasebook.at_the_car import IMPORTED, NATIONAL, ROW_WORDS, model_year_hint
from portal.vehicle.chassis import year_sign
from portal.vehicle.decode import Decoded
from portal.vehicle.field import Field
from portal.vehicle.plate import Plate
from portal.wording import counted

_SEVERAL: Final = " · "


class ShownRow(Struct, frozen=True):
    """A row. ``recorded`` is what the record says, and ``where`` where to look for it."""

    key: CarRow
    label: str
    recorded: str
    where: str
    seen: Seen | None

    @property
    def differs(self) -> bool:
        return self.seen is not None and self.seen.state == "differs"

    @property
    def matches(self) -> bool:
        return self.seen is not None and self.seen.state == "match"


def car_rows(dossier: Dossier) -> tuple[ShownRow, ...]:
    """Return the rows of which the records say something, and those that were seen to differ."""
    recorded = dict(_recorded(dossier)) if dossier.decoded else {}
    seen = by_row(dossier.seen)
    return tuple(
        ShownRow(key, ROW_WORDS[key].label, said, where, seen.get(key))
        for key in CAR_ROWS
        for said, where in [recorded.get(key, ("", ROW_WORDS[key].where))]
        if said or key in seen
    )


def _recorded(dossier: Dossier) -> Iterator[tuple[CarRow, tuple[str, str]]]:
    decoded = dossier.decoded
    assert decoded is not None
    shown, where = attribute_fields(decoded), {key: one.where for key, one in ROW_WORDS.items()}
    if isinstance(dossier.subject, Plate):
        yield "placa", (dossier.subject.display, where["placa"])
    body = _known(shown["vehicle_type"]).lower()
    name = str(dossier.name)
    if name:
        yield "modelo", (_SEVERAL.join(filter(None, (name, body))), where["modelo"])
    if decoded.model_year:
        years = dict.fromkeys(filter(None, (decoded.built_year, decoded.model_year)))
        sign = year_sign(decoded.model_year)
        hint = model_year_hint(sign) if sign else where["ano-modelo"]
        yield "ano-modelo", (" / ".join(map(str, years)), hint)
    if decoded.is_national is not None:
        words = NATIONAL if decoded.is_national else IMPORTED
        yield "procedencia", words
    engine = (_known(shown["fuel"]), _known(shown["displacement_text"]))
    if any(engine):
        yield "motor", (_SEVERAL.join(filter(None, engine)), where["motor"])
    if gearbox := _known(shown["gearbox"]):
        yield "cambio", (gearbox, where["cambio"])
    if seats := _seats(decoded):
        yield "lugares", (seats, where["lugares"])
    if power := _known(shown["power_text"]):
        yield "potencia", (power, where["potencia"])


def _known(field: Field) -> str:
    return str(field) if field.state == "known" else ""


def _seats(decoded: Decoded) -> str:
    if decoded.passengers:
        return counted(decoded.passengers, "lugar", "lugares")
    return _known(decoded.passengers_text)
