"""RENAJUD kinds, read out of free text.

There are four kinds and only these: transferência, licenciamento, circulação, averbação de
registro de penhora (TJSC, Código de Normas, Apêndice III, art. 1º); "restrição total" is used
for circulação. A word that is not recognised is shown as it came and never reads as "nothing";
one that takes a restriction back (BAIXADA, NÃO …) leaves open whether it still holds, because
the source's words for its states are not documented.
"""

import re
from dataclasses import dataclass
from typing import Literal

from portal.law.wording import bare

Kind = Literal["transferencia", "licenciamento", "circulacao", "penhora"]

KIND_WORDS: dict[Kind, str] = {
    "transferencia": "transferência",
    "licenciamento": "licenciamento",
    "circulacao": "circulação",
    "penhora": "penhora",
}
_STEMS: tuple[tuple[str, Kind], ...] = (
    ("TRANSFER", "transferencia"),
    ("LICENCIA", "licenciamento"),
    ("CIRCULA", "circulacao"),
    ("PENHORA", "penhora"),
    ("TOTAL", "circulacao"),
)
# Words around a kind that change nothing.
_FILLER_WORDS = """
A AO AS COM DA DAS DE DO DOS E O PARA POR
ATIVA ATIVO ANOTACAO AVERBACAO BLOQUEIO JUDICIAL JUDICIARIA ORDEM
REGISTRO RENAJUD RESTRICAO RESTRICOES VEICULAR VEICULO
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_TAKING_BACK = re.compile(
    r"(BAIX|CANCELAD|DESBLOQUE|ENCERRAD|EXCLUI|EXTINT|INATIV|INEXIST|LEVANTAD|LIBERAD|NEGATIV"
    r"|NENHUM|REMOVID|RETIRAD|REVOGAD|SUSPENS)\w*|NAO|NADA|SEM"
)
# "…" stands where an overlong text was cut: what followed is unknown.
_WORD = re.compile(r"[\w…]+")
_PARTS = re.compile(r"[,;/|]")


@dataclass(frozen=True, slots=True)
class KindReading:
    """``kinds`` are all that a text names, in a fixed order, ``stated`` those that it does not
    take back, ``taken_back_by`` the word, as it came, that does; ``unrecognised`` is the whole
    text where some word of it is not understood, else "".
    """

    kinds: tuple[Kind, ...]
    stated: tuple[Kind, ...]
    taken_back_by: str
    unrecognised: str


def read_kinds(text: str) -> KindReading:
    """The kinds that a free text names. A word that takes back does so for the kinds of its own
    part of a list ("PENHORA, TRANSFERENCIA BAIXADA"), for all where its part names none."""
    found: set[Kind] = set()
    doubted: set[Kind] = set()
    all_doubted = strange = False
    taken_back_by = ""
    for part in _PARTS.split(text):
        kinds: set[Kind] = set()
        taking_back = ""
        for word in _WORD.findall(part):
            plain = bare(word)
            kind = next((kind for stem, kind in _STEMS if plain.startswith(stem)), None)
            if kind is not None:
                kinds.add(kind)
            elif plain not in _FILLERS:
                strange = True
                if _TAKING_BACK.fullmatch(plain):
                    taking_back = taking_back or word
        if taking_back:
            taken_back_by = taken_back_by or taking_back
            doubted |= kinds
            all_doubted |= not kinds
        found |= kinds
    if all_doubted:
        doubted = found
    return KindReading(
        kinds=tuple(kind for kind in KIND_WORDS if kind in found),
        stated=tuple(kind for kind in KIND_WORDS if kind in found - doubted),
        taken_back_by=taken_back_by if found else "",
        unrecognised=text if strange or not found else "",
    )
