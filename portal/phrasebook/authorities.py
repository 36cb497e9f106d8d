"""The words of issuing authorities: their level, who hears appeals, and codes in conflict."""

from collections.abc import Mapping
from typing import Final

from portal.law.assessment import AssessedFine
from portal.law.authorities import Authority, Level
from portal.wording import listed

LEVEL_WORDS: Final[Mapping[Level, str]] = {
    "federal": "federal",
    "state": "estadual",
    "municipal": "municipal",
}


def appeal_body(authority: Authority) -> str:
    """Say who decides on the first and on the second appeal."""
    match authority.appeal_body:
        case "special_panel":
            return "JARI do órgão; depois, colegiado especial (art. 289, I, do CTB)"
        case "contrandife":
            second = "Contrandife"
        case "cetran":
            second = f"Cetran/{authority.state}"
    return f"JARI do órgão; depois, {second} (art. 289, II, do CTB)"


def code_conflict(fine: AssessedFine) -> str:
    """Say which code of authority or town contradicts the record, or return ""."""
    conflict, record = fine.code_conflict, fine.record
    if conflict is None:
        return ""
    if conflict.authority is None:
        return (
            f"O código do município ({record.municipality_code}) é de {conflict.town}, e o "
            f"registro traz a UF {conflict.state}: confira na notificação."
        )
    beside = (
        f"o órgão “{conflict.name}”" if conflict.name else "",
        f"a UF {conflict.state}" if conflict.state else "",
        f"o código do município de {conflict.town}" if conflict.town else "",
    )
    return (
        f"O código do órgão ({record.authority_code}) corresponde a {conflict.authority.name}, e o "
        f"registro traz {listed([*filter(None, beside)])}: confira na notificação."
    )
