"""Assess a fine: official wording, points, amount, deadlines, and enforceability.

The functions are pure. They never raise an error, whatever a record contains.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import get_args, get_type_hints

from msgspec.structs import replace

from portal.law import deadlines
from portal.law.authorities import (
    Authority,
    CodeConflict,
    Town,
    authority_of,
    code_conflict,
    is_federal,
    town_of,
)
from portal.law.deadlines import Deadline
from portal.law.fine_amounts import Amount, as_sent, exact_amount, plausible
from portal.law.fine_status import Status, status_of
from portal.law.infractions import (
    TOLL_UNTIL,
    Gravity,
    Infraction,
    as_committed,
    find,
)
from portal.law.interest import SINCE as INTEREST_SINCE
from portal.law.interest import Interest, interest_on
from portal.law.paid_fines import PaidSum, paid_sum, payment_of, shortfall
from portal.law.points import Points, points_of
from portal.law.source_wording import Wording, narrowed_to_wording, wording_of
from portal.law.standing import Standing
from portal.law.standstills import standstill_of
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine
from portal.vehicle.identity import VehicleIdentity, differing_fields
from portal.vehicle.spelling import named
from portal.wording import bare

# Returns the text fields of a fine. ``totals`` treats records with equal texts as identical. It
# does not compare amounts and dates, because they are parsed from these texts.
_texts = attrgetter(*(name for name, kind in get_type_hints(Fine).items() if kind is Field))
# A status text that matches _DEFENDED says that a defence was filed. A status text that matches
# _NAMED says that the driver was named. A text that also matches _NOT_YET may mean the opposite
# ("SEM CONDUTOR INDICADO": no driver named).
_DEFENDED = re.compile(r"\bEM DEFESA\b|\bDEFESA (PREVIA )?(APRESENTAD|PROTOCOLAD|(IN)?DEFERID)")
_NAMED = re.compile(r"\bCONDUTOR (INDICAD|IDENTIFICAD)")
_NOT_YET = re.compile(r"\b(NAO|SEM|PRAZO|AGUARD)")
_NUMBERED = re.compile(r"[1-9A-Z]")
_PARCEL = re.compile(r"\bPARCELA (?:N[RO]? ?)?([0-9]{1,2}) ?(?:/|DE) ?[0-9]{1,2}\b")
# An open record of a notice counts before one that is called off or paid.
_GRAVEST_FIRST = (
    *(Standing.ENFORCEABLE, Standing.PROBABLY_DUE, Standing.DUE, Standing.UNKNOWN),
    *(Standing.SUSPENDED, Standing.NOTICE, Standing.CALLED_OFF, Standing.PAID),
)
_PAST_DISCOUNT = (
    *(Standing.PAID, Standing.CALLED_OFF),
    *(Standing.ENFORCEABLE, Standing.PROBABLY_DUE),
)
# Points enter the register when no appeal is possible any more (art. 290, sole paragraph).
_COUNTS_POINTS = (Standing.PAID, Standing.ENFORCEABLE)
_GRAVITIES: tuple[Gravity | None, ...] = (*get_args(Gravity), None)


@dataclass(frozen=True)
class AssessedFine:
    """A fine's record, and what the law says of it on the day ``today``.

    Nothing is computed before it is read. ``number`` is the fine's place in the answer, from 1.
    ``vehicle`` is the vehicle as the lookup "decode" describes it, or None if that is unknown.
    ``same_notice`` are the numbers of the answer's other records of the same infraction notice.
    """

    record: Fine
    today: date
    number: int = 1
    vehicle: VehicleIdentity | None = None
    same_notice: tuple[int, ...] = ()

    @property
    def anchor(self) -> str:
        """The HTML anchor of the fine on every page."""
        return f"multa-{self.number}"

    @cached_property
    def notice_key(self) -> tuple[str, str] | None:
        """The notice's number and its authority, or None without a number."""
        return notice_key(self.record)

    @cached_property
    def parcel(self) -> str:
        """The number of the instalment that the record is of ("1" of "PARCELA 1/3"), or ""."""
        texts = f"{self.record.kind} {self.record.description}"
        parcel = _PARCEL.search(bare(texts))
        return parcel[1] if parcel else ""

    @cached_property
    def _sent_amount(self) -> Decimal | None:
        return plausible(self.record.amount)

    @cached_property
    def infraction(self) -> Infraction | None:
        fine, sent = self.record, self._sent_amount
        row = find(fine.code.value)
        if row is None:
            return None
        row = as_committed(row, sent, fine.committed_on)
        if sent is not None:
            row = row.narrowed_to(sent)
        return narrowed_to_wording(row, fine.description.value)

    @cached_property
    def wording(self) -> Wording:
        return wording_of(self.infraction, self.record.description.value)

    @cached_property
    def _agreed(self) -> Infraction | None:
        """The infraction, or None if the source's description names another than the code."""
        return None if self.wording.conflict else self.infraction

    @property
    def description(self) -> str:
        """The source's description of the infraction, or the table's if the source sends none."""
        return self.wording.text

    @property
    def article(self) -> str:
        return self._agreed.citation if self._agreed else ""

    @property
    def gravity(self) -> Gravity | None:
        """The infraction's gravity, or None if code and description name different ones."""
        return self._agreed.gravity if self._agreed else None

    @cached_property
    def points(self) -> Points:
        fine = self.record
        points = points_of(self.infraction, fine.offender.points, fine.committed_on, self.today)
        if self.standing is Standing.CALLED_OFF:
            return Points(points.by_gravity, None, "called_off")
        if self.wording.conflict and points.why != "expired":
            return Points(None, None, "diverging")
        return replace(points, by_gravity=None) if self.wording.conflict else points

    @property
    def points_now(self) -> int | None:
        """The points that count now: none while an appeal may be possible."""
        final = self.standing in _COUNTS_POINTS or self.points.counted is None
        return self.points.counted if final else 0

    @cached_property
    def amount(self) -> Amount:
        sent = self._sent_amount
        # Where code and description name two infractions, only the source knows the amount.
        infraction = self._agreed if sent is None else self.infraction
        amount = exact_amount(infraction, sent, self.record.committed_on)
        if sent is not None and self.wording.conflict and not amount.matches:
            return as_sent(sent, "diverging")
        return amount

    @cached_property
    def paid(self) -> PaidSum:
        return paid_sum(self.record.paid_amount, self.amount)

    @cached_property
    def shortfall(self) -> Decimal | None:
        """What may be missing of a paid fine, because the discount had ended, or None."""
        return shortfall(self.record, self.amount) if self.is_paid else None

    @cached_property
    def interest(self) -> Interest | None:
        """What the fine costs with interest, or None while an appeal may be possible.

        The days of a NIC may be those of another infraction.
        """
        amount, committed_on, due_on = self.amount.value, self._committed_on, self.appeal.ends_on
        is_final = self.standing is Standing.ENFORCEABLE and not self.is_nic
        if not is_final or amount is None or due_on is None:
            return None
        if committed_on is None or committed_on < INTEREST_SINCE:
            return None
        return interest_on(amount, due_on, self.today)

    @cached_property
    def is_nic(self) -> bool:
        """Whether the fine is for not naming the driver of an earlier infraction."""
        return self.infraction is not None and self.infraction.is_nic

    @property
    def toll_until(self) -> date | None:
        """The day until which only the toll may be owed, or None."""
        is_toll = self.infraction is not None and self.infraction.is_toll
        return TOLL_UNTIL if is_toll and self.is_open and self.today <= TOLL_UNTIL else None

    @cached_property
    def status(self) -> Status:
        payment = payment_of(self.record, self.amount, self.today)
        return status_of(self.record, payment, self.today, self._state)

    @cached_property
    def standing(self) -> Standing:
        return self.status.standing

    @cached_property
    def has_discount(self) -> bool:
        """Whether the due date, until which discounts apply, may be in the future.

        The record does not state the due date, which is at least MINIMUM_DAYS after the penalty. A
        last day without office hours moves on, and the discount with it.
        """
        status, fine = self.status, self.record
        if status.standing in _PAST_DISCOUNT:
            return False
        if fine.penalty_on is None:
            return fine.penalty_on_text.state == "empty"
        due_on = deadlines.last_day(fine.penalty_on, deadlines.MINIMUM_DAYS, self._state)
        return due_on is None or self.today <= due_on

    @cached_property
    def authority(self) -> Authority | None:
        """The issuing authority that the record's code stands for."""
        return authority_of(self.record.authority_code.value)

    @cached_property
    def issuer(self) -> Field:
        """The issuing authority's name as the record has it, in normal spelling."""
        return named(self.record.authority)

    @cached_property
    def town(self) -> Town | None:
        """The infraction's town by its code, or else the town whose authority issued the fine."""
        town = town_of(self.record.municipality_code.value)
        return town or (self.authority.town if self.authority else None)

    @cached_property
    def code_conflict(self) -> CodeConflict | None:
        """What codes of authority and town contradict in the record, or None."""
        fine = self.record
        codes = fine.authority_code.value, fine.municipality_code.value
        return code_conflict(*codes, fine.authority.value, fine.authority_state.value)

    @cached_property
    def differing(self) -> tuple[Field, ...]:
        """The fields that name another vehicle than the one looked up."""
        return differing_fields(self.vehicle, self.record) if self.vehicle else ()

    # In the record of a NIC, the dates of infraction and notice may belong to the earlier
    # infraction, so no deadline is computed from them.
    @property
    def _committed_on(self) -> date | None:
        return None if self.is_nic else self.record.committed_on

    @property
    def _notified_on(self) -> date | None:
        return None if self.is_nic else self.record.notified_on

    @property
    def _defended_from(self) -> date | None:
        """The notice's day, or None if it cannot be right, because the infraction is later."""
        committed_on, notified_on = self._committed_on, self._notified_on
        is_earlier = committed_on and notified_on and notified_on < committed_on
        return None if is_earlier else notified_on

    @cached_property
    def _state(self) -> str:
        """The authority's state, whose holidays count."""
        stated = self.record.authority_state.value
        return stated or (self.authority.state if self.authority else "")

    @cached_property
    def _is_federal(self) -> bool:
        """Whether the authority is federal, whose deadlines no act of a state stops."""
        return is_federal(self.record.authority_code.value, self.record.authority.value)

    @cached_property
    def notice(self) -> Deadline:
        notice = deadlines.notice_of_infraction(self._committed_on, self._notified_on, self.today)
        if self.is_nic:
            return deadlines.not_judged(notice)
        ran = self._as_it_ran(notice, self._committed_on, self._notified_on)
        return deadlines.not_caught(ran) if self._is_not_caught else ran

    @cached_property
    def penalty(self) -> Deadline:
        penalty_on = self.record.penalty_on
        notice = deadlines.notice_of_penalty(
            self._committed_on, penalty_on, self.today, self._notified_on
        )
        if self.is_nic:
            return deadlines.not_judged(notice)
        ran = self._as_it_ran(notice, self._committed_on, penalty_on)
        return deadlines.not_caught(ran) if self._is_not_caught else ran

    @property
    def _is_not_caught(self) -> bool:
        """Whether the code or the description is of an infraction that shows only later."""
        return self.infraction is not None and self.infraction.is_not_caught

    def _as_it_ran(
        self, deadline: Deadline, start: date | None, end: date | None = None
    ) -> Deadline:
        """Return a deadline as it is if it did not run for a time."""
        term = deadlines.term_of(deadline, start, end, self.today)
        if term is None:
            return deadline
        standstill = standstill_of(deadline.step, *term, self._state, is_federal=self._is_federal)
        if standstill is None:
            return deadline
        return deadlines.stood_still(deadline, standstill.cited, standstill.until, self.today)

    @cached_property
    def prior_defence(self) -> Deadline:
        start = self._defended_from
        defence = deadlines.prior_defence(start, self.today, self._state)
        return self._as_it_ran(defence, start)

    @cached_property
    def driver_nomination(self) -> Deadline:
        start = self._defended_from
        nomination = deadlines.driver_nomination(start, self.today, self._state)
        return self._as_it_ran(nomination, start)

    @cached_property
    def appeal(self) -> Deadline:
        start = self.record.penalty_on
        return self._as_it_ran(deadlines.appeal(start, self.today, self._state), start)

    @cached_property
    def prescription(self) -> Deadline:
        penalty_on = self.record.penalty_on
        until = self.appeal.ends_on if self.appeal.act else None
        prescription = deadlines.prescription(
            self._committed_on, penalty_on, self.today, self._state, until
        )
        return (
            deadlines.not_judged(prescription)
            if self.is_nic and penalty_on is None
            else prescription
        )

    @cached_property
    def is_paid(self) -> bool:
        return self.standing == "paid"

    @cached_property
    def is_open(self) -> bool:
        """Whether the fine is neither paid nor said to be cancelled."""
        return self.standing not in (Standing.PAID, Standing.CALLED_OFF)

    @cached_property
    def remedies(self) -> tuple[Deadline, ...]:
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

    def _against_notice(self) -> Iterator[Deadline]:
        word = bare(self.record.kind.value)
        word = "" if _NOT_YET.search(word) else word
        if self.prior_defence.days_used is not None and not _DEFENDED.search(word):
            yield self.prior_defence
        by_driver = self._agreed is None or self._agreed.offender in ("condutor", "")
        in_time = self.driver_nomination.verdict == "in_time"
        if by_driver and in_time and not _NAMED.search(word):
            yield self.driver_nomination

    @cached_property
    def deadlines(self) -> tuple[Deadline, ...]:
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
    whether payment can be enforced. ``called_off_count`` and ``called_off_amount`` are of the fines
    that the source says are no longer owed. No other sum includes them.

    ``points`` are those of paid and enforceable fines. ``points_to_come`` are those of the other
    open fines, against which an appeal may be possible. ``points_unknown`` counts the open and paid
    fines with unknown points. ``open_notices`` are those of the open fines that are only a notice
    of infraction. ``gravities`` counts the open fines of each gravity, the unknown one last.

    The source may list a fine more than once. Records with one notice number and authority are one
    fine, which the sums include once: its gravest record, with the highest amount. ``same_notice``
    has the number of open records of each such fine, and ``also_paid`` counts the notices that an
    open and a paid record have. ``identical`` has the numbers of open records that are equal and
    have no notice number. The sums include all of those.
    """

    open_count: int
    open_notices: int
    paid_count: int
    enforceable_count: int
    past_discount_count: int
    unclear_count: int
    called_off_count: int
    called_off_amount: Decimal
    amount: Decimal
    amount_at_80: Decimal
    amount_at_60: Decimal
    enforceable_amount: Decimal
    without_amount: int
    points: int
    points_to_come: int
    points_unknown: int
    gravities: tuple[tuple[Gravity | None, int], ...]
    identical: tuple[int, ...]
    same_notice: tuple[int, ...]
    also_paid: int

    @property
    def known_amount(self) -> Decimal | None:
        """``amount``, or None if fines are open and the amount of none is known."""
        return None if self.open_count and self.without_amount == self.open_count else self.amount


def notice_key(record: Fine) -> tuple[str, str] | None:
    """Return the notice's number and its authority, or None without a number."""
    number = record.notice.value
    return (number, record.authority.value) if _NUMBERED.search(number) else None


