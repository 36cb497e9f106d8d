"""The words of the acts, and of what court orders and fines mean for each of them."""

from collections.abc import Mapping
from typing import Final

import msgspec

from portal.data_files import read_csv
from portal.law.act_answers import Act, Answer
from portal.law.effects import Effect
from portal.law.restriction_kinds import Kind
from portal.law.standing import Standing
from portal.phrasebook.standings import WORDS
from portal.wording import listed


class ActTexts(msgspec.Struct, frozen=True):
    """The words of an act, a line of ``acts.csv``.

    ``verb`` follows "pode" ("may"). ``no``, ``careful`` and ``yes`` are the words of these marks.
    ``yes`` is "Nada encontrado" ("nothing found") and not "Sim" ("yes"), because the lookups do not
    cover liens, theft or the registers of the states. ``stale`` replaces ``careful`` if a stale
    (old) answer has no court order: "Risco possível" ("possible risk") would suggest an order.
    ``nothing_found`` is a sentence for an act that no record restricts. ``unverified`` names what
    is not verified, or is "".
    """

    act: Act
    label: str
    verb: str
    no: str
    careful: str
    yes: str
    stale: str
    nothing_found: str
    unverified: str


ACT_TEXTS: Final[Mapping[Act, ActTexts]] = {
    texts.act: texts for texts in read_csv(__package__, "acts.csv", ActTexts)
}


class _KindTexts(msgspec.Struct, frozen=True):
    """What a kind of order, or none (""), means for an act, a line of ``effects.csv``.

    ``phrase`` is a clause ("não pode transferir": cannot be transferred), and ``reason`` is a full
    sentence. ``short`` has at most eight words for a list of acts, or is "". ``says`` is
    "unlicensed" if ``reason`` names the offence of driving without a licence, else "".
    """

    ground: Kind | str
    act: Act
    phrase: str
    reason: str
    short: str
    says: str


_OF_KINDS: Final[Mapping[tuple[str, Act], _KindTexts]] = {
    (texts.ground, texts.act): texts for texts in read_csv(__package__, "effects.csv", _KindTexts)
}
_NOT_READ: Final = "O tipo da restrição não foi informado ou reconhecido por inteiro"


def phrase(answer: Answer) -> str:
    """Return a clause on the act: ``não pode transferir``."""
    verb = ACT_TEXTS[answer.act].verb
    match answer.ground:
        case Standing():
            return WORDS[answer.ground].brief
        case "any_kind":
            return f"em regra não pode {verb}"
        case "unread" | "contradicted" | "lifted":
            return f"não é possível dizer se pode {verb}"
        case "permitted":
            return f"a fonte diz que pode {verb}"
        case kind:
            return _OF_KINDS[kind, answer.act].phrase


def reason(answer: Answer) -> str:
    """Return a sentence on why the act is allowed, forbidden or in doubt."""
    match answer.ground:
        case Standing():
            return WORDS[answer.ground].why.format(law=answer.source)
        case "any_kind":
            return f"{_NOT_READ}, mas todos os tipos do Renajud impedem, em regra, a transferência."
        case "unread":
            return f"{_NOT_READ}."
        case "contradicted":
            return (
                "A fonte se contradiz: diz que não há restrição e, no mesmo registro, a descreve. "
                "Confirme com o juízo."
            )
        case "lifted":
            return f"A fonte registra “{answer.quoted}”: confirme com o juízo."
        case "permitted":
            return f"A fonte diz “{answer.quoted}”: confirme com o juízo."
        case kind:
            return _OF_KINDS[kind, answer.act].reason


def short(answer: Answer) -> str:
    """Return the reason in a few words for a list of acts, or ""."""
    if answer.ground == "permitted":
        return "Autorizado, segundo a fonte"
    texts = _OF_KINDS.get((answer.ground, answer.act))
    return texts.short if texts else ""


def says_unlicensed(answer: Answer) -> bool:
    """Return whether the reason names the offence of driving without a licence."""
    texts = _OF_KINDS.get((answer.ground, answer.act))
    return texts is not None and texts.says == "unlicensed"


def sentence(effect: Effect) -> str:
    """Return an order's effect in words, such as ``não pode transferir; pode circular``."""
    asked: tuple[Act, ...] = ("transfer", "licence", "drive")
    answers = effect.answers
    phrases = [phrase(answers[act]) for act in asked if answers[act].mark != "unknown"]
    verbs = [ACT_TEXTS[act].verb for act in asked if answers[act].mark == "unknown"]
    if verbs:
        phrases.append(f"não é possível dizer se pode {listed(verbs, ' ou ')}")
    if answers["removal"].mark == "no":
        phrases.append(phrase(answers["removal"]))
    return "; ".join(phrases)


def doubt(effect: Effect) -> str:
    """Return a clause on why an order's record is unreliable, or ""."""
    match effect.doubt:
        case "contradicted":
            return "a fonte se contradiz"
        case "lifted":
            return f"a fonte registra “{effect.quoted}”"
    return ""
