"""Reads which words of a Portuguese sentence are denied: "SEM ROUBO", "LEILAO: NADA CONSTA".

A sentence is in capitals and without accents. It is read once, from word to word, so that the time
grows with its length. A denial holds for what follows it, until an affirmation ends it. Advice
("CONSULTE", "CASO") holds in the same way.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Final, NamedTuple

# "S/ MULTAS" is "sem multas", but "BANCO X S/A" and "RUA Y S/N" are not. A number is one word.
_TOKEN: Final = re.compile(r"\bS/(?![AN]\b)|\bC/(?!C\b)|\bN[/.]C\b|\d+(?:[.,/]\d+)*|\w+")
_SPELT_OUT: Final = {"S/": "SEM", "C/": "COM", "N/C": "NEGATIVO", "N.C": "NEGATIVO"}


class _Role(Enum):
    DENIES = auto()
    # Says that the vehicle is rid of something. Denied itself, it affirms: "NAO ESTA LIVRE DE".
    FREES = auto()
    AFFIRMS = auto()
    # Affirms only in a new part of the sentence: "ATIVO" in "SEM GRAVAME ATIVO" does not.
    DESCRIBES = auto()
    EXCEPTS = auto()
    # Begins a new part of the sentence: "NAO E NOVO E PASSOU POR LEILAO".
    PREDICATE = auto()
    # Does so right behind a comma: "SEM DEBITOS, COM LEILAO".
    JOINS = auto()
    ADVISES = auto()
    PLAIN = auto()


_ROLES: Final = (
    (
        _Role.DENIES,
        r"NAO|SEM|NADA|NENHUM(A|AS)?|NENHUNS|NEM|NUNCA|JAMAIS|TAMPOUCO|ZERO|0+(,0+)?|AUSENCIA"
        r"|AUSENTES?|INEXIST\w*|INOCORR\w*|DESCONHEC\w*|NEGATIV[OA]S?|ISENCAO|AFASTAD\w*|DESCART\w*",
    ),
    (
        _Role.FREES,
        r"LIVRES?|ISENT[OA]S?|DESEMBARACAD[OA]S?|DESIMPEDID[OA]S?|DESONERAD[OA]S?|QUITES?|LIMP[OA]S?"
        r"|IMUNES?|DESPROVID[OA]S?|ALHEI[OA]S?|ADIMPLENTES?|DIA|REGULAR(ES)?|ORDEM|OK",
    ),
    (
        _Role.AFFIRMS,
        r"CONST(AM?|OU|ANDO)|HA|HOUVE|TEM|TEVE|TIVERAM|POSSUI\w*|EXISTEM?|EXISTIU|SIM"
        r"|APRESENTA\w*|REGISTRAM?|(ACUS|APONT|REVEL|INDIC|CONFIRM)(A|AM|OU|ARAM)|PESAM?|RECAI|RECAEM"
        r"|(LOCALIZ|ENCONTR|IDENTIFIC|DETECT|CONSTAT)(AMOS|OU|OU-SE|EI)",
    ),
    (
        _Role.DESCRIBES,
        r"ATIV[OA]S?|POSITIV[OA]S?|VIGENTES?|PENDENTES?|LOCALIZAD\w*|ENCONTRAD\w*|IDENTIFICAD\w*"
        r"|DETECTAD\w*|CONSTATAD\w*|REGISTRAD\w*|CONFIRMAD\w*|APONTAD\w*",
    ),
    (
        _Role.EXCEPTS,
        r"EXCETO|SALVO|APESAR|EXCECAO|AFORA|TIRANDO|EXCETUAD\w*|RESSALVAD\w*|SO|SOMENTE|APENAS"
        r"|UNICAMENTE|ALEM",
    ),
    (
        _Role.PREDICATE,
        r"FOI|FORAM|ESTA|ESTAO|SEGUEM?|PERMANECEM?|CONTINUAM?|FIGURA|PASSOU|SOFREU|BATEU|FICOU"
        r"|TRAZ|RESTAM?|CARRO|VEICULO|AUTOMOVEL",
    ),
    (_Role.JOINS, r"COM|MENOS|FORA"),
    (
        _Role.ADVISES,
        r"(CONSULT|AVALI|ANALIS|SOLICIT|PERGUNT|OBSERV|INSPECION|REALIZ|ATENT|LEVANT)(E|EM|AR)"
        r"|(PESQUIS|INVESTIG|APUR|CERTIFI|VERIFI|CHE|BUS)(UE|QUE|QUEM|CAR|GUE|GAR|E|AR)"
        r"|CONFIR(A|AM|ME|MEM|MAR)|CONFERIR|PE[CD](A|AM|IR)|EXI(JA|JAM|GIR)|VEJA|OLHE|PROCURE"
        r"|FACA|FAZER|CASO|QUALQUER|EVENTUA\w*|ABRANG\w*|CONTEMPLA\w*|SUGERIMOS|RECOMENDA(MOS)?"
        r"|ACONSELHA(MOS)?|CONVEM|PRUDENTE|ANTES|HOUVER|HOUVEREM|HAJA|EXISTIR|EXISTIREM|TIVER|SABER",
    ),
)
_OF_ROLE: Final = tuple((role, re.compile(pattern)) for role, pattern in _ROLES)
# Words that may stand between a denial and its verb: "NAO FORAM ENCONTRADOS", "NADA CONSTA".
_BETWEEN: Final = re.compile(
    r"SE|FOI|FORAM|FORA|ESTA|ESTAO|ESTEJA|E|SAO|SEJA|SER|SEREM|SIDO|MAIS|LHE|ME|NOS|MUITO|TER|TEREM"
    r"|HAVER|PODE|PODEM|DEVE|TENHA|TENHAM|AINDA|TOTALMENTE|COMPLETAMENTE"
)
_MOST_BETWEEN: Final = 6
# The denial of an end affirms: "SEM BAIXA", "NAO RECUPERADO", "NAO PAGO".
_ENDS: Final = re.compile(
    r"(ANUL|ARQUIV|ATEND|BAIX|CANCEL|CONCLU|DESBLOQ|ENCERR|EXCLU|EXTIN|LEVANT|LIBERA|LIQUID|PAG"
    r"|QUITA|RECUPER|REGULARI|REMOV|RESOLV|RETIR|REVOG|SANAD|SATISF|SOLU|CUMPR|DEVOLV|REPAR|LICENC"
    r"|RECOLHI)\w*"
)
# So does the denial of these: "NAO SE DESCARTA", "SEM DUVIDA", "NAO APENAS".
_TURNS: Final = re.compile(
    r"OBSTANTE|SO|SOMENTE|APENAS|DEIX(A|AM|OU)|DUVIDAS?|MENOS|DESCART\w*|NEG(A|AM|AR|OU|AD[OA])"
    r"|IGNOR\w*|ESQUE[CQ]\w*|FALTAM?|POUC[OA]S?|OCULT\w*|AFAST\w*|BASTASSE"
    r"|ACONSELH\w*|ADQUIR\w*|RECOMEND\w*|COMPR(E|EM|AR|AMOS)|FECHE|CONFI(E|EM|AVEL)"
)
# "Não consta a baixa do gravame" denies an end as well. "Não consta baixa definitiva" does not.
_CURES: Final = re.compile(
    r"(BAIX(A|AD[OA])|QUITACAO|QUITAD[OA]|CANCELAMENTO|LIBERACAO|RECUPERA(CAO|D[OA])"
    r"|REGULARIZA(CAO|D[OA])|DEVOLUCAO|DEVOLVID[OA]|DESBLOQUEIO|LEVANTAMENTO|PAG[OA])S?"
)
_OF_VEHICLE: Final = re.compile(r"DEFINIT\w*|PERMANEN\w*|TEMPOR\w*|SINISTR\w*|VEIC\w*")
_LEADS: Final = re.compile(r"[OA]S?|COMO|QUE|TER|SIDO|TENHA|SUA|UMA?|QUALQUER|FOI|ESTA|D[EOA]")
# "Sem prova de que não foi furtado" and "não é verdade que nunca foi" deny a denial.
_CLAIMS: Final = re.compile(
    r"VERDADE|VERDADEIRO|CERTO|CERTEZA|PROVAS?|COMPROV\w*|GARANT\w*|AFIRM\w*|DIZER|ASSEGUR\w*"
)
_ARTICLE: Final = re.compile(r"[OA]S?|UMA?S?|UNS|\d+")
# "Nenhum roubo, exceto o de 2021" excepts a theft, "apenas um risco" another thing.
_SAME: Final = re.compile(
    r"|DE|EM|N[OA]|D[OA]|JA|A|AINDA|NAO|QUE|OCORRID[OA]|ANTIG[OA]|REGISTRO|\d+"
)
# What a search looks for. Its denial denies the whole list behind a colon, or the words before it.
_TRACE: Final = re.compile(
    r"REGISTR\w*|OCORRENCIAS?|OCORREU|APONTAMENTOS?|INDICIOS?|SINA(L|IS)|ANOTAC\w*|HISTORICO"
    r"|RESULTADOS?|VESTIGIOS?|EVIDENC\w*|MENCAO|NOTICIAS?|DADOS|ITE(M|NS)|OBSERVAD\w*|VERIFICAD\w*"
    r"|VERIFICAMOS|VIMOS|ACHAD\w*|APLICAVEL|CONSTAT\w*|PASSAGE(M|NS)"
)
# "Alienado ao banco, sem pendências" is still alienated. "Alienação: sem pendências" is not.
_TROUBLE: Final = re.compile(
    r"RESTRIC\w*|PENDENCIAS?|ALTERAC\w*|IRREGULARIDADES?|DIVERGENCIAS?|PROBLEMAS?|RESSALVAS?"
    r"|ALERTAS?|IMPEDIMENTOS?|INFORMACAO"
)
_FINE: Final = re.compile(
    r"REGULAR(ES)?|OK|LIMP[OA]S?|NORMA(L|IS)|PRESERVAD[OA]S?|ORIGINA(L|IS)|INTACT[OA]S?"
    r"|INTEGR[OA]S?|ISENT[OA]S?|QUITES?|DESEMBARACAD[OA]S?|ADIMPLENTES?|COMPATIVE(L|IS)|CONFEREM?|CORRET[OA]S?|LIVRES?|CLEAR"
)
# These say so only behind another word: "POR ORDEM DO JUIZ" and "VENCIDO NO DIA 5" do not.
_FINE_ONLY_AFTER: Final = {"DIA": "EM", "ORDEM": "EM", "CERTO": "TUDO", "BEM": "TUDO"}
_ENDED: Final = re.compile(
    r"(ANULAD|ARQUIVAD|ATENDID|BAIXAD|CANCELAD|CONCLUID|CUMPRID|DESBLOQUEAD|ENCERRAD|EXCLUID|EXTINT"
    r"|INATIV|LEVANTAD|LIBERAD|LIQUIDAD|PAG|QUITAD|REALIZAD|REGULARIZAD|REMOVID|RESOLVID|RETIRAD"
    r"|REVOGAD|SANAD|SOLUCIONAD|ZERAD)[AO]S?"
)
_NOT_YET: Final = re.compile(
    r"SER|SERA|SERAO|FOR|FOREM|SEJAM?|ESTIVER(EM)?|AGUARD\w*|PENDENTE|FALTA|ATE"
)
_SLIGHT: Final = re.compile(r"(BAIX|REDUZID|REMOT|MINIM|PEQUEN|NUL[AO])\w*")
_CHANCE: Final = re.compile(r"RISCOS?|INDICES?|PROBABILIDADE|CHANCES?|INCIDENCIA")
_WITH: Final = re.compile(r"COM|QUANTO|EM|N[OA]S?|D[OA]S?|DE|PERANTE|JUNTO")
_PROTECTS: Final = re.compile(r"SEGURO|PROTECAO|COBERTURA|ALARME|GARANTIA|RASTREADOR|PROTEGID[OA]")
_ENGLISH: Final = re.compile(
    r"RED|RECORDS?|ISSUES?|LIENS?|FINES?|DAMAGE|ACCIDENTS?|RESTRICTIONS?|OUTSTANDING|THEFT|SALVAGE"
)
_OCCASION: Final = re.compile(r"MOMENTO|TEMPO|HIPOTESE|MODO|FORMA|MANEIRA|LUGAR|PONTO")
_THERE_IS: Final = ("HA", "RESTA", "RESTAM", "EXISTE", "TEMOS", "TENHO", "PAIRA")
_FEW_WORDS: Final = 3
_OF_ANY_VERB: Final = ("NAO", "SEM", "NEM", "NUNCA", "JAMAIS")
_STOP: Final = re.compile(r"[\s*_\"]*[^\s*_\"(\w]")
_ANSWERS: Final = re.compile(r"[\s)*_\"]*([:?=|→>]|-+ |[–—])")
_WHETHER: Final = re.compile(r"[OA]S?|JA|NAO|ELE|ELA|ALGUM|ALGUMA|ESTE|ESSE|TUDO")
# What "recomendamos" then names is affirmed: "recomendamos cautela: histórico de sinistro".
_CARE: Final = re.compile(r"CAUTELA|ATENCAO|CUIDADO|PRUDENCIA|DISTANCIA")
_CAUSES: Final = re.compile(r"DEVIDO|RAZAO|CAUSA|VIRTUDE|FACE")
# "Não emitido por bloqueio" names a cause. "Não passou por leilão" does not.
_CAUSED: Final = re.compile(r"(EMITID|TRANSFERID|LICENCIAD|CONCLUID|RENOVAD|POSSIVEL|CIRCULA)\w*")
_SUBORDINATES: Final = ("QUE", "SE", "OU", "NEM", "CASO", "DE", "DO", "POR")
_AGO: Final = re.compile(r"\d+|POUCO|MUITO|ANOS|MESES|DIAS|CERCA|ALGUNS|VARIOS")


class After(Enum):
    """What the words behind a subject say of it."""

    DENIED = auto()
    # Only an order, a lien or a debt can end. A recovered theft stays.
    ENDED = auto()
    # An instalment that is paid in time is still a lien.
    UP_TO_DATE = auto()
    LEFT_OPEN = auto()


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    role: _Role


@lru_cache(maxsize=4096)
def _role(text: str) -> _Role:
    return next((role for role, pattern in _OF_ROLE if pattern.fullmatch(text)), _Role.PLAIN)


def _words(sentence: str) -> list[_Word]:
    spelt = ((_SPELT_OUT.get(token[0], token[0]), token) for token in _TOKEN.finditer(sentence))
    return [_Word(text, *token.span(), _role(text)) for text, token in spelt]


class _Held(NamedTuple):
    """What the words before a position do to what stands there."""

    denied: bool
    advised: bool
    excepted: bool
    disclaimed: bool


@dataclass(slots=True)
class _State:
    """What holds at a word of the sentence."""

    denied: bool = False
    advised: bool = False
    # The denial is of a noun ("NENHUM REGISTRO CONSTA"), or of what a search looks for.
    of_noun: bool = False
    of_record: bool = False
    # A comma or "E" stands between the denial or advice and the word.
    parted: bool = False
    # "Salvo a alienação, nada consta" affirms the lien.
    excepted: bool = False
    # What stands behind "não é verdade que": a denial in it affirms.
    disclaimed: bool = False
    in_brackets: bool = False

    def affirm(self) -> None:
        self.denied = self.advised = False

    def held(self) -> _Held:
        return _Held(self.denied, self.advised, self.excepted, self.disclaimed)


class Reading:
    """The words of one sentence, with what is denied and advised before each of them."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._words = _words(sentence)
        self._starts = [word.start for word in self._words]
        self._held = list(self._hold())

    def is_denied_at(self, position: int) -> bool:
        """Return whether the words before a position deny what stands there."""
        return self._held_at(position).denied

    def is_denied_within(self, start: int, end: int) -> bool:
        """Return whether a word between two positions denies something."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return any(self._effect(number, denied=False) for number in range(first, last))

    def is_advised_at(self, position: int) -> bool:
        """Return whether the words before a position only ask to check what stands there."""
        return self._held_at(position).advised

    def is_excepted_at(self, position: int) -> bool:
        """Return whether the words before a position except it from a denial behind it."""
        return self._held_at(position).excepted

    def is_disclaimed_at(self, position: int) -> bool:
        """Return whether a position stands in what is said not to be so, or not to be proven."""
        return self._held_at(position).disclaimed

    def is_confirmed(self, start: int) -> bool:
        """Return whether "SIM" answers right behind a subject: "ROUBO NAO, FURTO SIM"."""
        number = bisect_left(self._starts, start)
        return self._text(number) == "SIM" and not self._gap(number).strip(' )*_"')

    def is_stated_behind(self, start: int) -> bool:
        """Return whether the word right behind a subject affirms it: "FURTO CONSTA"."""
        number = bisect_left(self._starts, start)
        is_next = number < len(self._words) and not self._gap(number).strip()
        return is_next and self._words[number].role in (_Role.AFFIRMS, _Role.DESCRIBES)

    def excepts_within(self, start: int, end: int) -> bool:
        """Return whether a denial between two positions excepts one of what it denies."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return any(
            self._excepts(number)
            and _ARTICLE.fullmatch(self._text(number + 1))
            and _SAME.fullmatch(self._text(number + 2))
            for number in range(first, last)
        )

    def has_end_within(self, start: int, end: int) -> bool:
        """Return whether what stands between two positions has ended: "EXCETO AS JA PAGAS"."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return any(
            self._has_ended(number) and not self._follows_denial(number)
            for number in range(first, last)
        )

    def says_fine(self) -> bool:
        """Return whether a word says that all is well, or that something has ended."""
        return any(
            (self._is_fine(number) or self._has_ended(number)) and not self._follows_denial(number)
            for number, word in enumerate(self._words)
        )

    def has_denial(self) -> bool:
        return any(self._effect(number, denied=False) for number in range(len(self._words)))

    def states(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a word of the pattern states something, and asks or denies nothing."""
        asked = self._sentence.rfind("?")
        return any(
            pattern.fullmatch(word.text)
            and word.start > asked
            and not self._follows_denial(number)
            and not self._held[number].denied
            and self._text(number - 1) not in ("SE", "CASO")
            and not (word.text == "HA" and _AGO.fullmatch(self._text(number + 1)))
            for number, word in enumerate(self._words)
        )

    def is_about_records(self) -> bool:
        """Return whether the sentence says no more than that something is on record."""
        return len(self._words) <= _FEW_WORDS or any(
            _TRACE.fullmatch(word.text) or _TROUBLE.fullmatch(word.text) for word in self._words
        )

    def after(self, start: int, end: int, *, is_last: bool) -> After:
        """Return what the words from ``start`` to ``end`` say of the subject before them.

        If another subject follows (not ``is_last``), a denial right before it is that one's.
        """
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        parted, ended = False, After.LEFT_OPEN
        for number in range(first, last):
            word = self._words[number]
            parted = parted or (number > first and "," in self._gap(number))
            follows = self._follows_denial(number)
            is_asked = self._gap(number + 1).lstrip()[:1] in (":", "?")
            if not parted and not follows and self._is_fine(number):
                return After.UP_TO_DATE if word.text == "DIA" else After.DENIED
            if not parted and _SLIGHT.fullmatch(word.text) and self._is_chance(first):
                return After.DENIED
            if _ENDED.fullmatch(word.text) or self._is_end(number):
                if follows or _NOT_YET.fullmatch(self._text(number - 1)):
                    return After.LEFT_OPEN
                ended = After.ENDED
            if word.role is _Role.DENIES:
                if self._effect(number, denied=False) is False:
                    return After.LEFT_OPEN if _ENDS.fullmatch(self._verb(number)) else ended
                answers = bool(_ANSWERS.match(self._gap(number)))
                if self._denies_before(number, is_next=answers or number == first, parted=parted):
                    is_own = is_last or answers or "," in self._sentence[word.end : end]
                    return After.DENIED if is_own else ended
            elif word.role in (_Role.AFFIRMS, _Role.DESCRIBES) and not (is_asked or follows):
                return ended
        return ended

    def _held_at(self, position: int) -> _Held:
        return self._held[bisect_left(self._starts, position)]

    def _hold(self) -> Iterator[_Held]:
        state = _State()
        yield state.held()
        for number, word in enumerate(self._words):
            self._step(state, number, word)
            yield state.held()

    def _step(self, state: _State, number: int, word: _Word) -> None:
        parts = "," in self._gap(number) or self._text(number - 1) == "E"
        state.parted = state.parted or parts
        gap = self._gap(number)
        state.in_brackets = (state.in_brackets or "(" in gap) and ")" not in gap
        state.excepted = self._excepts(number) or (state.excepted and "," not in gap)
        effect = self._effect(number, denied=state.denied and not state.parted)
        if state.disclaimed and effect:
            effect = False
        is_claim = any(_CLAIMS.fullmatch(self._text(number - step)) for step in (1, 2, 3))
        if word.text == "QUE" and state.denied and is_claim:
            state.disclaimed = True
        follows = self._follows_denial(number)
        if effect is not None:
            state.denied, state.parted = effect, False
            state.advised = state.advised and effect
            state.of_noun = word.text.startswith("NENHU")
            state.of_record = False
        elif word.role is _Role.ADVISES or self._is_if(number):
            if not (follows or _CARE.fullmatch(self._text(number + 1))):
                state.advised, state.parted = True, False
        elif self._affirms(state, number, word, parts=parts) and (
            not follows or word.text == "ALEM"
        ):
            state.affirm()
        is_record = _TRACE.fullmatch(word.text) or _TROUBLE.fullmatch(word.text)
        if is_record or word.role is _Role.DESCRIBES:
            state.of_record = True
        if self._gap(number + 1).startswith(":") and not (
            state.of_record or state.in_brackets or effect or word.role is _Role.AFFIRMS
        ):
            # "NAO CIRCULA: SUCATA" denies a verb of its own.
            state.denied = False

    def _affirms(self, state: _State, number: int, word: _Word, *, parts: bool) -> bool:
        before = self._text(number - 1)
        if self._excepts(number):
            return True
        if _CAUSES.fullmatch(word.text) or (word.text == "POR" and _CAUSED.fullmatch(before)):
            return not state.of_record
        match word.role:
            case _Role.AFFIRMS:
                return before not in ("QUE", "SE") and (state.parted or not state.of_noun)
            case _Role.DESCRIBES:
                # "Sem registro de leilão, recall pendente ou sinistro" goes on with what is denied.
                goes_on = self._text(number + 1) in ("OU", "NEM")
                return state.parted and not goes_on and before not in _SUBORDINATES
            case _Role.PREDICATE:
                is_noun = word.text in ("CARRO", "VEICULO", "AUTOMOVEL")
                return (parts if is_noun else state.parted) and before not in _SUBORDINATES
            case _Role.JOINS:
                # "Sem pendência com a financeira" affirms nothing.
                return parts
            case _:
                return False

    def _excepts(self, number: int) -> bool:
        """Return whether what follows is not denied: "NADA CONSTA FORA UM FURTO"."""
        word, behind = self._words[number], self._text(number + 1)
        if word.text in ("FORA", "MENOS"):
            return bool(_ARTICLE.fullmatch(behind))
        if word.text == "ALEM":
            return behind in ("DE", "DO", "DA", "DOS", "DAS")
        return word.role is _Role.EXCEPTS and behind not in ("ENGANO", "MELHOR")

    def _effect(self, number: int, *, denied: bool) -> bool | None:
        """Return whether a word denies what follows, or affirms it as a denial denied, or None."""
        word, before, behind = self._words[number], self._text(number - 1), self._text(number + 1)
        follows = self._follows_denial(number)
        if word.role is _Role.FREES:
            if not (_WITH.fullmatch(behind) or word.text.startswith("ISENT")):
                return None
            if word.text in ("DIA", "ORDEM") and before != "EM":
                return None
            return not (follows or denied)
        if word.role is _Role.DENIES:
            if behind in ("KM", "QUILOMETRO", "QUILOMETROS"):
                return None
            if (before, word.text, behind) == ("A", "NAO", "SER"):
                return False
            if follows and word.text.startswith(("DESCART", "AFAST", "INEXIST", "DESCONHEC")):
                return False
            verb = self._verb(number)
            if verb in _THERE_IS and self._text(number + 2).startswith("DUVIDA"):
                return False
            is_turned = word.text != "NEM" and bool(_ENDS.fullmatch(verb) or _TURNS.fullmatch(verb))
            is_turned = is_turned or self._denies_cure(number)
            is_freed = _role(verb) is _Role.FREES and verb != "ORDEM"
            return not (is_turned or is_freed)
        is_denial = (
            (word.text in ("ALGUM", "ALGUMA") and _OCCASION.fullmatch(before))
            or (word.text == "N" and _role(behind) is _Role.AFFIRMS)
            or (word.text == "NO" and _ENGLISH.fullmatch(behind))
            or (_CHANCE.fullmatch(word.text) and (_SLIGHT.match(before) or _SLIGHT.match(behind)))
            or (word.text == "CONTRA" and self._is_protection(number))
        )
        return True if is_denial else None

    def _denies_cure(self, number: int) -> bool:
        """Return whether a denial is of an end: "NAO CONSTA A BAIXA DO GRAVAME"."""
        behind = number + 1
        while behind - number <= _MOST_BETWEEN and (
            _BETWEEN.fullmatch(self._text(behind))
            or _LEADS.fullmatch(self._text(behind))
            or _role(self._text(behind)) is _Role.AFFIRMS
        ):
            behind += 1
        is_cure = _CURES.fullmatch(self._text(behind)) and behind > number + 1
        near = (self._text(behind + step) for step in (1, 2))
        return bool(is_cure) and not any(map(_OF_VEHICLE.fullmatch, near))

    def _denies_before(self, number: int, *, is_next: bool, parted: bool) -> bool:
        """Return whether a denial is of what stands before it: "LEILAO: NAO", "NAO CONSTA".

        ``is_next``: it stands right behind the subject, as its answer.
        """
        if self._is_cause(number):
            return False
        if self._words[number].text not in _OF_ANY_VERB and not parted:
            return True
        if number + 1 == len(self._words) or _STOP.match(self._gap(number + 1)):
            return True
        verb = self._verb(number)
        if _role(verb) in (_Role.AFFIRMS, _Role.DESCRIBES) or (
            is_next and _TROUBLE.fullmatch(verb)
        ):
            return True
        # "não retornou resultados"
        return any(_TRACE.fullmatch(self._text(number + step)) for step in (1, 2, 3))

    def _is_cause(self, number: int) -> bool:
        """Return whether a denial says why something is so: "BLOQUEIO POR AUSENCIA DE VISTORIA"."""
        return self._text(number - 1) in ("POR", "PELA", "PELO") or any(
            _CAUSES.fullmatch(self._text(number - step)) for step in (2, 3)
        )

    def _is_if(self, number: int) -> bool:
        """Return whether a word makes a condition: "SE CONSTA", "SE O MOTOR FOI"."""
        if self._text(number) == "SE":
            return "-" not in self._gap(number) and bool(_WHETHER.fullmatch(self._text(number + 1)))
        is_verb = self._words[number].role in (_Role.AFFIRMS, _Role.PREDICATE)
        return is_verb and self._text(number - 1) == "SE"

    def _is_end(self, number: int) -> bool:
        is_noun = self._text(number) in ("BAIXA", "QUITACAO", "LIBERACAO", "CANCELAMENTO")
        return is_noun and self._text(number - 1) in ("COM", "HOUVE", "TEVE")

    def _is_fine(self, number: int) -> bool:
        """Return whether a word says that all is well: "EM ORDEM" does, "POR ORDEM DE" does not."""
        text = self._text(number)
        if (leads := _FINE_ONLY_AFTER.get(text)) is not None:
            return self._text(number - 1) == leads
        return bool(_FINE.fullmatch(text))

    def _has_ended(self, number: int) -> bool:
        is_ahead = _NOT_YET.fullmatch(self._text(number - 1))
        return bool(_ENDED.fullmatch(self._text(number))) and not is_ahead

    def _is_chance(self, number: int) -> bool:
        return any(_CHANCE.fullmatch(self._text(place)) for place in range(number - 5, number))

    def _is_protection(self, number: int) -> bool:
        return any(_PROTECTS.fullmatch(self._text(place)) for place in range(number - 3, number))

    def _follows_denial(self, number: int) -> bool:
        before = number - 1
        while number - before <= _MOST_BETWEEN and _BETWEEN.fullmatch(self._text(before)):
            before -= 1
        return before >= 0 and self._words[before].role is _Role.DENIES

    def _verb(self, number: int) -> str:
        """Return the word that a denial denies, or ""."""
        behind = number + 1
        while behind - number <= _MOST_BETWEEN and _BETWEEN.fullmatch(self._text(behind)):
            behind += 1
        return self._text(behind)

    def _text(self, number: int) -> str:
        return self._words[number].text if 0 <= number < len(self._words) else ""

    def _gap(self, number: int) -> str:
        """Return what stands right before a word, or behind the last one."""
        first = self._words[number - 1].end if number else 0
        end = self._words[number].start if number < len(self._words) else len(self._sentence)
        return self._sentence[first:end]
