"""Generates fictitious vehicles. A hash of the plate determines the properties."""

import random
from dataclasses import dataclass
from datetime import date

from portal.sandbox.families import Family, Version, families, family_of
from portal.sandbox.price_history import price_history
from portal.sandbox.profile import Profile
from portal.sandbox.regions import draw_state
from portal.sandbox.rng import seeded_rng
from portal.vehicle.field import HIDDEN_MARKER
from portal.vehicle.plate import Plate, Renavam

_FIPE_FUEL = {"flex": "Flex", "gasoline": "Gasolina", "diesel": "Diesel"}
# The registry spells a fuel in several ways. A spelling that is listed twice is drawn more often.
_FUEL_SPELLINGS = {
    "flex": ("Alcool / Gasolina", "Alcool / Gasolina", "Flex"),
    "gasoline": ("Gasolina",),
    "diesel": ("Diesel",),
}


@dataclass(frozen=True, slots=True)
class Vehicle:
    """One fictitious vehicle.

    ``seed`` is the same for the old and the new (Mercosul) format of a plate. ``candidates`` are
    the price-table entries in the answer about the vehicle's data (``decode``). ``version`` is the
    entry that fits the vehicle. ``months`` is the length of the price history.
    """

    seed: str
    family: Family
    version: Version
    candidates: tuple[Version, ...]
    months: int
    model_year: int
    built_year: int
    home_state: str
    description: str
    fuel: str

    def draw_age(self, rng: random.Random, youngest: int, oldest: int, month: date) -> int | None:
        """Draw the age of an event in days, from ``youngest`` to ``oldest``.

        The age counts back from the date ``month``, and does not exceed the age of the vehicle.
        Returns None if the vehicle is too new for an event of age ``youngest``.
        """
        oldest = min(oldest, (month - date(self.built_year, 1, 1)).days)
        return rng.randint(youngest, oldest) if oldest >= youngest else None


def seed_of(subject: Plate | Renavam) -> str:
    """Return the text that determines the vehicle of ``subject``.

    If a plate in the new (Mercosul) format also has an old format, this text is the old format, so
    that both formats give the same vehicle. In all other cases, it is the plate or Renavam itself.
    """
    if isinstance(subject, Plate) and subject.is_mercosul and subject.twin is not None:
        return subject.twin.text
    return subject.text


def generate_vehicle(subject: Plate | Renavam, profile: Profile) -> Vehicle:
    """Return the vehicle of a plate or Renavam. Equal arguments give equal vehicles."""
    seed = seed_of(subject)
    rng = seeded_rng("vehicle", seed)
    drawn = rng.choice(families())
    family = family_of(profile.registration) if profile.registration else drawn
    years = range(family.first_year, family.last_year + 1)
    model_year = profile.model_year or rng.choice(years)
    versions = list(family.versions)
    if profile.registration is None:
        rng.shuffle(versions)
    count = rng.choices((1, 2, 3), (55, 30, 15))[0]
    if profile.candidates is not None:
        count = profile.candidates
    version = versions[0]
    candidates = versions[:count]
    rng.shuffle(candidates)
    months = profile.months or rng.randint(24, 108)
    return Vehicle(
        seed=seed,
        family=family,
        version=version,
        candidates=tuple(candidates),
        months=months,
        model_year=model_year,
        built_year=model_year - rng.choice((0, 1)) if not profile.model_year else model_year - 1,
        home_state=draw_state(rng),
        description=profile.description or _description(family, version, rng.random() < 0.25),
        fuel=rng.choice(_FUEL_SPELLINGS[family.fuel_of(version)]),
    )


def decode_result(
    vehicle: Vehicle, plate: Plate, profile: Profile, today: date
) -> dict[str, object]:
    """Return the ``result`` member of the answer about a vehicle's data (``decode``).

    The fields have the same order as in the upstream's answers.
    """
    family, version = vehicle.family, vehicle.version

    def optional(text: str) -> str:
        return "" if profile.is_bare else text

    return {
        "marca": family.make,
        "descricao": vehicle.description,
        "placa": plate.text,
        "anoModelo": str(vehicle.model_year),
        "anoFabricacao": str(vehicle.built_year),
        "combustivel": optional(vehicle.fuel),
        "chassi": HIDDEN_MARKER,
        "tipoVeiculo": optional(family.vehicle_type),
        "potencia": optional(str(version.power_cv)),
        "nacional": optional(family.national),
        "cilindradas": optional(str(version.displacement_cc)),
        "capacidadePassageiro": optional(family.passengers),
        "capacidadeCarga": optional(profile.load or family.load),
        "caixaCambio": optional(profile.gearbox or family.gearbox),
        "informacoesFipe": [_fipe_entry(vehicle, v, profile, today) for v in vehicle.candidates],
    }


def _fipe_entry(
    vehicle: Vehicle, version: Version, profile: Profile, today: date
) -> dict[str, object]:
    family = vehicle.family
    # Vehicles of the same version and model year have the same prices, as in the real price table.
    level = family.price * version.weight * 0.93 ** (2020 - vehicle.model_year)
    key = f"{version.fipe_id}/{vehicle.model_year}"
    tail = 0 if vehicle.months == 1 else seeded_rng("tail", key).randint(2, 4)
    months = vehicle.months
    if profile.months is None:
        # The price table begins to list a model year in January of the preceding year.
        since_sale = (today.year - vehicle.model_year + 1) * 12 + today.month + tail
        months = max(24, min(months, since_sale))
    points = price_history(key, level, today, months, tail)
    current = next(point["valor"] for point in reversed(points) if not point["predicao"])
    return {
        "ano": str(vehicle.model_year),
        "fipeId": version.fipe_id,
        "marca": family.fipe_make,
        "modelo": "" if profile.is_bare else family.model,
        "versao": version.text,
        "combustivel": "" if profile.is_bare else _FIPE_FUEL[family.fuel_of(version)],
        "valorAtual": f"{current}.00",
        "historicoPreco": points,
    }


def _description(family: Family, version: Version, is_short: bool) -> str:
    """Return the registry's spelling of make and model, such as ``VW/GOL 1.0``.

    If ``is_short`` is true, the text up to the slash is left out.
    """
    text = family.registration
    if family.is_motorcycle:
        text = f"{text} {version.text.split()[0].strip('/')}"
    elif not family.is_truck:
        text = f"{text} {version.displacement_cc / 1000:.1f}"
    return text.partition("/")[2] if is_short else text
