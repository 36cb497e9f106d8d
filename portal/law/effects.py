"""The effects of a court's restriction on a vehicle, by the restriction's kind.

The name of a kind states its legal effect: "licenciamento" forbids licensing. The further effects
of a kind have weaker sources. Websites of the car trade report some of them (``confidence``
"reported"). No source confirms the others ("memory"). Each of Renajud's own four kinds stops a
transfer. A restriction of unknown, hidden or missing kind therefore stops a transfer, too. Of the
orders that a text may name instead, only the averbação premonitória leaves the transfer possible:
the creditor may have the sale undone.

A record may say that a restriction or one of its kinds was lifted ("BAIXADA"). The source (the
upstream API) does not document such words, so the answers are then "unknown". If the record also
has a kind that was not lifted, the answer for an act that this kind forbids remains "no". A record
may also contradict itself: it describes a restriction but says that there is no restriction. The
answers for all acts are then "unknown".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import msgspec

from portal.data_files import read_csv
from portal.law.act_answers import ACT_TEXTS, ACTS, Act, Answer, worst
from portal.law.restriction_kinds import KIND_WORDS, Kind, read_kinds
from portal.law.rules import CONSULTED
from portal.vehicle.judicial import Restriction
from portal.wording import listed

WHO_LIFTS = (
    "Só o juiz que deu a ordem (ou um tribunal acima) pode retirá-la; Detran e Senatran não podem. "
    "O interessado pede a baixa no processo, com advogado ou defensor. Lei consultada em "
    f"{CONSULTED}."
)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one restriction on each act.

    ``kinds`` are in the order of KIND_WORDS. If the restriction's text has an unrecognised word or
    no kind, ``unrecognised`` is the text as sent, else "". ``in_force`` is False only if the record
    states that there is no restriction and no field contradicts this statement. ``doubt`` is a
    clause that explains why the record is unreliable ("a fonte registra “BAIXADA”": the source says
    "lifted"). If the record is reliable, ``doubt`` is "".
    """

    kinds: tuple[Kind, ...]
    unrecognised: str
    in_force: bool
    answers: Mapping[Act, Answer]
    doubt: str = ""

    @property
    def kinds_word(self) -> str:
        """The kinds in words: ``transferência e licenciamento``."""
        return listed([KIND_WORDS[kind] for kind in self.kinds])

    @property
    def group(self) -> object:
        """What the findings of equal orders share."""
        return self.kinds, self.unrecognised, self.doubt, *(self.answers[act] for act in ACTS)

    @property
    def sentence(self) -> str:
        """The effect in words, such as ``não pode transferir; pode circular``."""
        asked: tuple[Act, ...] = ("transfer", "licence", "drive")
        answers = self.answers
        phrases = [answers[act].phrase for act in asked if answers[act].mark != "unknown"]
        verbs = [ACT_TEXTS[act].verb for act in asked if answers[act].mark == "unknown"]
        if verbs:
            phrases.append(f"não é possível dizer se pode {listed(verbs, ' ou ')}")
        if answers["removal"].mark == "no":
            phrases.append(answers["removal"].phrase)
        return "; ".join(phrases)


def _tables() -> dict[str, dict[Act, Answer]]:
    """Return what each kind of order, or none (""), means for each act."""
    tables: dict[str, dict[Act, Answer]] = {}
    for line in read_csv(__package__, "effects.csv", dict[str, str]):
        answer = msgspec.convert(line, Answer)
        tables.setdefault(line["kind"], {})[msgspec.convert(line["act"], Act)] = answer
    return tables


_KINDS = _tables()
_FREE = _KINDS[""]
_CONTRADICTION = "a fonte se contradiz"


def _unknown(reason: str) -> dict[Act, Answer]:
    return {
        act: replace(
            _FREE[act],
            mark="unknown",
            phrase=f"não é possível dizer se pode {texts.verb}",
            reason=reason,
        )
        for act, texts in ACT_TEXTS.items()
    }


_NOT_READ = "O tipo da restrição não foi informado ou reconhecido por inteiro"
_UNKNOWN = _unknown(f"{_NOT_READ}.")
_OF_ANY_KIND = _UNKNOWN | {
    "transfer": Answer(
        "no",
        "em regra não pode transferir",
        f"{_NOT_READ}, mas todos os tipos do Renajud impedem, em regra, a transferência.",
        "TJSC, Código de Normas, Apêndice III",
        "memory",
        hedge="rule",
    )
}
_CONTRADICTED = _unknown(
    "A fonte se contradiz: diz que não há restrição e, no mesmo registro, a descreve. "
    "Confirme com o juízo."
)


def effect_of(restriction: Restriction, today: date) -> Effect:
    if restriction.is_lifted:
        return Effect((), "", in_force=False, answers=_FREE)
    fields = (restriction.kinds_text, restriction.block_type)
    reading = read_kinds("; ".join(str(field) for field in fields if field), today)
    tables = [_KINDS[kind] for kind in reading.stated]
    doubt = ""
    is_denied = restriction.recorded is False or restriction.is_denied
    if restriction.recorded is False or (is_denied and not reading.revoked_by):
        doubt, tables = _CONTRADICTION, [_CONTRADICTED]
    elif reading.revoked_by:
        doubt = f"a fonte registra “{reading.revoked_by}”"
        tables.append(_unknown(f"{doubt[0].upper()}{doubt[1:]}: confirme com o juízo."))
    is_hidden = any(field.is_hidden for field in fields)
    if is_hidden and restriction.recorded is not False:
        # The hidden text may name a kind that is still in force, or another order.
        tables.append(_OF_ANY_KIND)
    elif reading.unrecognised or is_hidden or not tables:
        # Beside a lifted kind, the unread words may name another order.
        is_more = reading.states_more and not is_denied
        tables.append(_OF_ANY_KIND if is_more or not doubt else _UNKNOWN)
    answers = {act: _decisive([table[act] for table in tables]) for act in ACTS}
    return Effect(reading.kinds, reading.unrecognised, True, answers, doubt)


def _decisive(answers: Sequence[Answer]) -> Answer:
    """Return the least favourable answer. In a tie, the highest confidence wins."""
    order = ("verified", "reported", "memory")
    return min(worst(answers), key=lambda answer: order.index(answer.confidence))
