"""One answer to "posso…?": a mark, the words for it, and what it stands on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always the good news: for removal it means that no risk of removal was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# "verified": the rule's text was read; "reported": trade sites; "memory": not confirmed.
Confidence = Literal["verified", "reported", "memory"]

ACTS: tuple[Act, ...] = ("transfer", "licence", "drive", "removal")
_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class Answer:
    """``phrase`` reads in a list ("não pode transferir"); ``reason`` is a sentence;
    ``source`` names the law or practice; ``records`` are anchors such as "multa-1"."""

    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """The answers that share the worst mark, in their order; one hindrance is enough."""
    given = tuple(answers)
    for mark in _WORST_FIRST:
        if sharing := tuple(answer for answer in given if answer.mark == mark):
            return sharing
    return ()
