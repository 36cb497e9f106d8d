"""The families of fictitious vehicles. A family is a model with its versions.

Names, engine powers and displacements are from the Brazilian market. FIPE is the Brazilian price
table for vehicles. All FIPE codes except 008190-6 are fictitious. The fictitious codes have valid
check digits, and begin like real codes of the same make.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

Fuel = Literal["flex", "gasoline", "diesel"]


@dataclass(frozen=True, slots=True)
class Version:
    """An entry of the price table. Its price is ``weight`` times the family's price.

    ``fipe_id`` is the FIPE code without leading zeros and hyphen, as the upstream sends the code:
    "81906" for 008190-6.
    """

    fipe_id: str
    text: str
    power_cv: int
    displacement_cc: int
    weight: float


@dataclass(frozen=True, slots=True)
class Family:
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


def _version(text: str) -> Version:
    fipe_id, name, power, displacement, weight = text.split(":")
    return Version(fipe_id, name, int(power), int(displacement), float(weight))


def _family(row: dict[str, str]) -> Family:
    return Family(
        make=row["make"],
        fipe_make=row["fipe_make"],
        registration=row["registration"],
        model=row["model"],
        vehicle_type=row["vehicle_type"],
        fuel=cast(Fuel, row["fuel"]),
        national=row["national"],
        passengers=row["passengers"],
        load=row["load"],
        gearbox=row["gearbox"],
        first_year=int(row["first_year"]),
        last_year=int(row["last_year"]),
        price=int(row["price"]),
        versions=tuple(_version(text) for text in row["versions"].split("|")),
    )


@cache
def families() -> tuple[Family, ...]:
    """Return all families, in the order of families.csv."""
    table = files(__package__).joinpath("families.csv").read_text(encoding="utf-8")
    return tuple(_family(row) for row in csv.DictReader(table.splitlines()))


def family_of(registration: str) -> Family:
    """Return the family of a ``registration``. Raises KeyError if it is unknown."""
    return {family.registration: family for family in families()}[registration]
