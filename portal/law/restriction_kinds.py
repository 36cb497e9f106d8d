"""Read the kinds of a court's restriction from free text.

RENAJUD, the register of court restrictions, has four kinds of its own (TJSC, Código de Normas,
Apêndice III, art. 1º). They are transferência (no transfer), licenciamento (no licensing),
circulação (no driving) and averbação de registro de penhora (the vehicle secures a debt).
"restrição total" means circulação. A text may also name the order that the court gave, such as
arresto or busca e apreensão. An unrecognised word is never read as "no restriction".

A text may also name what is no order of a judge, such as a lien or a block of the Detran.

Two statements put a restriction in doubt. Its order may have been lifted ("PENHORA BAIXADA"), or
the text may deny that there is an order ("SEM RESTRICAO DE TRANSFERENCIA"). The upstream does not
document its words, so the restriction may still apply. Words that deny an act ("NAO TRANSFERIR",
"CIRCULACAO SUSPENSA") state the restriction. A lifting that was requested, is pending or has a
later day than today ("BAIXA SOLICITADA") is none. A permission ("CIRCULACAO AUTORIZADA") states no
restriction of the act, and lifts none that another part of the text states.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Literal, get_args

from msgspec import Struct

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
    "perdimento",
    "adjudicacao",
    "arrematacao",
    "leilao_judicial",
    "reintegracao_de_posse",
    "apreendido",
    "alienacao_fiduciaria",
    "bloqueio_administrativo",
]

KINDS: tuple[Kind, ...] = get_args(Kind)
# What a creditor or the Detran puts in place, and no judge.
NOT_OF_A_JUDGE: tuple[Literal["alienacao_fiduciaria", "bloqueio_administrativo"], ...] = (
    "alienacao_fiduciaria",
    "bloqueio_administrativo",
)
# By these, the vehicle gets another owner, or has one already.
_OUTCOMES: tuple[Kind, ...] = ("leilao_judicial", "arrematacao", "adjudicacao")
# Orders that a text may name instead of Renajud's own kinds.
NAMED_ORDERS: tuple[Kind, ...] = (
    *("busca_e_apreensao", "arresto", "sequestro"),
    *("indisponibilidade", "averbacao_premonitoria"),
    *("perdimento", "reintegracao_de_posse", "apreendido"),
    *_OUTCOMES,
    *NOT_OF_A_JUDGE,
)
_STEMS: tuple[tuple[str, Kind], ...] = (
    ("TRANSF", "transferencia"),
    ("TRANFER", "transferencia"),
    ("LICENC", "licenciamento"),
    ("CIRCUL", "circulacao"),
    ("PENHORA", "penhora"),
    ("TOTAL", "circulacao"),
    ("BUSCA", "busca_e_apreensao"),
    ("APREENDID", "apreendido"),
    ("RECOLHID", "apreendido"),
    ("APREEN", "busca_e_apreensao"),
    ("RECOLH", "circulacao"),
    ("ARREST", "arresto"),
    ("SEQUESTR", "sequestro"),
    ("INDISPONIB", "indisponibilidade"),
    ("PREMONIT", "averbacao_premonitoria"),
    ("PERDIMENT", "perdimento"),
    ("ADJUDIC", "adjudicacao"),
    ("ARREMAT", "arrematacao"),
    ("LEILAO", "leilao_judicial"),
    ("LEILOES", "leilao_judicial"),
    ("HASTA", "leilao_judicial"),
    ("REINTEGRA", "reintegracao_de_posse"),
    ("FIDUC", "alienacao_fiduciaria"),
    ("ADMINISTRATIV", "bloqueio_administrativo"),
)
_ALL_STEMS = tuple(stem for stem, _ in _STEMS)
# What is to be done with a vehicle, by the first letters of the word for what was done.
_AS_ORDERED: dict[str, str] = {"APREENDI": "APREENSAO", "RECOLHID": "RECOLHIMENTO"}
_TO_BE = frozenset({"SEJA", "SEJAM", "SER", "SEREM", "FIQUE", "FIQUEM"})
_ABBREVIATED: dict[str, Kind] = {"LIC": "licenciamento", "CIRC": "circulacao"}
_WORDS = read_words(__package__, "order_words.toml")
_FILLERS = frozenset(_WORDS["beside_a_kind"])
_OF_A_LIFTING = frozenset(_WORDS["of_a_lifting"])
# Words that belong to one kind only.
_BESIDE: dict[Kind, frozenset[str]] = {
    "alienacao_fiduciaria": frozenset(_WORDS["beside_fiduciary"]),
    "reintegracao_de_posse": frozenset(_WORDS["beside_reintegration"]),
    "leilao_judicial": frozenset(_WORDS["beside_auction"]),
}
_BLOCKS = frozenset(_WORDS["blocks"])
_CONNECTS = frozenset(_WORDS["connects"])
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
    r"|NAO (CONSTA|EXISTE|HA|POSSUI|TEM)\w*|SEM (ANOTAC|BLOQUEI|ORDE|REGISTR|RESTRIC)\w*"
    r"|SEM (?=(PENHORA|ARREST|SEQUESTR|INDISPONIB|BUSCA E)))\b"
)
# "Sem penhora, arresto ou sequestro": a denial goes on to the "or" of its list.
_COMMA = re.compile(",")
_DENIED_LIST = re.compile(
    r"\b(sem|n[aã]o|nenhum\w*|inexist\w*)\b[^.;:/|+&()\n]*?,[^.;:/|+&()\n]*?\b(ou|nem)\b",
    re.IGNORECASE,
)
# "…" shows that a long text was cut. It counts as an unrecognised word, because the missing part
# may name a kind.
_WORD = re.compile(r"[\w…]+")
_DATE = re.compile(r"\b(?:\d{1,2}([-/.])\d{1,2}\1\d{4}|\d{4}-\d{2}-\d{2})\b", re.ASCII)
# These signs divide a text into items. "SEM" ("without") begins an item, because it denies only
# what follows it.
_ITEMS = re.compile(r"[,;/|+&]|(?=\bsem\b)", re.IGNORECASE)
# These divide an item into parts. What names no kind belongs to the part before it:
# "PENHORA (BAIXADA)".
_PARTS = re.compile(r"[.:()\[\]\n–—-]")
# The names of kinds stand at the begin of a sentence. A longer one would take long to read.
_LONGEST_SENTENCE = 1_000
# In a sentence, these words are about the vehicle, a sum or a query, and name no kind.
_NO_KIND_IN_PROSE = re.compile(
    r"\bEM CIRCULACAO\b|^\W*TOTAL\b|\b(NO|AO|EM|VALOR|PERDA) TOTAL\b|\bTOTA(IS|LIZA\w*)\b"
    r"|\bTOTAL( GERAL)?( DE)?:? ?(?=\d|R\$|RESTRIC|ORDE|REGISTR|BLOQ)"
    r"|\bBUSCA\w*\b(?! ?(E|/|-) ?APREENS)|\bRECOLHIMENTO D[EOA]S? (TAXA|IMPOST|IPVA|TRIBUT|GUIA)\w*"
    r"|\bLICENCIAMENTO\b[^,;]{0,20}\b(EM DIA|REGULAR|PAGO|QUITADO|OK)\b|\bEM LEILAO ANTERIOR\b"
)
_AFFIRMS = re.compile(r"\b(CONSTAM?|EXISTEM?|HA|COM|ATIV[AO]S?|VIGENTES?)\b")
_PLURAL_END = re.compile(rf"\b{_ENDED[:-2]}S\b")
# A permission names an act: "CIRCULACAO AUTORIZADA", "PERMITIDO O LICENCIAMENTO". An authorised
# restriction or seizure is none.
_ACT = r"(?P<{}>CIRCUL\w*|CIRC|TRANSF\w*|LICENC\w*|LIC)"
_ALLOWED = r"(AUTORIZAD|PERMITID)[AO]S?"
_PERMITTED = re.compile(
    rf"\b{_ACT.format('one')} ((E|ESTA|FICA|SEGUE|FOI) )?{_ALLOWED}\b"
    rf"|\b({_ALLOWED}|AUTORIZA|PERMITE) ([AO] |A SUA )?{_ACT.format('other')}\b"
)
_FORBIDS = re.compile(
    r"\b(NAO|NEM|NUNCA|SEM|(PROIBI|VEDA|IMPEDI|SUSPEN|BLOQ|RESTR|INDEFERI|DETERMIN|ORDEM)\w*)\b"
)


class KindReading(Struct, frozen=True):
    """The kinds that a text names.

    ``kinds`` are all kinds that the text states, lifts or denies, in the order of KINDS.
    ``stated`` are the kinds that a part of the text neither lifts nor denies, unless a lifting
    applies to all. ``revoked_by`` are the first words that lift or deny a kind, as sent, or "" if
    there are none. ``permitted`` are the acts that the text allows, each with the words that do, as
    sent. ``unrecognised`` is the whole text if it contains no kind, or a word that is not
    recognised, lifts or denies, else "". ``states_more`` is true if an unrecognised word stands in
    a part that lifts and denies nothing, as XYZ in "PENHORA BAIXADA, XYZ". ``only_denies`` is true
    if every part denies its kinds.
    """

    kinds: tuple[Kind, ...]
    stated: tuple[Kind, ...]
    revoked_by: str
    permitted: Mapping[Kind, str]
    unrecognised: str
    states_more: bool
    only_denies: bool


class _Part(Struct, frozen=True):
    """A part of a text: its words as sent, in capitals without accents, and their kinds."""

    words: tuple[str, ...]
    plain: tuple[str, ...]
    of_words: tuple[Kind | None, ...]

    @property
    def line(self) -> str:
        return " ".join(self.plain)

    @property
    def kinds(self) -> set[Kind]:
        return {kind for kind in self.of_words if kind is not None}

    @property
    def unread(self) -> list[str]:
        words = [
            word
            for kind, word in zip(self.of_words, self.plain, strict=True)
            if kind is None and word not in _FILLERS
        ]
        if not words:
            return words
        beside = frozenset().union(*(_BESIDE.get(kind, frozenset()) for kind in self.kinds))
        return [word for word in words if word not in beside]

    def as_sent(self, match: re.Match[str]) -> str:
        first = self.line[: match.start()].count(" ")
        return " ".join(self.words[first : first + match[0].count(" ") + 1])


def read_kinds(text: str, today: date) -> KindReading:
    """Read the kinds that a free text names.

    A text may be a list, divided by any sign or by "E". Words that lift or deny apply to the kinds
    in their own part of the list. For example, "PENHORA, TRANSFERENCIA BAIXADA" lifts only
    TRANSFERENCIA. A kind that another part states is in force: "PENHORA BAIXADA; PENHORA". A
    lifting in an item without a kind applies to all kinds. A denial in such an item applies only if
    the text states no kind.
    """
    all_kinds: set[Kind] = set()
    stated: set[Kind] = set()
    doubted: set[Kind] = set()
    permitted: dict[Kind, str] = {}
    lifts_all = has_unrecognised = states_more = False
    only_denies = True
    revoked_by = ""
    for part in _parts(text, today):
        allowed = _permitted(part)
        permitted |= allowed
        kinds = part.kinds - set(allowed)
        all_kinds |= kinds
        unread = part.unread
        has_unrecognised |= bool(unread)
        lifted = _lifting(part.line, today)
        # "NAO HA BAIXA" denies a lifting, and not the order.
        revoked = lifted or (None if _LIFTING.search(part.line) else _DENIED.search(part.line))
        only_denies &= revoked is not None and lifted is None
        if revoked is None:
            stated |= kinds
            states_more |= not all(map(str.isdecimal, unread))
            continue
        revoked_by = revoked_by or part.as_sent(revoked)
        has_unrecognised = True
        doubted |= kinds
        lifts_all |= not kinds and lifted is not None
    if lifts_all:
        stated, doubted = set(), all_kinds
    return KindReading(
        kinds=tuple(sorted(all_kinds, key=KINDS.index)),
        stated=tuple(sorted(stated, key=KINDS.index)),
        revoked_by=revoked_by if doubted or lifts_all or not all_kinds else "",
        permitted={kind: words for kind, words in permitted.items() if kind not in stated},
        unrecognised=text if has_unrecognised or not all_kinds else "",
        states_more=states_more,
        only_denies=only_denies and bool(all_kinds),
    )


def kinds_in_prose(text: str, today: date) -> tuple[Kind, ...]:
    """Return the kinds that a sentence of a report or a message states.

    Words that name a kind only in a register's short texts are left out: "EM CIRCULACAO NORMAL",
    "NO TOTAL", "BUSCA REALIZADA".
    """
    read = bare(text[:_LONGEST_SENTENCE])
    return read_kinds(_NO_KIND_IN_PROSE.sub(" ", read), today).stated


def _parts(text: str, today: date) -> Iterator[_Part]:
    # A day that has come limits no lifting. A slash in a day does not divide the text.
    joined = _DENIED_LIST.sub(lambda match: " ou ".join(_COMMA.split(match[0])), text)
    for item in _ITEMS.split(_DATE.sub(lambda day: _later(day[0], today), joined)):
        parts: list[_Part] = []
        for part in map(_part, filter(str.strip, _PARTS.split(item))):
            joins = parts and not (part.kinds and parts[-1].kinds)
            if joins or (parts and _is_one_order(parts[-1], part)):
                parts[-1] = _joined(parts[-1], part)
            else:
                parts.append(part)
        for part in parts:
            yield from _conjoined(part)


def _part(text: str) -> _Part:
    words = tuple(_WORD.findall(text))
    plain = tuple(map(bare, words))
    return _Part(words, plain, tuple(_kinds_of(plain)))


def _joined(one: _Part, other: _Part) -> _Part:
    plain = (*one.plain, *other.plain)
    return _Part((*one.words, *other.words), plain, tuple(_kinds_of(plain)))


def _is_one_order(one: _Part, other: _Part) -> bool:
    """Return whether two parts only spell "BUSCA E APREENSAO"."""
    last = [word for word in one.plain if word != "E"][-1:]
    return last == ["BUSCA"] and other.plain[0].startswith("APREENS")


def _conjoined(part: _Part) -> Iterator[_Part]:
    """Divide a part at "E" ("and") if there are kinds on both sides of it.

    A denial goes on over an "E": "NAO CONSTA PENHORA E ARRESTO". So does a lifting in the plural:
    "PENHORA E ARRESTO BAIXADOS".
    """
    for at, word in enumerate(part.plain):
        if word != "E":
            continue
        before, after = (
            _Part(part.words[cut], part.plain[cut], part.of_words[cut])
            for cut in (slice(at), slice(at + 1, None))
        )
        is_denied = _DENIED.search(before.line) and not _AFFIRMS.search(after.line)
        goes_on = bool(is_denied or _PLURAL_END.search(after.line))
        if before.kinds and after.kinds and not goes_on and not _is_one_order(before, after):
            yield before
            yield from _conjoined(after)
            return
    yield part


def _permitted(part: _Part) -> dict[Kind, str]:
    """Return the acts that a part allows."""
    line = part.line
    permitted: dict[Kind, str] = {}
    for match in _PERMITTED.finditer(line):
        kind = _kind_of(match["one"] or match["other"])
        others = f"{line[: match.start()]} {line[match.end() :]}"
        if kind is not None and not _FORBIDS.search(others) and not _kind_repeated(kind, others):
            permitted[kind] = part.as_sent(match)
    return permitted


def _kind_repeated(kind: Kind, line: str) -> bool:
    return kind in map(_kind_of, line.split())


def denies(text: str, today: date) -> bool:
    """Return whether words of a text lift or deny an order."""
    if says_lifted(text):
        return True
    words = " ".join(_WORD.findall(_DATE.sub(" ", bare(text))))
    return bool(_DENIED.search(words)) and bool(read_kinds(text, today).revoked_by)


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
    if any(map(_kind_of, before)) and any(map(_kind_of, after)):
        return None
    # "PENHORA LEILAO CANCELADO" does not show that the penhora ended, too.
    kinds = {kind for kind in map(_kind_of, rest) if kind is not None}
    return None if len(kinds) > 1 and kinds & set(_OUTCOMES) else liftings[0]


def _kind_of(word: str) -> Kind | None:
    if not word.startswith(_ALL_STEMS):
        return _ABBREVIATED.get(word)
    return next(kind for stem, kind in _STEMS if word.startswith(stem))


def _kinds_of(plain: Sequence[str]) -> Iterator[Kind | None]:
    """Yield the kind that each word names, or None.

    "DETRAN" names one only behind a block. A vehicle that is to be seized is not seized yet: "SEJA
    APREENDIDO O VEICULO E RECOLHIDO AO PATIO".
    """
    last, is_ordered = "", False
    for word in plain:
        is_block = word == "DETRAN" and last in _BLOCKS
        kind = "bloqueio_administrativo" if is_block else _kind_of(word)
        yield _kind_of(_AS_ORDERED[word[:8]]) if is_ordered and kind == "apreendido" else kind
        is_ordered |= word in _TO_BE
        last = last if word in _CONNECTS else word
