"""The answer for one act: transferring, licensing, driving or towing a vehicle."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from msgspec import Struct

from portal.law.restriction_kinds import Kind
from portal.law.standing import Standing

Act = Literal["transfer", "licence", "drive", "removal"]
ACTS: Final[tuple[Act, ...]] = get_args(Act)
# "yes" is always favourable. For "removal" (towing), "yes" means that no risk of towing was found.
Mark = Literal["no", "careful", "yes", "unknown"]
# What an answer follows from: no order (""), a kind of order, or fines of a standing. Or what
# leaves it open: a text that names no kind ("unread") or may name any ("any_kind"), a record that
# contradicts itself, or words for a lifting. "permitted" are words that allow the act.
Ground = Kind | Standing | Literal["", "unread", "any_kind", "contradicted", "lifted", "permitted"]
# What confirms the rule behind an answer. "verified": the authors have read the legal text.
# "reported": websites of the car trade state the rule. "memory": the authors recall the rule, but
# no source confirms it.
Confidence = Literal["verified", "reported", "memory"]
# How a prohibition is hedged: it holds as a rule, or in the practice of the registers.
Hedge = Literal["", "rule", "practice"]

# The worst first.
_RANKS: Final[Mapping[Mark, int]] = {"no": 0, "unknown": 1, "careful": 2, "yes": 3}


class Answer(Struct, frozen=True):
    """The answer for one act.

    ``source`` is that of the rule. ``records`` are the HTML anchors of the fines and restrictions
    that decide the answer, such as "multa-1". ``quoted`` are the source's words for a lifting or a
    permission, as sent, or "".
    """

    act: Act
    mark: Mark
    ground: Ground
    source: str
    confidence: Confidence
    records: tuple[str, ...] = ()
    hedge: Hedge = ""
    quoted: str = ""


def is_worse(mark: Mark, other: Mark) -> bool:
    return _RANKS[mark] < _RANKS[other]


def worst(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return the answers that share the least favourable mark, in their given order."""
    given = tuple(answers)
    mark = min((answer.mark for answer in given), key=_RANKS.__getitem__, default=None)
    return tuple(answer for answer in given if answer.mark == mark)
