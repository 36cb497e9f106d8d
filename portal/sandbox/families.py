"""The families of fictitious vehicles. A family is a model with its versions.

Names, database powers and displacements are from the Brazilian market. FIPE is the Brazilian price
table for vehicles. All FIPE codes except 008190-6 are fictitious. The fictitious codes have valid
check digits, and begin like real codes of the same make.
"""

from functools import cache
from typing import Literal

import msgspec

from portal.data_files import read_csv

Fuel = Literal["flex", "gasoline", "diesel"]


class Version(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the price table. Its price is ``weight`` times the family's price.

    ``fipe_id`` is the FIPE code without leading zeros and hyphen, as the upstream sends the code:
    "81906" for 008190-6.
    """

    fipe_id: str
    text: str
    power_cv: int
    displacement_cc: int
    weight: float


class Family(msgspec.Struct, frozen=True):
    """A model with its versions.

    ``registration`` is make and model as the vehicle registry spells them, such as "I/AUDI A3".
    ``load`` is the load capacity in kg, or "" if the upstream sends no value. ``price`` is the
    price in R$ that a vehicle of model year 2020 had in November 2026.
    """

    make: str
    fipe_make: str
    registration: str
    model: str
    vehicle_type: str
    fuel: Fuel
    national: str
    passengers: str
    load: str
    gearbox: str
    first_year: int
    last_year: int
    price: int
    versions: tuple[Version, ...]

    def fuel_of(self, version: Version) -> Fuel:
        """Return the fuel in a version's name, or the family's fuel if the name has none."""
        if "DIES" in version.text:
            return "diesel"
        return "flex" if "FLEX" in version.text else self.fuel

    @property
    def is_motorcycle(self) -> bool:
        return self.vehicle_type in {"Motocicleta", "Motoneta"}

    @property
    def is_truck(self) -> bool:
        return self.vehicle_type.startswith("Caminhão")


@cache
def families() -> tuple[Family, ...]:
    """Return all families, in the order of families.csv."""
    return tuple(
        msgspec.convert(
            {**row, "versions": [text.split(":") for text in row["versions"].split("|")]},
            Family,
            strict=False,
        )
        for row in read_csv(__package__, "families.csv", dict[str, str])
    )


def family_of(registration: str) -> Family:
    """Return the family of a ``registration``. Raises KeyError if it is unknown."""
    return {family.registration: family for family in families()}[registration]
