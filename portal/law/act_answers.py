"""One answer to "posso…?": a mark, its wording, and the records it is based on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Act = Literal["transfer", "licence", "drive", "removal"]
# "yes" is always favourable: for removal it means that no risk of removal was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# How the rule is known. "verified": its text was read. "reported": trade sites state it.
# "memory": it was not confirmed at any source.
Confidence = Literal["verified", "reported", "memory"]

ACTS: tuple[Act, ...] = ("transfer", "licence", "drive", "removal")
_WORST_FIRST: tuple[Mark, ...] = ("no", "unknown", "careful", "yes")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one act.

    ``phrase`` is a list item ("não pode transferir"); ``reason`` is a sentence; ``source`` names
    the law or practice; ``records`` are anchors such as "multa-1".
    """

    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return the answers that share the worst mark, in their order."""
    given = tuple(answers)
    for mark in _WORST_FIRST:
        if sharing := tuple(answer for answer in given if answer.mark == mark):
            return sharing
    return ()
