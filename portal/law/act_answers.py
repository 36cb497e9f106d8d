"""The answer for one act: may a vehicle be transferred, licensed, driven, or towed ("removal")?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always favourable. For removal, "yes" therefore means that no risk of removal was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# The source of the rule behind an answer: the legal text, which the authors read ("verified"),
# trade sites ("reported"), or none ("memory").
Confidence = Literal["verified", "reported", "memory"]

ACTS: tuple[Act, ...] = ("transfer", "licence", "drive", "removal")
_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one act.

    ``phrase`` is a clause ("não pode transferir": cannot be transferred), and ``reason`` is a full
    sentence. ``records`` are the HTML anchors of the fines and restrictions that decide the answer,
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
