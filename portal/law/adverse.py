"""Reads what a free text says against a vehicle: theft, a lien, a write-off, a block, debts.

The texts are those that a person or a program wrote into an answer: the written report, the
vehicle's own data. A text warns of a subject if it names it, and neither denies it ("SEM ROUBO",
"LEILAO: NADA CONSTA") nor only sends the reader elsewhere ("CONSULTE O DETRAN"). Where a text can
be read in two ways, it warns: a warning only makes a verdict more careful.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from portal.law.act_answers import Act
from portal.wording import bare


class Subject(StrEnum):
    """What a text warns of. The first subjects weigh most."""

    THEFT = "theft"
    SEIZURE = "seizure"
    SCRAP = "scrap"
    CHASSIS = "chassis"
    COURT = "court"
    LIEN = "lien"
    BLOCK = "block"
    SALE_NOTICE = "sale_notice"
    DAMAGE = "damage"
    AUCTION = "auction"
    DEBTS = "debts"
    FINES = "fines"
    MILEAGE = "mileage"
    RECALL = "recall"
    ADVICE = "advice"
    OTHER = "other"


# Without these, no price may be suggested to a buyer.
ENDS_CEILING: Final = frozenset(
    {
        *(Subject.THEFT, Subject.SEIZURE, Subject.SCRAP, Subject.CHASSIS),
        *(Subject.COURT, Subject.LIEN, Subject.BLOCK, Subject.SALE_NOTICE, Subject.ADVICE),
    }
)

# The acts that each subject makes doubtful.
REACH: Final[Mapping[Subject, frozenset[Act]]] = {
    Subject.THEFT: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.SEIZURE: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.SCRAP: frozenset(("transfer", "licence", "drive")),
    Subject.CHASSIS: frozenset(("transfer",)),
    Subject.COURT: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.LIEN: frozenset(("transfer",)),
    Subject.BLOCK: frozenset(("transfer", "licence")),
    Subject.SALE_NOTICE: frozenset(("transfer", "licence")),
    Subject.DAMAGE: frozenset(("transfer", "licence")),
    Subject.AUCTION: frozenset(),
    Subject.DEBTS: frozenset(("transfer", "licence")),
    Subject.FINES: frozenset(("transfer", "licence")),
    Subject.MILEAGE: frozenset(),
    Subject.RECALL: frozenset(),
    Subject.ADVICE: frozenset(),
    Subject.OTHER: frozenset(),
}

# Stems, as sources abbreviate at will ("AL. FIDUC.", "ROUB/FURT", "ARREND MERC"). The subjects are
# tried in this order, so that "BLOQUEIO JUDICIAL" is an order and "BUSCA E APREENSAO" a seizure.
_STEMS: Final = (
    (Subject.SEIZURE, r"BUSCA E APREENS\w*|\bAPREEN[DS]\w*|\bRECOLHIMENTO AO PATIO"),
    (
        Subject.THEFT,
        r"(?<!ANTI)(?<!ANTI[ -])\b(ROUB|FURT)\w*|\bQUEIXA\w*|\bAPROPRIACAO INDEB\w*"
        r"|\bESTELIONAT\w*|\bPRODUTO DE CRIME|\bSUBTRAID\w*",
    ),
    (
        Subject.SCRAP,
        r"\bSUCAT\w*|\bIRRECUPER\w*|\bDES(MANCH|MONT)\w*|\bINSERVIV\w*|\bPERDA TOTAL|\bP\. ?T\."
        r"|\b(BAIXA|BX\.?) (DEFINIT|PERMANEN|TEMPOR|DO VEIC|DE VEIC)\w*|\bVEIC\w* BAIXAD\w*"
        r"|\b(GRANDE|GRD\.?|GDE\.?|GR\.?|G\.?) MONTA|\bMONTA GRANDE"
        r"|\bSEM DIREITO A DOC\w*|\bBAIXAD[OA]\b",
    ),
    (
        Subject.MILEAGE,
        r"\b(HODOMETRO|QUILOMETRAGEM|KM)\b[^;.!?\n]{0,40}\b(ADULTER|DIVERG|INCONSIST|REDUZ|INCOMPATIV"
        r"|VOLTAD|FRAUD|IRREGULAR)\w*|\bADULTERACAO D[EO] (HODOMETRO|KM)",
    ),
    (
        Subject.CHASSIS,
        r"\bREMARC\w*|(?<=[0-9])[ (*/-]*\(?REM\b\)?|^REM (?=[0-9A-Z]{6})"
        r"|\bADULTER\w*|\bCLON(E|AD|AG)\w*|\bDUBLE\w*|\bRASPAD\w*|\bRASUR\w*|\bSUPRIMID\w*|\bLIXAD\w*|\bFALSIFIC\w*|\bFALS[AO]S?\b"
        r"|\b(CHASSI|MOTOR|PLACA|NUMERACAO|ETIQUETA|VIDRO)\w*[^;.!?\n]{0,40}"
        r"\b(DIVERG\w*|TROCAD\w*|ALTERAD\w*|VIOLAD\w*|IRREGULAR\w*|SOLDAD\w*|ILEGIVE\w*"
        r"|NAO (CONFERE|CORRESPOND|CADASTRAD|ORIGINA)\w*)"
        r"|\b(DIVERG\w*|ALTERACAO|TROCA|IRREGULARIDADE\w*|VIOLACAO) (N[OA]S?|D[OAE]S?|DE)"
        r" (NUMERACAO D[OE] )?(CHASSI|MOTOR|PLACA|NUMERACAO)",
    ),
    (
        Subject.COURT,
        r"\bJUDICIA\w*|\bJUD\b|\bRENAJUD\b|\bPENHORA\w*|\bARREST[OA]\w*|\bSEQUESTR\w*|\bINDISPONIB\w*"
        r"|\bEXECUCAO FISCAL|\bORDEM D[OE] JUI[ZS]\w*|\bPREMONITORI\w*|\bSENTENCA\b|\bLIMINAR\b",
    ),
    (
        Subject.LIEN,
        r"\bALIEN\w*|\bAL\.? ?FID\w*|\bFIDUC\w*|\bGRAVAM\w*|\bFINANCI\w*|\bFINANCEIRA\b|\bLEASING\b"
        r"|\bARREND\w*|\bRES(ERVA|\.)? (DE )?DOMI\w*|\bPENHOR\b|\bONUS\b|\bCONSORCI\w*"
        r"|\bGARANTIA (REAL|D[EO])",
    ),
    (
        Subject.SALE_NOTICE,
        r"\b(COM(UNIC\w*|\.)?|INTENC\w*) (DE |DA )?VENDA\w*|\bCOMUNICADA A VENDA"
        r"|\bVENDA (JA )?(FOI )?COMUNICADA",
    ),
    (Subject.AUCTION, r"\bLEIL\w*|\bARREMAT\w*|\bPATIO LEGAL"),
    (
        Subject.DAMAGE,
        r"\bSINIST\w*|\b(PEQ\w*|MED\w*)\.? MONTA|\bMONTA (PEQ|MED)\w*|\bDANOS?\b|\bCOLI(S|D)\w*"
        r"|\bACIDENT\w*|\bALAGA\w*|\bENCHENTE\w*|\bINCEND\w*|\bQUEIMAD\w*|\bSALVADOS?\b|\bINDENIZ\w*"
        r"|\bAVARI\w*|\bBATID[AO]\w*|\bCAPOT\w*|\bRECUPERAD[OA]\b|\bSUBMERS\w*",
    ),
    (
        Subject.BLOCK,
        r"\bBLOQ(?!UEIO (DE |DO )?DIF)\w*|\bIMPEDI\w*|\bPROIBI\w*|\bRESTRIC\w*|\bRESTR\.?\b"
        r"|\bABANDONAD\w*|\bVISTORIA REPROVAD\w*|\bINTERDI\w*",
    ),
    (
        Subject.DEBTS,
        r"\bIPVA\w*|\bDEBITO\w*|\bDIVIDA\w*|\bDPVAT\b|\bLICENC\w*[^;.!?\n]{0,30}"
        r"\b(ATRAS|VENCID|ABERTO|PENDENT|DEVID)\w*|\bTAXAS?\b|\bINADIMPL\w*|\bPROTEST\w*|\bPENDENC\w*",
    ),
    (Subject.FINES, r"\bMULTAS?\b|\bAUTUAC\w*|\bINFRAC\w*"),
    (Subject.RECALL, r"\bRECALL\w*"),
)
_OF_SUBJECT: Final = tuple((subject, re.compile(pattern)) for subject, pattern in _STEMS)
_ADVICE: Final = re.compile(
    r"\bNAO (SE |E )?(ACONSELH|ADQUIR|APROV|COMPR|FECH|INDIC|NEGOCI|PAGUE|RECOMEND|SUGER|VALE)\w*"
    r"|\bDESACONSELH\w*|\bREPROVAD\w*"
    r"|\bEVIT(E|AR|EM)( D?ESS[AE]S?| EST[AE]S?)?( [AO])? (AQUISI|COMPR|NEGOCI|VEIC)\w*"
    r"|\bFUJA\b|\bINVIAVEL|\bDESFAVORAVEL"
    r"|\bCONTRAINDICAD\w*|\b(ALTO|ELEVADO) RISCO|\bRISCO (ALTO|ELEVADO|GRAVE)|\bGOLPE\b|\bFRAUDE\b"
    r"|\b(NEGOCIO|COMPRA) (DE RISCO|ARRISCAD\w*|PERIGOS\w*)|\bPARECER (E )?(NEGATIVO|CONTRARIO)"
)
# The dot of an abbreviation ends no sentence.
# Most texts name no subject. One search of these fragments spares them all patterns.
_FRAGMENTS: Final = re.compile(
    r"ROUB|FURT|QUEIX|INDEB|ESTELION|CRIME|SUBTRA|APREE|RECOLHI|SUCAT|IRRECUP|DESMA|DESMO|INSERV"
    r"|PERDA|P\.|BAIXA|BX|MONTA|DIREITO|REM|ADULT|CLON|DUBLE|RASP|RASUR|SUPRIM|LIXAD|FALS|DIVERG"
    r"|TROC|ALTER|VIOL|IRREG|SOLDA|ILEG|CONFERE|CORRESP|CADASTR|ORIGIN|JUD|PENHOR|ARREST|SEQUEST"
    r"|INDISPON|EXECUCAO|JUI[ZS]|PREMON|SENTEN|LIMINAR|ALIEN|FID|GRAVAM|FINANC|LEASING|ARREND"
    r"|DOMI|ONUS|CONSORC|GARANTIA|VENDA|LEIL|ARREMAT|PATIO|SINIS|DANO|COLIS|COLID|ACIDEN|ALAGA"
    r"|ENCHEN|INCEND|QUEIMA|SALVAD|INDENIZ|AVARI|BATID|CAPOT|RECUPERAD|SUBMERS|BLOQ|IMPEDI|PROIB"
    r"|RESTR|ABANDON|REPROV|INTERDI|IPVA|DEBITO|DIVIDA|DPVAT|LICENC|TAXA|INADIMP|PROTEST|PENDENC"
    r"|MULTA|AUTUA|INFRA|HODOM|QUILOM|KM|RECALL|NAO |DESACONS|EVIT|FUJA|INVIAV|DESFAV|CONTRAIND"
    r"|RISCO|ARRISC|PERIG|GOLPE|FRAUD|PARECER"
)
_SENTENCE: Final = re.compile(
    r"[;!\n]|(?<!\bAL)(?<!\bRES)(?<!\bMED)(?<!\bPEQ)(?<!\bGDE)(?<!\bGRD)(?<!\bGR)(?<!\bCOM)(?<!\bBX)"
    r"(?<!\bRESTR)(?<!\bARREND)\.(?=\s|$)|\b(?:MAS|POREM|CONTUDO|ENTRETANTO|TODAVIA)\b"
)
# A sentence is read from word to word. These words begin what is denied, and these end it.
_DENIES: Final = re.compile(
    r"NAO|SEM|NADA|NENHUM\w*|NEM|NUNCA|JAMAIS|ZERO|LIVRES?|ISENT[OA]S?|ISENCAO|AUSENCIA|AUSENTES?"
    r"|INEXIST\w*|DESCART\w*|NEGATIV[OA]S?|0"
)
_AFFIRMS: Final = re.compile(
    r"CONSTAM?|CONSTOU|CONSTANDO|CONSTATAD\w*|HA|HOUVE|TEM|TEVE|POSSUI\w*|EXISTEM?|APRESENTA\w*"
    r"|REGISTRA|ACUSA\w*|APONTA\w*|IDENTIFICAD\w*|ENCONTRAD\w*|LOCALIZAD\w*|DETECTAD\w*|ATIV[OA]S?"
    r"|EXCETO|SALVO|APESAR|SIM|POSITIV[OA]S?|VIGENTES?"
)
# "sem débitos, com leilão" affirms the auction; "sem pendência com a financeira" does not.
_AFFIRMS_ANEW: Final = re.compile(r"(,|\bE) *COM$")
# Words that may stand between a denial and its verb: "NAO FORAM ENCONTRADOS", "NADA CONSTA".
_BETWEEN: Final = re.compile(r"SE|FOI|FORAM|ESTA|ESTAO|E|SAO|MAIS|LHE|ME|NOS|MUITO|TER|TEREM|HAVER")
# The denial of an end affirms: "SEM BAIXA", "NAO RECUPERADO", "NAO PAGO".
_ENDS: Final = re.compile(
    r"(ANUL|ARQUIV|BAIX|CANCEL|DESBLOQ|ENCERR|EXCLU|EXTIN|LEVANT|LIBERA|PAG|QUIT|RECUPER|REGULARI"
    r"|REMOV|RESOLV|RETIR|REVOG|SOLU|CUMPR|DEVOLV|REPAR|LICENC)\w*"
)
# Behind a subject, such an end closes it. A recovered theft or a repaired crash stays a warning.
_ENDED: Final = re.compile(
    r"(ANULAD|ARQUIVAD|BAIXAD|CANCELAD|DESBLOQUEAD|ENCERRAD|EXCLUID|EXTINT|INATIV|LEVANTAD|LIBERAD"
    r"|PAG|QUITAD|REGULARIZAD|REMOVID|RESOLVID|RETIRAD|REVOGAD)[AO]S?"
)
_FINE: Final = re.compile(
    r"DIA|REGULAR(ES)?|OK|LIMP[OA]S?|NORMA(L|IS)|PRESERVAD[OA]S?|ORIGINA(L|IS)"
)
_ENDABLE: Final = frozenset(
    {
        *(Subject.COURT, Subject.LIEN, Subject.BLOCK, Subject.SALE_NOTICE, Subject.SEIZURE),
        *(Subject.DEBTS, Subject.FINES, Subject.RECALL),
    }
)
_VAGUE: Final = re.compile(
    r"\b(CONSULT|CONFI[RA]|VERIFI|PESQUIS|CHEC|AVALI|ANALIS|SOLICIT|EXIJA|PERGUNT|SUGERE|INDISPON"
    r"|OBSERV|EVENTUA|POSSIVE[IL]|ABRANG|INSPECION|CERTIFI)\w*"
    r"|\b(CASO|QUALQUER|PECA|FACA|FAZER|REALIZAR|RECOMENDA-SE|ANTES DE|SE HA|SE HOUVER)\b"
    r"|\bNAO (FOI|FORAM|E) (POSSIVEL|INCLU)\w*|\bNAO (INFORMAD|DISPONIV|COBERT|CONSTANTE)\w*"
)
_STATES: Final = re.compile(
    r"\b(CONSTAM?|CONSTOU|CONSTATAD\w*|HA|HOUVE|POSSUI|EXISTEM?|ATIV[OA]S?|IDENTIFICAD\w*"
    r"|ENCONTRAD\w*|APONTA\w*|ACUSA\w*|SIM|POSITIV[OA]|REGISTRAD[OA]S?|VIGENTES?)\b"
)
_CONDITION: Final = re.compile(r"\b(ANTES|ATE|CASO|ENQUANTO|SE|SEM (A|UMA)? ?VISTORIA)\b")
# What belongs to the words that name a subject.
_BEFORE: Final = re.compile(r"\b(?:CHASSI|MOTOR|VEICULO|NAO) $")
_AFTER: Final = re.compile(r" FIDUCIARIA\b| DE (?:FURTO|LEILAO|ROUBO|SINISTRO)\b")
_WORD: Final = re.compile(r"\w+")
# What may stand between subjects of one list: "ROUBO, FURTO E PASSAGEM POR LEILAO".
_LISTED: Final = re.compile(
    r"[\s,/&:()-]*(?:(?:A|AO|AS|COM|DA|DAS|DE|DO|DOS|E|EM|HISTORICO|INDICIOS?|NO|O|OCORRENCIAS?|OS|OU"
    r"|PASSAGEM|POR|QUALQUER|REGISTROS?|TIPO)\b[\s,/&:()-]*)*"
)
# Longer texts are read to here. A topic of the report has at most some thousand characters.
_LONGEST: Final = 20_000


@dataclass(frozen=True, slots=True)
class Adverse:
    """A subject that a text warns of, with the words that name it, as sent.

    ``sentence`` is the sentence around them, in capitals and without accents.
    """

    subject: Subject
    words: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Named:
    """Where a sentence names a subject."""

    subject: Subject
    first: int
    last: int


def adverse_in(text: str) -> Iterator[Adverse]:
    """Yield each subject that a text warns of, once, in the text's order."""
    text = text[:_LONGEST]
    read = bare(text)
    if not _FRAGMENTS.search(read):
        return
    as_sent = text if len(text) == len(read) else read
    seen: set[Subject] = set()
    for start, end in _sentences(read):
        sentence = read[start:end]
        for one in _affirmed(sentence):
            if one.subject not in seen:
                seen.add(one.subject)
                first, last = _whole(sentence, one)
                words = as_sent[start + first : start + last]
                yield Adverse(one.subject, words.strip(" ,;:"), sentence)


