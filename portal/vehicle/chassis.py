"""What the number of a chassis (VIN) says by its place: model year and country of origin.

The tenth sign is the model year's, in a cycle of 30 years without I, O, Q, U, Z and 0 (ISO 3779,
ABNT NBR 6066). The first two are the country's: Brazil has 93 to 99 and 9A to 9E (ISO 3780).
"""

from typing import Final

_SIGNS: Final = "ABCDEFGHJKLMNPRSTVWXY123456789"
_FIRST_YEAR: Final = 1980


def year_sign(model_year: int) -> str:
    """Return the tenth sign of a chassis of a model year: ``F`` for 2015. "" before 1980."""
    if model_year < _FIRST_YEAR:
        return ""
    return _SIGNS[(model_year - _FIRST_YEAR) % len(_SIGNS)]
