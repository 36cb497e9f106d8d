"""Assess a fine: official wording, points, amount, deadlines, and enforceability.

The functions are pure: they take a fine and a day and return an assessment. None of them raises
for any fine.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from operator import attrgetter

from portal.law import deadlines
from portal.law.amounts import Amount, exact_amount, plausible
from portal.law.deadlines import Clock
from portal.law.fine_status import STANDING_WORDS, Standing, standing_of
from portal.law.infractions import GRAVITY_WORDS, Gravity, Infraction, find
from portal.law.paid_sums import PaidSum, paid_sum
from portal.law.past_rules import as_committed
from portal.law.payment import payment_of
from portal.law.points import Points, points_of
from portal.law.wording import bare, counted, listed
from portal.vehicle import Field, Fine

# A record's texts identify it, because its numbers and dates are read from them.
_texts = attrgetter(*(member.name for member in fields(Fine) if member.type is Field))
# The source's words for a step that was already taken. Beside a word of _NOT_YET the step may
# still be open.
_DEFENDED = re.compile(r"\bEM DEFESA\b|\bDEFESA (PREVIA )?(APRESENTAD|PROTOCOLAD|(IN)?DEFERID)")
_NAMED = re.compile(r"\bCONDUTOR (INDICAD|IDENTIFICAD)")
_NOT_YET = re.compile(r"\b(NAO|SEM|PRAZO|AGUARD)")
_UNPENALISED = ("notice", "suspended")
_PLURALS = {
    "leve": "leves",
    "média": "médias",
    "grave": "graves",
    "gravíssima": "gravíssimas",
    "especial": "especiais",
    "depende do desdobramento": "dependem do desdobramento",
    "não identificada": "não identificadas",
}


@dataclass(frozen=True, slots=True)
class FineAssessment:
    """A fine with its legal consequences; every ``…_note`` is a Portuguese sentence.

    ``standing`` is "enforceable" only if the shortest due date of a recorded penalty has passed
    or the source says so, "due" until that date, and "notice" while no penalty is on record.
    "unknown" does not mean "not owed".
    """

    record: Fine
    code: str
    infraction: Infraction | None
    description: str
    article: str
    gravity: Gravity | None
    gravity_word: str
    points: Points
    amount: Amount
    paid: PaidSum
    discount_note: str
    standing: Standing
    standing_note: str
    notice: Clock
    penalty: Clock
    prior_defence: Clock
    driver_nomination: Clock
    appeal: Clock
    prescription: Clock
    committed_on: date | None

    @property
    def is_paid(self) -> bool:
        return self.standing == "paid"

    @property
    def is_open(self) -> bool:
        return not self.is_paid

    @property
    def standing_word(self) -> str:
        return STANDING_WORDS[self.standing]

    @property
    def remedies(self) -> tuple[Clock, ...]:
        """The deadlines for defence and appeal, by the fine's dates.

        They apply to the notice while no penalty is on record, and to the penalty afterwards.
        """
        if self.is_paid:
            return ()
        if self.record.penalty_on_text.state != "empty" or self.record.penalty_on is not None:
            return (self.appeal,)
        may_lack_penalty = self.standing != "notice"
        return (*self._against_notice(), *((self.appeal,) if may_lack_penalty else ()))

    def _against_notice(self) -> Iterator[Clock]:
        word = bare(str(self.record.kind))
        word = "" if _NOT_YET.search(word) else word
        if self.prior_defence.days_used is not None and not _DEFENDED.search(word):
            yield self.prior_defence
        by_driver = self.infraction is None or self.infraction.offender in ("condutor", "")
        in_time = self.driver_nomination.verdict == "in_time"
        if by_driver and in_time and not _NAMED.search(word):
            yield self.driver_nomination

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The deadlines that apply at the fine's standing; a paid fine has none."""
        if self.is_paid:
            return ()
        return (self.notice, self.penalty, *self.remedies, self.prescription)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the open fines in reais; paid fines are only in ``paid_count``.

    ``without_amount`` counts the open fines without a known amount; if there are any, the sums
    are minimums. ``unclear_count`` counts the open fines that may or may not be enforceable.
    ``points`` are the points that count by law, ``points_to_come`` those of fines that are
    notified or suspended; neither includes fines whose points are not known, which
    ``points_unknown`` counts. ``identical`` holds the number of records of each open fine that is
    listed more than once; the sums include all of them.
    """

    open_count: int
    paid_count: int
    enforceable_count: int
    unclear_count: int
    amount: Decimal
    amount_at_80: Decimal
    amount_at_60: Decimal
    enforceable_amount: Decimal
    without_amount: int
    points: int
    points_to_come: int
    points_unknown: int
    by_gravity: tuple[tuple[str, int], ...]
    identical: tuple[int, ...]

    @property
    def has_discount(self) -> bool:
        """Whether, as a rule, any open fine can still be paid with a discount."""
        return self.amount_at_80 < self.amount

    @property
    def gravities(self) -> tuple[str, ...]:
        """``by_gravity`` in words: ``2 médias``, ``1 grave``."""
        return tuple(counted(n, word, _PLURALS.get(word, word)) for word, n in self.by_gravity)

    @property
    def identical_note(self) -> str:
        """A sentence on fines that the answer lists more than once, else ""."""
        groups = [
            f"{counted(n, 'registro idêntico', 'registros idênticos')}" for n in self.identical
        ]
        if not groups:
            return ""
        many = "cada grupo é uma multa só" if len(groups) > 1 else "é a mesma multa"
        return f"{listed(groups)}: confirme se {many}; a soma conta todos."


def assess(fine: Fine, today: date) -> FineAssessment:
    """Assess a fine on ``today``; what the record does not state stays unknown."""
    infraction = find(str(fine.code))
    sent = plausible(fine.amount)
    if infraction is not None:
        infraction = as_committed(infraction, sent, fine.committed_on)
        if sent is not None:
            infraction = infraction.narrowed_to(sent)
    standing, standing_note = standing_of(fine, payment_of(fine, today), today)
    amount = exact_amount(infraction, sent, fine.committed_on)
    return FineAssessment(
        record=fine,
        code=str(fine.code),
        infraction=infraction,
        description=infraction.description if infraction else str(fine.description),
        article=infraction.citation if infraction else "",
        gravity=infraction.gravity if infraction else None,
        gravity_word=infraction.gravity_word if infraction else "não identificada",
        points=points_of(infraction, fine.offender.points, fine.committed_on, today),
        amount=amount,
        paid=paid_sum(fine.paid_amount, amount),
        discount_note=_discount_note(standing),
        standing=standing,
        standing_note=standing_note,
        notice=deadlines.notice_of_infraction(fine.committed_on, fine.notified_on, today),
        penalty=deadlines.notice_of_penalty(fine.committed_on, fine.penalty_on, today),
        prior_defence=deadlines.prior_defence(fine.notified_on, today),
        driver_nomination=deadlines.driver_nomination(fine.notified_on, today),
        appeal=deadlines.appeal(fine.penalty_on, today),
        prescription=deadlines.prescription(fine.committed_on, fine.penalty_on, today),
        committed_on=fine.committed_on,
    )


def totals(assessments: Sequence[FineAssessment]) -> Totals:
    """Sum the open fines.

    Enforceable fines have, as a rule, lost their discount. The points of fines without a
    penalty may count later.
    """
    owed = [a for a in assessments if a.is_open]
    enforceable = [a for a in owed if a.standing == "enforceable"]
    gravities = [a.gravity_word for a in owed]
    order = [*GRAVITY_WORDS.values(), "não identificada"]
    return Totals(
        open_count=len(owed),
        paid_count=len(assessments) - len(owed),
        enforceable_count=len(enforceable),
        unclear_count=sum(a.standing == "unknown" for a in owed),
        amount=_sum(a.amount.value for a in owed),
        amount_at_80=_sum(_payable(a, a.amount.at_80) for a in owed),
        amount_at_60=_sum(_payable(a, a.amount.at_60) for a in owed),
        enforceable_amount=_sum(a.amount.value for a in enforceable),
        without_amount=sum(a.amount.value is None for a in owed),
        points=sum(a.points.counted or 0 for a in owed if a.standing not in _UNPENALISED),
        points_to_come=sum(a.points.counted or 0 for a in owed if a.standing in _UNPENALISED),
        points_unknown=sum(a.points.counted is None for a in owed),
        by_gravity=tuple((word, gravities.count(word)) for word in order if word in gravities),
        identical=tuple(n for n in Counter(_texts(a.record) for a in owed).values() if n > 1),
    )


def _payable(fine: FineAssessment, discounted: Decimal | None) -> Decimal | None:
    return fine.amount.value if fine.standing == "enforceable" else discounted


def _discount_note(standing: Standing) -> str:
    terms = "80% até o vencimento; 60% pelo SNE, sem defesa nem recurso (art. 284 do CTB)."
    match standing:
        case "paid":
            return "Já paga."
        case "enforceable":
            return (
                f"Em regra, o desconto acabou no vencimento, que o registro não traz: {terms} "
                "Depois dele, valor cheio com juros."
            )
        case _:
            return f"Em regra: {terms} O vencimento está na notificação."


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), Decimal("0.00"))