def states_something(text: str) -> bool:
    """Return whether a text says that something is on record, without naming what."""
    read = bare(text[:_LONGEST])
    return any(_states(read[start:end]) for start, end in _sentences(read))


def denies(text: str) -> bool:
    """Return whether a text has a word of denial."""
    return any(map(_DENIES.fullmatch, _WORD.findall(bare(text[:_LONGEST]))))


def _sentences(read: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _SENTENCE.finditer(read):
        yield start, found.start()
        start = found.end()
    yield start, len(read)


def _whole(sentence: str, one: _Named) -> tuple[int, int]:
    """Return where the words around a subject begin and end that belong to it."""
    before, after = _BEFORE.search(sentence[: one.first]), _AFTER.match(sentence, one.last)
    return before.start() if before else one.first, after.end() if after else one.last


def _affirmed(sentence: str) -> Iterator[_Named]:
    named = _named(sentence)
    for number, one in enumerate(named):
        if one.subject is Subject.ADVICE:
            if not _CONDITION.search(sentence, one.last):
                yield one
        elif (
            not _denied_before(sentence, one.first)
            and not _denied_after(sentence, named, number)
            and not _is_vague(sentence, one)
        ):
            yield one


def _named(sentence: str) -> list[_Named]:
    """Return the subjects that a sentence names, none over another, in its order."""
    named: list[_Named] = []
    for subject, pattern in (*_OF_SUBJECT, (Subject.ADVICE, _ADVICE)):
        for found in pattern.finditer(sentence):
            first, last = found.span()
            if not any(one.first < last and first < one.last for one in named):
                named.append(_Named(subject, first, last))
    subjects = {one.subject for one in named}
    if Subject.COURT in subjects:
        # "RENAJUD: CONSTA RESTRICAO" names one thing.
        named = [one for one in named if one.subject is not Subject.BLOCK]
    if subjects & _ENDABLE:
        # A lien that is "BAIXADO" has ended. A vehicle that is "BAIXADO" was written off.
        named = [one for one in named if not _ENDED.fullmatch(sentence, one.first, one.last)]
    return sorted(named, key=lambda one: one.first)


def _denied_before(sentence: str, first: int) -> bool:
    """Return whether the words before a place deny it: the last denial or affirmation counts."""
    denied, is_other = False, False
    words = list(_WORD.finditer(sentence))
    for number, word in enumerate(words):
        if word.start() >= first:
            break
        if _denies(words, number):
            denied, is_other = True, False
        elif _AFFIRMS.fullmatch(word[0]):
            denied = denied and _follows_denial(words, number)
        elif word[0] == "COM" and _AFFIRMS_ANEW.search(sentence[: word.end()]):
            denied = False
        elif not _LISTED.fullmatch(word[0]):
            # "NAO CIRCULA: SUCATA" denies a verb of its own.
            is_other = True
        if is_other and sentence.startswith(":", word.end()):
            denied = False
    return denied


def _denied_after(sentence: str, named: list[_Named], number: int) -> bool:
    """Return whether the words behind a subject, or behind its list of subjects, deny or end it."""
    last = number
    while last + 1 < len(named) and _LISTED.fullmatch(
        sentence[named[last].last : named[last + 1].first]
    ):
        last += 1
    end = named[last + 1].first if last + 1 < len(named) else len(sentence)
    after = sentence[named[last].last : end]
    words = list(_WORD.finditer(after))
    for place, word in enumerate(words):
        if _FINE.fullmatch(word[0]) and not _follows_denial(words, place):
            return True
        if _ENDED.fullmatch(word[0]):
            return named[number].subject in _ENDABLE and not _follows_denial(words, place)
        if _denies(words, place):
            # A denial right before the next subject is that one's.
            return end == len(sentence) or "," in after[word.end() :]
        if _AFFIRMS.fullmatch(word[0]):
            return False
    return False


def _denies(words: list[re.Match[str]], number: int) -> bool:
    if not _DENIES.fullmatch(words[number][0]):
        return False
    following = [word[0] for word in words[number + 1 :]]
    while following and _BETWEEN.fullmatch(following[0]):
        following.pop(0)
    return not (following and _ENDS.fullmatch(following[0]))


def _follows_denial(words: list[re.Match[str]], number: int) -> bool:
    before = number - 1
    while before >= 0 and _BETWEEN.fullmatch(words[before][0]):
        before -= 1
    return before >= 0 and _DENIES.fullmatch(words[before][0]) is not None


def _is_vague(sentence: str, one: _Named) -> bool:
    """Return whether the words around a subject, or the head of its list, only send elsewhere."""
    if _states(sentence):
        return False
    if _VAGUE.search(sentence[: max(sentence.rfind(":", 0, one.first), 0)]):
        return True
    first = sentence.rfind(",", 0, one.first) + 1
    last = sentence.find(",", one.last)
    return bool(_VAGUE.search(sentence[first : last if last >= 0 else len(sentence)]))


def _states(sentence: str) -> bool:
    words = list(_WORD.finditer(sentence))
    return any(
        _STATES.fullmatch(word[0])
        and not _follows_denial(words, number)
        and not _denied_before(sentence, word.start())
        for number, word in enumerate(words)
    )
