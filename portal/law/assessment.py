"""Assess a fine: official wording, points, amount, deadlines, and enforceability.

The functions are pure. They never raise an error, whatever a record contains.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from operator import attrgetter

from portal.law import deadlines
from portal.law.deadlines import Clock
from portal.law.fine_amounts import Amount, exact_amount, plausible
from portal.law.fine_status import Standing, Status, status_of
from portal.law.infractions import GRAVITY_WORDS, Gravity, Infraction, find
from portal.law.paid_fines import PaidSum, paid_sum, payment_of
from portal.law.past_rules import as_committed
from portal.law.points import Points, points_of
from portal.law.source_wording import narrowed_to_wording, wording_of
from portal.vehicle import Field, Fine
from portal.wording import bare, counted, listed

# Returns the text fields of a fine. ``totals`` treats records with equal texts as identical. It
# does not compare amounts and dates, because they are parsed from these texts.
_texts = attrgetter(*(member.name for member in fields(Fine) if member.type is Field))
# A status text that matches _DEFENDED says that a defence was filed. A status text that matches
# _NAMED says that the driver was named. A text that also matches _NOT_YET may mean the opposite
# ("SEM CONDUTOR INDICADO": no driver named).
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
    """A fine with its legal consequences.

    Every ``…_note`` is a Portuguese sentence, or "". A payer gets a discount until the fine's due
    date. ``has_discount`` is true if this date may be in the future. ``standing`` says whether
    payment can be enforced now. ``shared_standing_note`` is ``standing_note`` without the fine's
    own dates. ``is_called_off`` is true if the source (the upstream API) says that the fine is no
    longer owed. ``description`` is the source's description of the infraction, or the one in the
    table of infractions if the source sends none. ``table_description`` is the table's description
    if it differs from ``description``, else "".
    """

    record: Fine
    code: str
    infraction: Infraction | None
    description: str
    table_description: str
    description_note: str
    article: str
    gravity: Gravity | None
    gravity_word: str
    points: Points
    amount: Amount
    paid: PaidSum
    has_discount: bool
    discount_note: str
    standing: Standing
    standing_note: str
    shared_standing_note: str
    standing_word: str
    is_called_off: bool
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
    def remedies(self) -> tuple[Clock, ...]:
        """The deadlines for the prior defence, for naming the driver and for the appeal.

        If a penalty is recorded, only the appeal is possible. Without a recorded penalty, the
        defence and the naming may be possible. If the standing is not "notice" (no penalty yet),
        the record may lack a penalty that exists. The result then includes the appeal, too.
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
        """The deadlines that matter for the fine. A paid fine has no deadlines."""
        if self.is_paid:
            return ()
        return (self.notice, self.penalty, *self.remedies, self.prescription)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the open fines, in reais.

    Paid fines count only in ``paid_count`` and in the points, because a payment does not remove
    points. ``without_amount`` is the number of open fines of unknown amount, which the sums leave
    out. ``unclear_count`` counts open fines with the standing "unknown": the record does not show
    whether payment can be enforced.

    ``points_to_come`` are the points of fines with the standing "notice" or "suspended". ``points``
    are the points of all other fines. Both numbers leave out the fines with ``is_called_off``. The
    source (the upstream API) says that these fines are no longer owed. ``points_unknown`` counts
    the fines with ``is_called_off`` and the fines with unknown points.

    The source may list an open fine more than once. For each such fine, ``identical`` has the
    number of its records. The sums include all these records.
    """

    open_count: int
    open_words: str
    paid_count: int
    enforceable_count: int
    past_discount_count: int
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
    def known_amount(self) -> Decimal | None:
        """``amount``, or None if fines are open and the amount of none is known."""
        return None if self.open_count and self.without_amount == self.open_count else self.amount

    @property
    def gravities(self) -> tuple[str, ...]:
        """The counts of ``by_gravity`` in words, such as ``2 médias`` and ``1 grave``."""
        return tuple(counted(n, word, _PLURALS.get(word, word)) for word, n in self.by_gravity)

    @property
    def identical_note(self) -> str:
        """A sentence on fines that the source lists repeatedly, or "" if there are none."""
        groups = [counted(n, "registro idêntico", "registros idênticos") for n in self.identical]
        if not groups:
            return ""
        many = "cada grupo é uma multa só" if len(groups) > 1 else "é a mesma multa"
        return f"{listed(groups)}: confirme se {many}; a soma conta todos."


def assess(fine: Fine, today: date) -> FineAssessment:
    infraction = find(str(fine.code))
    sent = plausible(fine.amount)
    if infraction is not None:
        infraction = as_committed(infraction, sent, fine.committed_on)
        if sent is not None:
            infraction = infraction.narrowed_to(sent)
        infraction = narrowed_to_wording(infraction, str(fine.description))
    wording = wording_of(infraction, str(fine.description))
    amount = exact_amount(infraction, sent, fine.committed_on)
    is_nic = infraction is not None and infraction.is_nic
    status = status_of(fine, payment_of(fine, amount, today), today, is_nic=is_nic)
    has_discount = _has_discount(fine, status, today)
    # A NIC is a fine for not naming the driver of an earlier infraction. In the record of a NIC,
    # the dates of infraction and notice may belong to the earlier infraction, so no deadline is
    # computed from them.
    committed_on, notified_on = (None, None) if is_nic else (fine.committed_on, fine.notified_on)
    return FineAssessment(
        record=fine,
        code=str(fine.code),
        infraction=infraction,
        description=wording.text,
        table_description=wording.table_text,
        description_note=wording.conflict,
        article=infraction.citation if infraction else "",
        gravity=infraction.gravity if infraction else None,
        gravity_word=infraction.gravity_word if infraction else "não identificada",
        points=points_of(infraction, fine.offender.points, fine.committed_on, today),
        amount=amount,
        paid=paid_sum(fine.paid_amount, amount),
        has_discount=has_discount,
        discount_note=_discount_note(status, has_discount=has_discount),
        standing=status.standing,
        standing_note=status.note,
        shared_standing_note=status.shared,
        standing_word=status.word,
        is_called_off=status.is_called_off,
        notice=_of_nic(deadlines.notice_of_infraction(committed_on, notified_on, today), is_nic),
        penalty=_of_nic(deadlines.notice_of_penalty(committed_on, fine.penalty_on, today), is_nic),
        prior_defence=deadlines.prior_defence(notified_on, today),
        driver_nomination=deadlines.driver_nomination(notified_on, today),
        appeal=deadlines.appeal(fine.penalty_on, today),
        prescription=_of_nic(
            deadlines.prescription(committed_on, fine.penalty_on, today),
            is_nic and fine.penalty_on is None,
        ),
        committed_on=fine.committed_on,
    )


def fines_in_words(assessments: Iterable[FineAssessment]) -> str:
    """Return the numbers of fines and of notices: ``30 multas e 1 autuação``."""
    standings = [assessment.standing for assessment in assessments]
    notices = standings.count("notice")
    fines = len(standings) - notices
    parts = [counted(fines, "multa", "multas")] if fines else []
    parts += [counted(notices, "autuação", "autuações")] if notices else []
    return " e ".join(parts)


def totals(assessments: Sequence[FineAssessment]) -> Totals:
    """Compute the totals of all fines of a vehicle."""
    owed = [a for a in assessments if a.is_open]
    enforceable = [a for a in owed if a.standing == "enforceable"]
    charged = [a for a in assessments if not a.is_called_off]
    gravities = [a.gravity_word for a in owed]
    order = [*GRAVITY_WORDS.values(), "não identificada"]
    return Totals(
        open_count=len(owed),
        open_words=fines_in_words(owed),
        paid_count=len(assessments) - len(owed),
        enforceable_count=len(enforceable),
        unclear_count=sum(a.standing == "unknown" for a in owed),
        amount=_sum(a.amount.value for a in owed),
        amount_at_80=_sum(a.amount.at_80 if a.has_discount else a.amount.value for a in owed),
        amount_at_60=_sum(a.amount.at_60 if a.has_discount else a.amount.value for a in owed),
        past_discount_count=sum(not a.has_discount for a in owed),
        enforceable_amount=_sum(a.amount.value for a in enforceable),
        without_amount=sum(a.amount.value is None for a in owed),
        points=sum(a.points.counted or 0 for a in charged if a.standing not in _UNPENALISED),
        points_to_come=sum(a.points.counted or 0 for a in charged if a.standing in _UNPENALISED),
        points_unknown=sum(a.points.counted is None or a.is_called_off for a in assessments),
        by_gravity=tuple((word, gravities.count(word)) for word in order if word in gravities),
        identical=tuple(n for n in Counter(_texts(a.record) for a in owed).values() if n > 1),
    )


def _of_nic(clock: Clock, is_nic: bool) -> Clock:
    return deadlines.not_judged(clock) if is_nic else clock


def _has_discount(fine: Fine, status: Status, today: date) -> bool:
    """Return whether the due date, until which discounts apply, may be in the future.

    The record does not state the due date, which is at least MINIMUM_DAYS after the penalty.
    """
    if status.standing in ("paid", "enforceable", "probably_due") or status.is_called_off:
        return False
    if fine.penalty_on is None:
        return fine.penalty_on_text.state == "empty"
    return (today - fine.penalty_on).days <= deadlines.MINIMUM_DAYS


def _discount_note(status: Status, *, has_discount: bool) -> str:
    if status.standing == "paid":
        return "Já paga."
    if not has_discount:
        return (
            "Em regra, não há mais desconto: ele acaba no vencimento, que o registro não traz, e "
            "depois dele há juros (art. 284 do CTB)."
        )
    return (
        "Em regra: com 20% de desconto até o vencimento, que está na notificação; com 40% pelo "
        "SNE, sem defesa nem recurso (art. 284 do CTB). O SNE é do dono atual ou do infrator, que "
        "admite a infração, e só de órgãos que participam: quem compra não pode contar com ele."
    )


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), Decimal("0.00"))
