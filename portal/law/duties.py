"""The duties that a vehicle has by its kind and its fuel, as codes.

The sources are the notes of November 2026: practice and press for most, EC 137/2025 for the
immunity from IPVA. ``portal.phrasebook.duties`` says them, with "confirme" where no text was read.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

from portal.vehicle.decode import Decoded
from portal.vehicle.special_use import special_uses_of
from portal.wording import bare

Duty = Literal["moped", "motorcycle", "bus", "truck", "trailer", "gas", "hired"]
# The first kind that a type names. "CAMINHONETE" and "CAMINHAO" begin alike.
_KINDS: Final[tuple[tuple[Duty, re.Pattern[str]], ...]] = (
    ("moped", re.compile(r"\bCICLOMOTOR\w*")),
    ("motorcycle", re.compile(r"\b(MOTO|MOTOCICL\w*|MOTONETA)\b")),
    ("bus", re.compile(r"\b(MICRO-? ?)?ONIBUS\b|\bMICROONIBUS\b")),
    ("trailer", re.compile(r"\b(SEMI-? ?)?REBOQUE\b|\bSEMIRREBOQUE\b")),
    ("truck", re.compile(r"\bCAMINHAO\w*")),
)
_GAS: Final = re.compile(r"\b(GNV|GAS NATURAL|GAS)\b")


def duties_of(decoded: Decoded) -> Iterator[Duty]:
    kind = bare(decoded.vehicle_type.value)
    if duty := next((duty for duty, words in _KINDS if words.search(kind)), None):
        yield duty
    if _GAS.search(bare(decoded.fuel.value)):
        yield "gas"
    if "hired" in special_uses_of(decoded):
        yield "hired"
