"""The short name of a body that issues fines."""

import re
from typing import Final

from portal.vehicle.field import Field

_ABBREVIATIONS: Final = (
    (re.compile(r"^prefeitura (municipal )?d[aeo]s? ", re.IGNORECASE), "Pref. "),
    (re.compile(r"^pol[ií]cia rodovi[aá]ria federal$", re.IGNORECASE), "PRF"),
    (re.compile(r"^departamento (estadual )?de tr[aâ]nsito\b", re.IGNORECASE), "Detran"),
)
_DETRAN: Final = re.compile("Detran ..")


def short_authority(name: Field) -> Field:
    """Abbreviate an issuing body's name, for example to ``PRF`` (the federal highway police)."""
    if not name:
        return name
    text = name.value
    for pattern, short in _ABBREVIATIONS:
        text = pattern.sub(short, text)
    return Field("Detran" if _DETRAN.fullmatch(text) else text)
