"""Read the kinds of a court's restriction from free text.

RENAJUD, the register of court restrictions, has four kinds of its own (TJSC, Código de Normas,
Apêndice III, art. 1º). They are transferência (no transfer), licenciamento (no licensing),
circulação (no driving) and averbação de registro de penhora (the vehicle secures a debt).
"restrição total" means circulação. A text may also name the order that the court gave, such as
arresto or busca e apreensão. An unrecognised word is never read as "no restriction".

Two statements put a restriction in doubt. Its order may have been lifted ("PENHORA BAIXADA"), or
the text may deny that there is an order ("SEM RESTRICAO DE TRANSFERENCIA"). The upstream does not
document its words, so the restriction may still apply. Words that deny an act ("NAO TRANSFERIR",
"CIRCULACAO SUSPENSA") state the restriction. A lifting that was requested, is pending or has a
later day than today ("BAIXA SOLICITADA") is none.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from portal.data_files import read_words
from portal.vehicle.wire import read_moment
from portal.wording import bare

Kind = Literal[
    "transferencia",
    "licenciamento",
    "circulacao",
    "penhora",
    "busca_e_apreensao",
    "arresto",
    "sequestro",
    "indisponibilidade",
    "averbacao_premonitoria",
]

KIND_WORDS: dict[Kind, str] = {
    "transferencia": "transferência",
    "licenciamento": "licenciamento",
    "circulacao": "circulação",
    "penhora": "penhora",
    "busca_e_apreensao": "busca e apreensão",
    "arresto": "arresto",
    "sequestro": "sequestro",
    "indisponibilidade": "indisponibilidade",
    "averbacao_premonitoria": "averbação premonitória",
}
# Orders that a text may name instead of Renajud's own kinds.
NAMED_ORDERS: tuple[Kind, ...] = (
    *("busca_e_apreensao", "arresto", "sequestro"),
    *("indisponibilidade", "averbacao_premonitoria"),
)
_STEMS: tuple[tuple[str, Kind], ...] = (
    ("TRANSF", "transferencia"),
    ("TRANFER", "transferencia"),
    ("LICENC", "licenciamento"),
    ("CIRCUL", "circulacao"),
    ("PENHORA", "penhora"),
    ("TOTAL", "circulacao"),
    ("BUSCA", "busca_e_apreensao"),
    ("APREENS", "busca_e_apreensao"),
    ("ARREST", "arresto"),
    ("SEQUESTR", "sequestro"),
    ("INDISPONIB", "indisponibilidade"),
    ("PREMONIT", "averbacao_premonitoria"),
)
_WORDS = read_words(__package__, "order_words.toml")
_FILLERS = frozenset(_WORDS["beside_a_kind"])
_OF_A_LIFTING = frozenset(_WORDS["of_a_lifting"])
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
RENAJUD_SINCE = 2008
_DENIED = re.compile(
    r"\b(NADA( CONSTA)?|NENHUM\w*( RESTRIC\w+)?|INEXIST\w*|NEGATIV\w*"
    r"|NAO (CONSTA|EXISTE|HA|POSSUI|TEM)\w*|SEM (ANOTAC|BLOQUEI|ORDE|REGISTR|RESTRIC)\w*)\b"
)
# "…" shows that a long text was cut. It counts as an unrecognised word, because the missing part
# may name a kind.
_WORD = re.compile(r"[\w…]+")
_DATE = re.compile(r"\b(?:\d{1,2}([-/.])\d{1,2}\1\d{4}|\d{4}-\d{2}-\d{2})\b", re.ASCII)
# "SEM" ("without") begins a part, because it denies only what follows it.
_PARTS = re.compile(r"[,;/|]|(?=\bsem\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KindReading:
    """The kinds that a text names.

    ``kinds`` are all kinds in the text, in the order of KIND_WORDS. ``stated`` are the kinds that
    the text neither lifts nor denies. ``revoked_by`` are the first words that lift or deny a kind,
    as sent, or "" if there are none. ``unrecognised`` is the whole text if it contains an
    unrecognised word or no kind, else "". ``states_more`` is true if an unrecognised word stands in
    a part that lifts and denies nothing, as ARRESTO in "PENHORA BAIXADA, ARRESTO".
    """

    kinds: tuple[Kind, ...]
    stated: tuple[Kind, ...]
    revoked_by: str
    unrecognised: str
    states_more: bool


def read_kinds(text: str, today: date) -> KindReading:
    """Read the kinds that a free text names.

    A text may be a list, for example with commas. Words that lift or deny apply to the kinds in
    their own part of the list. For example, "PENHORA, TRANSFERENCIA BAIXADA" lifts only
    TRANSFERENCIA. A lifting in a part without a kind applies to all kinds. A denial in such a part
    applies only if the text states no kind.
    """
    found: set[Kind] = set()
    doubted: set[Kind] = set()
    lifts_all = has_unrecognised = states_more = False
    revoked_by = ""
    # A day that has come limits no lifting. A slash in a day does not divide the text.
    for part in _PARTS.split(_DATE.sub(lambda day: _later(day[0], today), text)):
        words = _WORD.findall(part)
        plain = [bare(word) for word in words]
        of_words = [_kind_of(word) for word in plain]
        kinds = {kind for kind in of_words if kind is not None}
        found |= kinds
        unread = [
            word
            for kind, word in zip(of_words, plain, strict=True)
            if kind is None and word not in _FILLERS
        ]
        has_unrecognised |= bool(unread)
        line = " ".join(plain)
        lifted = _lifting(line, today)
        # "NAO HA BAIXA" denies a lifting, and not the order.
        revoked = lifted or (None if _LIFTING.search(line) else _DENIED.search(line))
        if revoked is None:
            states_more |= not all(map(str.isdecimal, unread))
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
        unrecognised=text if has_unrecognised or not found else "",
        states_more=states_more,
    )


def says_lifted(text: str) -> bool:
    """Return whether a text has words for a lifting."""
    return bool(_LIFTING.search(bare(text)))


def _later(text: str, today: date) -> str:
    """Return a date's text without its slashes if it is later than ``today``, else blanks."""
    moment = read_moment(text)
    return " " if moment is not None and moment.date() <= today else _WORD.findall(text)[-1] + "…"


def _lifting(line: str, today: date) -> re.Match[str] | None:
    """Return the words that lift all kinds of a part, or None.

    A part with a kind on both sides of a lifting does not show which kind is meant.
    """
    liftings = list(_LIFTED.finditer(line))
    if not liftings:
        return None
    rest = _LIFTED.sub("", line).split()
    years = range(RENAJUD_SINCE, today.year + 1)
    if not all(
        _kind_of(word) or word in _OF_A_LIFTING or (word.isdecimal() and int(word) in years)
        for word in rest
    ):
        return None
    before, after = line[: liftings[0].start()].split(), line[liftings[-1].end() :].split()
    return None if any(map(_kind_of, before)) and any(map(_kind_of, after)) else liftings[0]


def _kind_of(word: str) -> Kind | None:
    return next((kind for stem, kind in _STEMS if word.startswith(stem)), None)
