"""Real infraction codes and descriptions, as the upstream sends them.

The portal has its own table of infractions in ``portal.law``. The sandbox does not use that table,
so that a test can find errors by comparing the two tables.
"""

from typing import Final

import msgspec

from portal.data_files import read_csv
from portal.sandbox.profile import Issuer


class Offence(msgspec.Struct, frozen=True):
    """One kind of infraction.

    ``amount`` is in whole reais, as the upstream sends it: 130 for R$ 130,16. ``weight`` is the
    relative frequency of this kind in random fines. ``drivers`` states who can commit the
    infraction: drivers of a "car", of a "motorcycle", or "all".
    """

    code: str
    amount: int
    description: str
    issuers: tuple[Issuer, ...]
    drivers: str
    weight: int

    @property
    def is_speeding(self) -> bool:
        return self.code in {"7455", "7463", "7471"}


OFFENCES: Final = {
    row["code"]: msgspec.convert({**row, "issuers": row["issuers"].split()}, Offence, strict=False)
    for row in read_csv(__package__, "offences.csv", dict[str, str])
}


def offences_for(is_motorcycle: bool) -> tuple[Offence, ...]:
    kind = "motorcycle" if is_motorcycle else "car"
    return tuple(o for o in OFFENCES.values() if o.drivers in ("all", kind))
