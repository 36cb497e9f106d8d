"""Read the kinds of a court's restriction from free text.

RENAJUD, the register of court restrictions, has exactly four kinds (TJSC, Código de Normas,
Apêndice III, art. 1º). They are transferência (no transfer), licenciamento (no licensing),
circulação (no driving) and averbação de registro de penhora (the vehicle secures a debt).
"restrição total" means circulação. An unrecognised word is never read as "no restriction".

Two statements put a restriction in doubt. Its order may have been lifted ("PENHORA BAIXADA"), or
the text may deny that there is an order ("SEM RESTRICAO DE TRANSFERENCIA"). The upstream does not
document its words, so the restriction may still apply. Words that deny an act ("NAO TRANSFERIR",
"CIRCULACAO SUSPENSA") state the restriction. A lifting that was requested or is pending ("BAIXA
SOLICITADA") is none.
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
    ("TRANSF", "transferencia"),
    ("TRANFER", "transferencia"),
    ("LICENC", "licenciamento"),
    ("CIRCUL", "circulacao"),
    ("PENHORA", "penhora"),
    ("TOTAL", "circulacao"),
)
# Words next to a kind that do not change its meaning.
_FILLER_WORDS = """
A AO AS COM DA DAS DE DO DOS E O PARA POR
ATIVA ATIVO ANOTACAO AVERBACAO BLOQUEIO JUDICIAL JUDICIARIA ORDEM
PROPRIEDADE REGISTRO RENAJUD RESTRICAO RESTRICOES VEICULAR VEICULO
AUTORIZADA AUTORIZADO BLOQUEADA BLOQUEADO IMPEDIDA IMPEDIDO IMPEDIMENTO NAO PERMITIDA PERMITIDO
PROIBICAO PROIBIDA PROIBIDO SUSPENSA SUSPENSO VEDADA VEDADO
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_ENDED = (
    r"(ANULAD|BAIXAD|CANCELAD|DESBLOQUEAD|ENCERRAD|EXCLUID|EXTINT|INATIV|LEVANTAD|LIBERAD"
    r"|REMOVID|RETIRAD|REVOGAD)[AO]S?"
)
_ENDING = r"(BAIXA|CANCELAMENTO|DESBLOQUEIO|EXCLUSAO|LEVANTAMENTO|LIBERACAO|RETIRADA|REVOGACAO)"
_LIFTED = re.compile(
    rf"\b({_ENDED}\b(?! (D[AE] )?CIRCULA)"
    rf"|{_ENDING} (JA )?(ANOTAD|CONCLUID|CONFIRMAD|EFETIVAD|EFETUAD|REALIZAD|REGISTRAD)[AO]\b)"
)
_LIFTING = re.compile(rf"\b({_ENDED}|{_ENDING})\b")
# Every word that a part about a completed lifting may have beside the lifting and the kinds. Any
# other word may limit the lifting, postpone it or undo it, as PARCIAL, SOLICITADA and REINCLUIDA
# do, or may name what ended in place of the order, as LEILAO ("auction") does.
_OF_A_LIFTING_WORDS = """
A AS COM DA DAS DE DO DOS E EM FOI JA NA NO O PELA PELO POR
ANOTACAO AVERBACAO BLOQUEIO DECISAO JUDICIAL JUDICIARIA JUIZO ORDEM REGISTRO RENAJUD RESTRICAO
RESTRICOES VEICULAR
"""
_OF_A_LIFTING = frozenset(_OF_A_LIFTING_WORDS.split())
_DENIED = re.compile(
    r"\b(NADA( CONSTA)?|NENHUM\w*( RESTRIC\w+)?|INEXIST\w*|NEGATIV\w*"
    r"|NAO (CONSTA|EXISTE|HA|POSSUI|TEM)\w*|SEM (ANOTAC|BLOQUEI|ORDE|REGISTR|RESTRIC)\w*)\b"
)
# "…" shows that a long text was cut. It counts as an unrecognised word, because the missing part
# may name a kind.
_WORD = re.compile(r"[\w…]+")
# "SEM" ("without") begins a part, because it denies only what follows it.
_PARTS = re.compile(r"[,;/|]|(?=\bsem\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KindReading:
    """The kinds that a text names.

    ``kinds`` are all kinds in the text, in the order of KIND_WORDS. ``stated`` are the kinds that
    the text neither lifts nor denies. ``revoked_by`` are the first words that lift or deny a kind,
    as sent, or "" if there are none. ``lifts_all`` is true if the text lifts every kind, whether it
    names the kind or not. ``unrecognised`` is the whole text if it contains an
    unrecognised word or no kind, else "".
    """

    kinds: tuple[Kind, ...]
    stated: tuple[Kind, ...]
    revoked_by: str
    lifts_all: bool
    unrecognised: str


def read_kinds(text: str) -> KindReading:
    """Read the kinds that a free text names.

    A text may be a list, for example with commas. Words that lift or deny apply to the kinds in
    their own part of the list. For example, "PENHORA, TRANSFERENCIA BAIXADA" lifts only
    TRANSFERENCIA. A lifting in a part without a kind applies to all kinds. A denial in such a part
    applies only if the text states no kind.
    """
    found: set[Kind] = set()
    doubted: set[Kind] = set()
    lifts_all = has_unrecognised = False
    revoked_by = ""
    for part in _PARTS.split(text):
        words = _WORD.findall(part)
        plain = [bare(word) for word in words]
        of_words = [_kind_of(word) for word in plain]
        kinds = {kind for kind in of_words if kind is not None}
        found |= kinds
        has_unrecognised |= any(
            kind is None and word not in _FILLERS
            for kind, word in zip(of_words, plain, strict=True)
        )
        line = " ".join(plain)
        lifted = _lifting(line)
        # "NAO HA BAIXA" denies a lifting, and not the order.
        revoked = lifted or (None if _LIFTING.search(line) else _DENIED.search(line))
        if revoked is None:
            continue
        first = line[: revoked.start()].count(" ")
        revoked_by = revoked_by or " ".join(words[first : first + revoked[0].count(" ") + 1])
        doubted |= kinds
        lifts_all |= not kinds and lifted is not None
    if lifts_all:
        doubted = found
    return KindReading(
        kinds=tuple(kind for kind in KIND_WORDS if kind in found),
        stated=tuple(kind for kind in KIND_WORDS if kind in found - doubted),
        revoked_by=revoked_by if doubted or lifts_all or not found else "",
        lifts_all=lifts_all,
        unrecognised=text if has_unrecognised or not found else "",
    )


def _lifting(line: str) -> re.Match[str] | None:
    """Return the words that lift all kinds of a part, or None.

    A part with a kind on both sides of a lifting does not show which kind is meant.
    """
    liftings = list(_LIFTED.finditer(line))
    if not liftings:
        return None
    rest = _LIFTED.sub("", line).split()
    if not all(_kind_of(word) or word.isdecimal() or word in _OF_A_LIFTING for word in rest):
        return None
    before, after = line[: liftings[0].start()].split(), line[liftings[-1].end() :].split()
    return None if any(map(_kind_of, before)) and any(map(_kind_of, after)) else liftings[0]


def _kind_of(word: str) -> Kind | None:
    return next((kind for stem, kind in _STEMS if word.startswith(stem)), None)
