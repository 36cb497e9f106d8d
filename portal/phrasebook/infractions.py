"""The words of what a fine says of its vehicle, and otherwise than the code of its infraction."""

from collections.abc import Mapping
from typing import Final, assert_never

from portal.data_files import read_csv
from portal.law.assessment import AssessedFine
from portal.law.identification import HintCode
from portal.law.infractions import Infraction
from portal.law.source_wording import WordingConflict
from portal.law.speeding import BY_KMH, TOLERANCE, SpeedConflict
from portal.wording import day, listed

_HINTS: Final[Mapping[str, str]] = {
    line["code"]: line["hint"] for line in read_csv(__package__, "fine_hints.csv", dict[str, str])
}


def hint(code: HintCode, fine: AssessedFine) -> str:
    """Say what a fine tells of the vehicle, with its day."""
    on = fine.record.committed_on
    by_code = ", pelo código" if fine.wording.conflict else ""
    return f"{_HINTS[code]} (multa{f' de {day(on)}' if on else ''}{by_code})."


def wording_conflict(conflict: WordingConflict, infraction: Infraction) -> str:
    """Say that the source's description does not fit the code, and of which code it is."""
    if conflict.codes:
        named = listed([_printed(code) for code in conflict.codes], last=" ou ")
        return (
            f"A descrição da fonte é a do código {named}, e o registro traz o código "
            f"{infraction.printed}: confira na notificação."
        )
    return (
        f"A descrição da fonte não corresponde ao código {infraction.printed}: confira na "
        "notificação."
    )


def speed_conflict(conflict: SpeedConflict, infraction: Infraction) -> str:
    """Say what a fine's speeds contradict."""
    match conflict.code:
        case "within_limit":
            return (
                "A velocidade considerada não passa do limite registrado: confira na notificação, "
                "porque assim não haveria infração."
            )
        case "other_range":
            return (
                f"Pelas velocidades registradas, o código seria {_printed(conflict.fitting)}, e o "
                f"registro traz {_printed(infraction.code)}: confira na notificação (art. 218 do "
                "CTB)."
            )
        case "above_measured":
            return "A velocidade considerada passa da medida: confira na notificação."
        case "above_fair":
            return f"{_fair(conflict)}: confira na notificação."
        case "fair_within_limit":
            return (
                f"{_fair(conflict)}, dentro do limite: confira na notificação, porque assim não "
                "haveria infração."
            )
    assert_never(conflict.code)


def _fair(conflict: SpeedConflict) -> str:
    return (
        f"Descontada a tolerância do medidor ({TOLERANCE} km/h até {BY_KMH} km/h, {TOLERANCE}% "
        f"acima; Res. Contran 798/2020), a velocidade considerada seria {conflict.fair} km/h"
    )


def _printed(code: str) -> str:
    return f"{code[:3]}-{code[3]}"
