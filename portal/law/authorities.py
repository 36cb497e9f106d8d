"""Name an issuing authority and a town by the codes in a fine's record.

``authorities.csv`` lists the authorities that are no town's, from Annex V of Portaria SENATRAN
354/2022 in its edition of April 2021. ``towns.csv`` lists the towns with their TOM codes, which the
federal revenue service assigns (kelvins/municipios-brasileiros, December 2025, MIT licence). The
code of a town's authority is ``2``, the town's TOM code and ``0``. This rule holds for all 5,562
municipal codes of the annex. The first digit of a code is the level: 0 federal, 1 state, 2
municipal.

Both tables stay in memory as texts of 117 kB in all, which are searched in microseconds. A
dictionary of the towns would take 1.3 MB in each worker.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from portal.data_files import read_csv, read_text
from portal.vehicle.plate import STATES
from portal.wording import bare

Level = Literal["federal", "state", "municipal"]

# Who decides on the second appeal (art. 289 of the CTB): a special panel of the federal body, or
# the traffic council of the DF or of a state. The authority's JARI decides on the first one.
AppealBody = Literal["special_panel", "contrandife", "cetran"]

_LEVELS: Final[dict[str, Level]] = {"0": "federal", "1": "state", "2": "municipal"}
_CODE = re.compile(r"[0-9]{1,6}", re.ASCII)
_CODE_LENGTH, _TOM_LENGTH = 6, 4
# Words in an authority's name, each with the codes of the authorities that they name. Words that
# name several kinds of authorities, such as "DEPARTAMENTO DE TRANSITO", are missing.
_NAMED = tuple(
    (re.compile(words), re.compile(codes))
    for words, codes in (
        (r"\bPOLICIA RODOVIARIA FEDERAL\b|\bD?PRF\b", "000100"),
        (r"\bDNIT\b|\bDNER\b|\bDEPARTAMENTO NACIONAL\b", "000[23]00"),
        (r"\bANTT\b|\bTRANSPORTES TERRESTRES\b", "000400"),
        (r"\bDETRAN\b|\bDEPARTAMENTO ESTADUAL DE TRANSITO\b", "1..100"),
        (r"\bDA?ER\b|\bESTRADAS DE RODAGEM\b", "1..200"),
        (r"\bPREFEITURA\b|\bMUNICIP", "2....0"),
    )
)
_STATE_IN_NAME = re.compile(r"\b(?:DETRAN|DER)\W+([A-Z]{2})\b")
_TOWN_IN_NAME = re.compile(
    r"\bPREFEITURA(?: MUNICIPAL)?(?: D[AEO]S?)? ([A-Z' -]+?)(?= - | ?[/(,]|$)"
)


@dataclass(frozen=True, slots=True)
class Town:
    name: str
    state: str

    def __str__(self) -> str:
        return f"{self.name}/{self.state}"


@dataclass(frozen=True, slots=True)
class Authority:
    """An issuing authority. ``state`` is "" at the federal level, ``town`` None at other levels."""

    code: str
    name: str
    level: Level
    state: str
    town: Town | None = None

    @property
    def site(self) -> str:
        """The address of the authority's official site, or "" if the table lacks it.

        ``authority_sites.csv`` was compiled in November 2026 from lists of others. The sites
        were not opened for it, so a page asks to check the address.
        """
        return _sites().get(self.code, "")

    @property
    def appeal_body(self) -> AppealBody:
        if self.level == "federal":
            return "special_panel"
        return "contrandife" if self.state == "DF" else "cetran"


@dataclass(frozen=True, slots=True)
class CodeConflict:
    """A code that contradicts the record beside it.

    ``authority`` is the one that its code stands for, and ``town`` the one of its code if it is
    elsewhere. Without an authority, the town's code alone contradicts the record. ``name`` and
    ``state`` are what the record says instead, or "".
    """

    authority: Authority | None
    town: Town | None
    name: str = ""
    state: str = ""


@cache
def _sites() -> dict[str, str]:
    lines = read_csv(__package__, "authority_sites.csv", dict[str, str])
    return {line["code"]: line["site"] for line in lines}


@lru_cache(512)
def authority_of(code: str) -> Authority | None:
    """Return the authority with a code of RENAINF, the register of fines, or None.

    The code may lack leading zeros.
    """
    if not _CODE.fullmatch(code):
        return None
    code = code.zfill(_CODE_LENGTH)
    level = _LEVELS.get(code[0])
    if level == "municipal":
        town = town_of(code[1:-1]) if code.endswith("0") else None
        if town is None:
            return None
        return Authority(code, f"Prefeitura de {town}", level, town.state, town)
    row = _row("authorities.csv", code)
    return Authority(code, row[0], level, row[1]) if level and row else None


def is_federal(code: str, name: str) -> bool:
    """Return whether an authority is federal, by its code, or else by the name in a record."""
    authority = authority_of(code)
    if authority:
        return authority.level == "federal"
    text = bare(name)
    return any(words.search(text) and codes.pattern[0] == "0" for words, codes in _NAMED)


@lru_cache(512)
def town_of(code: str) -> Town | None:
    """Return the town with a TOM code, or None. The code may lack leading zeros."""
    if not _CODE.fullmatch(code):
        return None
    row = _row("towns.csv", code.zfill(_TOM_LENGTH))
    return Town(*row) if row else None


@lru_cache(1024)
def code_conflict(
    authority_code: str, town_code: str, name: str, state: str
) -> CodeConflict | None:
    """Return what codes contradict, each other or the texts beside them, or None.

    ``name`` and ``state`` are the texts with which the record names the authority. A text that
    names no authority for certain contradicts nothing.
    """
    authority, town = authority_of(authority_code), town_of(town_code)
    stated = state.strip().upper()
    stated = stated if stated in STATES else ""
    if authority:
        other_name = name if _names_another(authority, bare(name), stated) else ""
        other_state = stated if authority.state and stated != authority.state else ""
        elsewhere = town if town and _is_elsewhere(authority, town) else None
        if other_name or other_state or elsewhere:
            return CodeConflict(authority, elsewhere, other_name, other_state)
    if town and stated not in ("", town.state):
        return CodeConflict(None, town, state=stated)
    return None


def _names_another(authority: Authority, name: str, stated: str) -> bool:
    codes = [codes for words, codes in _NAMED if words.search(name)]
    if codes and not any(pattern.fullmatch(authority.code) for pattern in codes):
        return True
    if (match := _STATE_IN_NAME.search(name)) and match[1] in STATES:
        return authority.state not in ("", match[1])
    match = _TOWN_IN_NAME.search(name)
    if authority.town is None or match is None:
        return False
    named, own = _letters(match[1]), _letters(bare(authority.town.name))
    if named in own or own in named:
        return False
    # Of a town that was renamed, or that is spelled differently, the text names no other town.
    return any(f",{match[1]},{state}\n" in _bare_towns() for state in {authority.state, stated})


def _is_elsewhere(authority: Authority, town: Town) -> bool:
    if authority.town is not None:
        return authority.town != town
    return authority.state not in ("", town.state)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _row(table: str, code: str) -> list[str] | None:
    """Return the cells after the first, ``code``."""
    text = _text(table)
    start = text.find(f"\n{code},")
    if start < 0:
        return None
    return text[start + 1 : text.index("\n", start + 1)].split(",")[1:]


@cache
def _bare_towns() -> str:
    return bare(_text("towns.csv"))


@cache
def _text(table: str) -> str:
    return read_text(__package__, table)
