"""The answer for one act: transferring, licensing, driving or towing a vehicle."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from portal.data_files import read_csv

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always favourable. For "removal" (towing), "yes" means that no risk of towing was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# What confirms the rule behind an answer. "verified": the authors have read the legal text.
# "reported": websites of the car trade state the rule. "memory": the authors recall the rule, but
# no source confirms it.
Confidence = Literal["verified", "reported", "memory"]
# How a prohibition is hedged: it holds as a rule, or in the practice of the registers.
Hedge = Literal["", "rule", "practice"]

_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class ActTexts:
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


ACT_TEXTS: Mapping[Act, ActTexts] = {
    texts.act: texts for texts in read_csv(__package__, "acts.csv", ActTexts)
}
ACTS = tuple(ACT_TEXTS)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one act.

    ``phrase`` is a clause ("não pode transferir": cannot be transferred), and ``reason`` is a full
    sentence. ``short`` has at most eight words for a list of acts, or "". ``records`` are the HTML
    anchors of the fines and restrictions that decide the answer, such as "multa-1". ``says`` is
    "unlicensed" if ``reason`` names the offence of driving without a licence.
    """

    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()
    short: str = ""
    hedge: Hedge = ""
    says: Literal["", "unlicensed"] = ""


def is_worse(mark: Mark, other: Mark) -> bool:
    return _WORST_FIRST.index(mark) < _WORST_FIRST.index(other)


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return the answers that share the least favourable mark, in their given order."""
    given = tuple(answers)
    for mark in _WORST_FIRST:
        if sharing := tuple(answer for answer in given if answer.mark == mark):
            return sharing
    return ()
