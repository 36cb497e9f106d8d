"""Read the kinds of a court's restriction from free text.

RENAJUD, the register of court restrictions, has exactly four kinds (TJSC, Código de Normas,
Apêndice III, art. 1º). They are transferência (no transfer), licenciamento (no licensing),
circulação (no driving) and averbação de registro de penhora (the vehicle secures a debt).
"restrição total" means circulação. An unrecognised word is never read as "no restriction". The
upstream does not document its status words. A restriction with a revoking word, such as BAIXADA
("lifted") or NÃO ("not"), may therefore still apply.
"""

import re
from dataclasses import dataclass
from typing import Literal

from portal.wording import bare

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
# Words next to a kind that do not change its meaning.
_FILLER_WORDS = """
A AO AS COM DA DAS DE DO DOS E O PARA POR
ATIVA ATIVO ANOTACAO AVERBACAO BLOQUEIO JUDICIAL JUDICIARIA ORDEM
PROPRIEDADE REGISTRO RENAJUD RESTRICAO RESTRICOES VEICULAR VEICULO
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_REVOKING = re.compile(
    r"(BAIX|CANCELAD|DESBLOQUE|ENCERRAD|EXCLUI|EXTINT|INATIV|INEXIST|LEVANTAD|LIBERAD|NEGATIV"
    r"|NENHUM|REMOVID|RETIRAD|REVOGAD|SUSPENS)\w*|NAO|NADA|SEM"
)
# "…" shows that a long text was cut. It counts as an unrecognised word, because the missing part
# may name a kind.
_WORD = re.compile(r"[\w…]+")
_PARTS = re.compile(r"[,;/|]")


@dataclass(frozen=True, slots=True)
class KindReading:
    """The kinds that a text names.

    A revoking word, such as BAIXADA ("lifted"), says that a kind no longer applies. ``kinds`` are
    all kinds in the text, in the order of KIND_WORDS. ``stated`` are the kinds to which no revoking
    word applies. ``revoked_by`` is the first revoking word as sent, or "" if there is none.
    ``revokes_all`` is true if a revoking word applies to all kinds. ``unrecognised`` is the whole
    text if it contains an unrecognised word or no kind, else "".
    """

    kinds: tuple[Kind, ...]
    stated: tuple[Kind, ...]
    revoked_by: str
    revokes_all: bool
    unrecognised: str


def read_kinds(text: str) -> KindReading:
    """Read the kinds that a free text names.

    A text may be a list, for example with commas. A revoking word, such as BAIXADA ("lifted"),
    applies to the kinds in its own part of the list. For example, "PENHORA, TRANSFERENCIA BAIXADA"
    revokes only TRANSFERENCIA. A revoking word in a part without a kind applies to all kinds.
    """
    found: set[Kind] = set()
    doubted: set[Kind] = set()
    all_doubted = has_unrecognised = False
    revoked_by = ""
    for part in _PARTS.split(text):
        kinds: set[Kind] = set()
        revoking_word = ""
        for word in _WORD.findall(part):
            plain = bare(word)
            kind = next((kind for stem, kind in _STEMS if plain.startswith(stem)), None)
            if kind is not None:
                kinds.add(kind)
            elif plain not in _FILLERS:
                has_unrecognised = True
                if _REVOKING.fullmatch(plain):
                    revoking_word = revoking_word or word
        if revoking_word:
            revoked_by = revoked_by or revoking_word
            doubted |= kinds
            all_doubted |= not kinds
        found |= kinds
    if all_doubted:
        doubted = found
    return KindReading(
        kinds=tuple(kind for kind in KIND_WORDS if kind in found),
        stated=tuple(kind for kind in KIND_WORDS if kind in found - doubted),
        revoked_by=revoked_by,
        revokes_all=all_doubted,
        unrecognised=text if has_unrecognised or not found else "",
    )
