"""The answer for one act: transferring, licensing, driving or towing a vehicle."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always favourable. For "removal" (towing), "yes" means that no risk of towing was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# What confirms the rule behind an answer. "verified": the authors have read the legal text.
# "reported": websites of the car trade state the rule. "memory": the authors recall the rule, but
# no source confirms it.
Confidence = Literal["verified", "reported", "memory"]

ACTS: tuple[Act, ...] = ("transfer", "licence", "drive", "removal")
_HEDGES: tuple[str, ...] = ("em regra", "na prática")
_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one act.

    ``phrase`` is a clause ("não pode transferir": cannot be transferred), and ``reason`` is a full
    sentence. ``short`` has at most eight words for a list of acts, or "". ``records`` are the HTML
    anchors of the fines and restrictions that decide the answer, such as "multa-1".
    """

    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()
    short: str = ""

    @property
    def brief(self) -> str:
        """The answer's reason in a few words, without the law."""
        if self.short:
            return self.short
        if self.mark == "no":
            hedge = next((words for words in _HEDGES if self.phrase.startswith(words)), "")
            return f"{hedge.capitalize()}, ordem da Justiça" if hedge else "Por ordem da Justiça"
        return self.phrase[0].upper() + self.phrase[1:]


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return the answers that share the least favourable mark, in their given order."""
    given = tuple(answers)
    for mark in _WORST_FIRST:
        if sharing := tuple(answer for answer in given if answer.mark == mark):
            return sharing
    return ()
