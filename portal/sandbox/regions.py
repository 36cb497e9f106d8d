"""The Brazilian states, with their courts and the bodies that issue fines."""

import random
from typing import Final

import msgspec

from portal.data_files import read_csv
from portal.sandbox.profile import Issuer


class Region(msgspec.Struct, frozen=True):
    """One state.

    ``of_court`` is the text after "TRIBUNAL DE JUSTICA" (court of justice) in the name of the
    state's court. ``authorities`` are the digits of the state in the codes of its authorities.
    ``municipality_code`` is the capital's four-digit code in TOM, the federal table of
    municipalities. ``weight`` is roughly the state's share of Brazil's vehicles in per cent.
    """

    state: str
    of_court: str
    authorities: str
    capital: str
    municipality_code: str
    road: str
    labour_court: str
    weight: int


REGIONS: Final = {region.state: region for region in read_csv(__package__, "regions.csv", Region)}


def draw_state(rng: random.Random) -> str:
    return rng.choices(list(REGIONS), [region.weight for region in REGIONS.values()])[0]


def authority(issuer: Issuer, state: str, rng: random.Random) -> tuple[str, str, str]:
    """Return the code and name of a body of the kind ``issuer`` in a state, and a random place."""
    region = REGIONS[state]
    if issuer == "federal":
        place = f"{region.road} KM {rng.randint(3, 640)},{rng.randint(0, 9)}"
        return "000100", "POLICIA RODOVIARIA FEDERAL", place
    street = rng.choice(
        ("AV BRASIL", "AV GETULIO VARGAS", "R SETE DE SETEMBRO", "AV SANTOS DUMONT", "AV BEIRA RIO")
    )
    place = f"{street}, {rng.randint(20, 4800)}"
    if issuer == "state":
        return f"1{region.authorities}100", f"DETRAN {state}", place
    return f"2{region.municipality_code}0", f"PREFEITURA MUNICIPAL DE {region.capital}", place
