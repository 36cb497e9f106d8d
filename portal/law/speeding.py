"""Compare a fine's speeds with the ranges of its code.

Art. 218 of the CTB (the traffic code) has three ranges: up to 20 % above the speed limit (code
745-5), more than 20 % and up to 50 % (746-3), and more than 50 % (747-1). The comparison uses the
considered speed, which is the measured speed less the meter's tolerance.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from portal.law.infractions import Infraction
from portal.vehicle.field import Field

# The highest excess that each code covers, as a fraction of the speed limit. None means unlimited.
_HIGHEST = {"7455": Decimal("0.20"), "7463": Decimal("0.50"), "7471": None}
# The tolerance in km/h up to BY_KMH, and in per cent above.
TOLERANCE, BY_KMH = 7, 100
# Codes that were in use before 25 July 2006. They had other ranges, so the speeds of fines with
# these codes are not compared.
_FORMER = frozenset(("6211", "6220", "6238", "6246"))
_SPEED = re.compile(r"0*([0-9]{1,3})(?:[.,][0-9]+)?(?: ?km/?h)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SpeedConflict:
    """What a fine's speeds contradict.

    The considered speed may not pass the limit, be in the range of another code, pass the measured
    speed, or pass what the meter's tolerance leaves of it. ``fitting`` is the code that the speeds
    call for, and ``fair`` the speed in km/h that the tolerance leaves.
    """

    code: Literal[
        "within_limit", "other_range", "above_measured", "above_fair", "fair_within_limit"
    ]
    fitting: str = ""
    fair: int = 0


def is_speeding(code: str) -> bool:
    """Return whether a code is for speeding. Fines for speeding state speeds in km/h."""
    return code in _HIGHEST or code in _FORMER


def excess_of(limit: Field, considered: Field) -> Decimal | None:
    """Return the excess of the considered speed, as a fraction of the limit, or None if unknown."""
    top, counted = _speed(limit), _speed(considered)
    return None if not top or counted is None else Decimal(counted - top) / top


def tolerance_conflict(limit: Field, measured: Field, considered: Field) -> SpeedConflict | None:
    """Return what a considered speed is that is not the measured one less the tolerance, or None.

    The tolerance is 7 km/h up to 100 km/h and 7 % above (Resolução CONTRAN 798/2020). A difference
    of 1 km/h above 100 km/h may come from rounding.
    """
    top, read, counted = _speed(limit), _speed(measured), _speed(considered)
    if read is None or counted is None:
        return None
    if counted > read:
        return SpeedConflict("above_measured")
    fair = read - TOLERANCE if read <= BY_KMH else round(read * (100 - TOLERANCE) / 100)
    if counted <= fair + (read > BY_KMH):
        return None
    is_within = top is not None and fair <= top
    return SpeedConflict("fair_within_limit" if is_within else "above_fair", fair=max(fair, 0))


def _speed(field: Field) -> int | None:
    match = _SPEED.fullmatch(field.value)
    return int(match[1]) if match else None


def range_conflict(infraction: Infraction | None, over: Decimal | None) -> SpeedConflict | None:
    """Return what an excess outside the range of the fine's code is, or None."""
    code = infraction.code if infraction else ""
    if over is None or code not in _HIGHEST:
        return None
    if over <= 0:
        return SpeedConflict("within_limit")
    fitting = next(c for c, highest in _HIGHEST.items() if highest is None or over <= highest)
    return None if fitting == code else SpeedConflict("other_range", fitting=fitting)
