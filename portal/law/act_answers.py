"""The answer for one act: may a vehicle be transferred, licensed, driven, or towed ("removal")?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always favourable. For removal, "yes" therefore means that no risk of removal was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# How the rule behind an answer is known: the legal text was read ("verified"), trade sites state
# the rule ("reported"), or no source confirmed the rule ("memory").
Confidence = Literal["verified", "reported", "memory"]

ACTS: tuple[Act, ...] = ("transfer", "licence", "drive", "removal")
_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one act.

    ``phrase`` is an item of a list ("não pode transferir": cannot transfer it), and ``reason`` is a
    full sentence. ``records`` are the HTML anchors of the fines and restrictions behind the answer,
    such as "multa-1".
    """

    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return the answers that share the least favourable mark, in the given order."""
    given = tuple(answers)
    for mark in _WORST_FIRST:
        if sharing := tuple(answer for answer in given if answer.mark == mark):
            return sharing
    return ()
