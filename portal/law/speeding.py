"""Compare a fine's speeds with the ranges of its code.

Art. 218 of the CTB (the traffic code) has three ranges: up to 20 % above the speed limit (code
745-5), more than 20 % and up to 50 % (746-3), and more than 50 % (747-1). The comparison uses the
considered speed, which is the measured speed less the meter's tolerance.
"""

import re
from decimal import Decimal

from portal.law.infractions import Infraction
from portal.vehicle.field import Field

# The highest excess that each code covers, as a fraction of the speed limit. None means unlimited.
_HIGHEST = {"7455": Decimal("0.20"), "7463": Decimal("0.50"), "7471": None}
# The tolerance in km/h up to _BY_KMH, and in per cent above.
_TOLERANCE, _BY_KMH = 7, 100
# Codes that were in use before 25 July 2006. They had other ranges, so the speeds of fines with
# these codes are not compared.
_FORMER = frozenset(("6211", "6220", "6238", "6246"))
_SPEED = re.compile(r"0*([0-9]{1,3})(?:[.,][0-9]+)?(?: ?km/?h)?", re.IGNORECASE)


def is_speeding(code: str) -> bool:
    """Return whether a code is for speeding. Fines for speeding state speeds in km/h."""
    return code in _HIGHEST or code in _FORMER


def excess_of(limit: Field, considered: Field) -> Decimal | None:
    """Return the excess of the considered speed, as a fraction of the limit, or None if unknown."""
    top, counted = _speed(limit), _speed(considered)
    return None if not top or counted is None else Decimal(counted - top) / top


def tolerance_note(limit: Field, measured: Field, considered: Field) -> str:
    """Return a sentence on a considered speed that is not the measured one less the tolerance.

    The tolerance is 7 km/h up to 100 km/h and 7 % above (Resolução CONTRAN 798/2020). A difference
    of 1 km/h above 100 km/h may come from rounding.
    """
    top, read, counted = _speed(limit), _speed(measured), _speed(considered)
    if read is None or counted is None:
        return ""
    if counted > read:
        return "A velocidade considerada passa da medida: confira na notificação."
    fair = read - _TOLERANCE if read <= _BY_KMH else round(read * (100 - _TOLERANCE) / 100)
    if counted <= fair + (read > _BY_KMH):
        return ""
    note = (
        f"Descontada a tolerância do medidor ({_TOLERANCE} km/h até {_BY_KMH} km/h, {_TOLERANCE}% "
        f"acima; Res. Contran 798/2020), a velocidade considerada seria {max(fair, 0)} km/h"
    )
    if top is not None and fair <= top:
        return (
            f"{note}, dentro do limite: confira na notificação, porque assim não haveria infração."
        )
    return f"{note}: confira na notificação."


def _speed(field: Field) -> int | None:
    match = _SPEED.fullmatch(field.value)
    return int(match[1]) if match else None


def range_note(infraction: Infraction | None, over: Decimal | None) -> str:
    """Return a sentence on an excess outside the range of the fine's code, or ""."""
    code = infraction.code if infraction else ""
    if over is None or code not in _HIGHEST:
        return ""
    if over <= 0:
        return (
            "A velocidade considerada não passa do limite registrado: confira na notificação, "
            "porque assim não haveria infração."
        )
    fitting = next(c for c, highest in _HIGHEST.items() if highest is None or over <= highest)
    if fitting == code:
        return ""
    return (
        f"Pelas velocidades registradas, o código seria {fitting[:3]}-{fitting[3]}, e o registro "
        f"traz {code[:3]}-{code[3]}: confira na notificação (art. 218 do CTB)."
    )