def one_per_notice(fines: Sequence[AssessedFine]) -> list[AssessedFine]:
    """Return one record of each infraction notice, in the order of the first ones.

    It is the gravest of the notice's records, with the highest amount. Instalments of an amount
    that no table has add up to it.
    """
    notices: dict[object, list[AssessedFine]] = {}
    for place, fine in enumerate(fines):
        notices.setdefault(fine.notice_key or place, []).append(fine)
    return [group[0] if len(group) == 1 else _whole(group) for group in notices.values()]


def _whole(group: Sequence[AssessedFine]) -> AssessedFine:
    gravest = min(group, key=lambda fine: (_GRAVEST_FIRST.index(fine.standing), -_value(fine)))
    parcels = {fine.parcel: fine for fine in group if fine.amount.origin == "sent"}
    if "" in parcels or len(parcels) < len(group):
        return gravest
    amount = sum_of(fine.amount.value for fine in parcels.values())
    return dataclasses.replace(gravest, record=replace(gravest.record, amount=amount))


def _value(fine: AssessedFine) -> Decimal:
    return fine.amount.value or Decimal(0)


def totals(fines: Sequence[AssessedFine]) -> Totals:
    """Compute the totals of all fines of a vehicle."""
    open_records = [a for a in fines if a.is_open]
    paid_notices = {a.notice_key for a in fines if a.is_paid}
    notices = Counter(key for a in open_records if (key := a.notice_key))
    unnumbered = Counter(_texts(a.record) for a in open_records if not a.notice_key)
    fines = one_per_notice(fines)
    owed = [a for a in fines if a.is_open]
    enforceable = [a for a in owed if a.standing == "enforceable"]
    called_off = [a for a in fines if a.standing is Standing.CALLED_OFF]
    charged = [a for a in fines if a.standing is not Standing.CALLED_OFF]
    gravities = Counter(a.gravity for a in owed)
    return Totals(
        open_count=len(owed),
        open_notices=sum(a.standing is Standing.NOTICE for a in owed),
        paid_count=sum(a.is_paid for a in fines),
        enforceable_count=len(enforceable),
        unclear_count=sum(a.standing == "unknown" for a in owed),
        called_off_count=len(called_off),
        called_off_amount=sum_of(a.amount.value for a in called_off),
        amount=sum_of(a.amount.value for a in owed),
        amount_at_80=sum_of(a.amount.at_80 if a.has_discount else a.amount.value for a in owed),
        amount_at_60=sum_of(a.amount.at_60 if a.has_discount else a.amount.value for a in owed),
        past_discount_count=sum(not a.has_discount for a in owed),
        enforceable_amount=sum_of(a.amount.value for a in enforceable),
        without_amount=sum(a.amount.value is None for a in owed),
        points=sum(a.points_now or 0 for a in charged),
        points_to_come=sum(
            a.points.counted or 0 for a in charged if a.standing not in _COUNTS_POINTS
        ),
        points_unknown=sum(a.points.counted is None for a in charged),
        gravities=tuple(
            (gravity, gravities[gravity]) for gravity in _GRAVITIES if gravity in gravities
        ),
        identical=tuple(n for n in unnumbered.values() if n > 1),
        same_notice=tuple(n for n in notices.values() if n > 1),
        also_paid=len(notices.keys() & paid_notices),
    )


def known_sum(values: Sequence[Decimal | None]) -> Decimal | None:
    """Return the sum of the known amounts, or None if there are amounts and none is known."""
    return None if values and values.count(None) == len(values) else sum_of(values)


def sum_of(values: Iterable[Decimal | None]) -> Decimal:
    """Return the sum of the known amounts."""
    return sum((value for value in values if value is not None), Decimal("0.00"))
