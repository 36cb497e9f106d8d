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
AUTORIZADA AUTORIZADO BLOQUEADA BLOQUEADO IMPEDIDA IMPEDIDO IMPEDIMENTO NAO PERMITIDA PERMITIDO
PROIBICAO PROIBIDA PROIBIDO SUSPENSA SUSPENSO VEDADA VEDADO
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_ENDED = (
    r"(ANULAD|BAIXAD|CANCELAD|DESBLOQUEAD|ENCERRAD|EXCLUID|EXTINT|INATIV|LEVANTAD|LIBERAD"
    r"|REMOVID|RETIRAD|REVOGAD)[AO]S?"
)
_ENDING = r"(BAIXA|CANCELAMENTO|DESBLOQUEIO|EXCLUSAO|LEVANTAMENTO|LIBERACAO|RETIRADA|REVOGACAO)"
# "RETIRADA DE CIRCULACAO" and "REMOVIDO AO PATIO" are about the vehicle, not about the order.
_LIFTED = re.compile(
    rf"\b({_ENDED}\b(?! (D[AE] )?CIRCULA| (AO?|PARA) (O )?(PATIO|DEPOSITO))"
    rf"|{_ENDING} (JA )?(ANOTAD|CONCLUID|CONFIRMAD|EFETIVAD|EFETUAD|REALIZAD|REGISTRAD)[AO]\b)"
)
# In a part with one of these words, a lifting is incomplete, in the future or limited.
_NOT_LIFTED = re.compile(
    r"\b(NAO|SEM|SER|SERA|ATE|AGUARD\w*|ANALISE|ANDAMENTO|APENAS|ATIV[AO]S?|AUTORIZAD\w*|CASO"
    r"|DEFERID\w*|DETERMINAD\w*|EXCETO|FUTUR\w*|INDEFERID\w*|MANTID\w*|NEGAD\w*|PARCIAL\w*|PEDID\w*"
    r"|PENDENT\w*|PREVIST\w*|QUANDO|REQUER\w*|SALVO|SOLICIT\w*|SOMENTE|SUSPENS\w*|TRAMIT\w*|VIG\w+)\b"
)
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
        lifted = None if _NOT_LIFTED.search(line) else _LIFTED.search(line)
        revoked = lifted or _DENIED.search(line)
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


def _kind_of(word: str) -> Kind | None:
    return next((kind for stem, kind in _STEMS if word.startswith(stem)), None)
