"""Compare what somebody reads on a notice of a fine with itself, the tables and the law.

A forged notice can be free of contradictions, and a real one can contain errors. No point therefore
says that a notice is genuine. The points follow from the assessment that the portal makes of the
source's records (``AssessedFine``). ``portal.phrasebook.notice_check`` says them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Final, Literal

from msgspec import structs

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline, Event
from portal.law.fine_amounts import (
    NIC_DOUBLED_SINCE,
    at_60,
    nic_multiple,
    overweight_steps,
    sne_amounts,
)
from portal.law.infractions import NEW_AMOUNTS_SINCE, check_digit

PRF_LETTERS: Final = "BERT"  # the first letters of the numbers of the notices of the PRF
_PRF: Final = "000100"
# Dangerous goods and land transport, which the table lacks. The rule of the check digit is unknown.
_ELSEWHERE: Final = "9"
_CODE: Final = re.compile(r"([0-9]{3})-?([0-9])-?[0-9]?", re.ASCII)

Kind = Literal["against", "agrees", "open"]
Code = Literal[
    "unknown_authority",
    "authority",
    "prf_number",
    "infraction",
    "superseded",
    "unlisted_code",
    "code_elsewhere",
    "check_digit",
    "toll",
    # The amount asked for.
    "no_single_amount",
    "table_amount",
    "former_amount",
    "discount_of_20",
    "discount_of_40",
    "doubled",
    "overweight",
    "cents_cut",
    "other_amount",
    "nic_doubled",
    "nic_multiplied",
    "nic_other",
    # The dates. "deadline" is one of the deadlines of ``AssessedFine``.
    "in_future",
    "before_start",
    "before_notice",
    "before_defence",
    "deadline",
    "only_notice",
    "sne_at_notice",
    "due_early",
    "due_in_time",
    "due_past",
]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the notice.

    "against": the notice contradicts itself, a table or the law. "agrees": this part agrees with a
    table or the law. "open": the portal cannot tell. ``amount`` is the full amount that the asked
    one is compared with, or the single fine of a NIC. ``count`` is a multiple, or a number of days.
    """

    kind: Kind
    code: Code
    deadline: Deadline | None = None
    event: Event = "infraction"
    amount: Decimal | None = None
    count: int = 0


def check_notice(fine: AssessedFine, due_on: date | None) -> tuple[Point, ...]:
    """Return the points of a notice. ``due_on`` is its due date, which records do not have."""
    return (
        *_authority(fine),
        *_infraction(fine),
        *_amount(fine),
        *_dates(fine, due_on),
        *_due_date(fine, due_on),
    )


def _authority(fine: AssessedFine) -> Iterator[Point]:
    code, number = fine.record.authority_code, fine.record.notice
    body = fine.authority
    if body is None:
        if code:
            yield Point("open", "unknown_authority")
        return
    yield Point("agrees", "authority")
    if body.code == _PRF and number and number.value[0] not in PRF_LETTERS:
        yield Point("against", "prf_number")


def _infraction(fine: AssessedFine) -> Iterator[Point]:
    infraction = fine.infraction
    if infraction is not None:
        yield Point("agrees", "infraction")
        if not any(row.current for row in infraction.rows):
            yield Point("open", "superseded")
        if fine.toll_until:
            yield Point("open", "toll")
    elif parts := code_parts(fine):
        root, digit = parts
        if root.startswith(_ELSEWHERE):
            yield Point("open", "code_elsewhere")
        elif digit == check_digit(root):
            yield Point("open", "unlisted_code")
        else:
            yield Point("against", "check_digit")


def code_parts(fine: AssessedFine) -> tuple[str, str] | None:
    """Return the three digits of the notice's code of infraction, and the check digit."""
    match = _CODE.fullmatch(str(fine.record.code))
    return (match[1], match[2]) if match else None


def _amount(fine: AssessedFine) -> Iterator[Point]:
    asked, infraction = fine.record.amount, fine.infraction
    if asked is None or infraction is None:
        return
    if infraction.is_nic:
        yield _nic_amount(asked, fine.record.committed_on)
        return
    table = replace(fine, record=structs.replace(fine.record, amount=None)).amount
    if table.value is None:
        yield Point("open", "no_single_amount")
        return
    committed_on, former = fine.record.committed_on, infraction.amount_until_2016
    is_former = committed_on is not None and committed_on < NEW_AMOUNTS_SINCE
    if asked == former and asked != infraction.amount:
        has_right_date = is_former or committed_on is None
        yield Point("agrees" if has_right_date else "against", "former_amount", amount=table.value)
    elif asked == table.value:
        yield Point("agrees", "table_amount", amount=table.value)
    elif asked == table.at_80:
        yield Point("agrees", "discount_of_20", amount=table.value)
    elif asked == table.at_60:
        yield Point("agrees", "discount_of_40", amount=table.value)
    elif fine.amount.matches and fine.amount.value == asked:
        steps = overweight_steps(infraction, table.value, asked)
        code: Code = "overweight" if steps else "doubled"
        yield Point("agrees", code, amount=table.value, count=steps)
    elif asked == int(table.value):
        yield Point("agrees", "cents_cut", amount=table.value)
    else:
        yield Point("against", "other_amount", amount=table.value)


def _nic_amount(asked: Decimal, committed_on: date | None) -> Point:
    """Judge the amount of a NIC: twice a fine, and before April 2022 a multiple of one."""
    multiple = nic_multiple(asked)
    if multiple is None:
        return Point("against", "nic_other")
    single, count = multiple
    if count == 2:
        return Point("agrees", "nic_doubled", amount=single)
    may_be_older = committed_on is None or committed_on < NIC_DOUBLED_SINCE
    kind: Kind = "open" if may_be_older else "against"
    return Point(kind, "nic_multiplied", amount=single, count=count)


def _dates(fine: AssessedFine, due_on: date | None) -> Iterator[Point]:
    record, today = fine.record, fine.today
    days: dict[Event, date | None] = {
        "infraction": record.committed_on,
        "notice": record.notified_on,
        "penalty": record.penalty_on,
    }
    ahead = [event for event, on in days.items() if on is not None and on > today]
    for event in ahead:
        yield Point("against", "in_future", event=event)
    if ahead:
        return
    if fine.is_nic:
        yield Point("open", "deadline", fine.notice)
        return
    yield from _step(fine.notice, "notice", record.committed_on, record.notified_on)
    early = deadlines.before_defence(record.committed_on, record.notified_on, record.penalty_on)
    if early is None:
        yield from _step(fine.penalty, "penalty", record.committed_on, record.penalty_on)
    elif early < 0:
        yield Point("against", "before_notice")
    else:
        yield Point("against", "before_defence", count=early)
    if fine.prescription.is_doubtful:
        yield Point("open", "deadline", fine.prescription)
    if record.penalty_on is None and record.notified_on is not None:
        yield _without_penalty(fine, due_on)


def _without_penalty(fine: AssessedFine, due_on: date | None) -> Point:
    """Judge a notice without a penalty: only 60 % may be paid so early, through SNE."""
    asked, infraction = fine.record.amount, fine.infraction
    full = infraction.amount_at(fine.record.committed_on) if infraction else None
    known = [at_60(full)] if infraction else sne_amounts()
    if asked is not None and asked in known:
        return Point("open", "sne_at_notice")
    return Point("against" if due_on else "open", "only_notice")


def _step(
    deadline: Deadline, event: Event, start: date | None, end: date | None
) -> Iterator[Point]:
    if start is None or end is None:
        return
    if end < start:
        yield Point("against", "before_start", event=event)
        return
    kind: Kind = "against" if deadline.verdict == "late" else "open"
    yield Point("agrees" if deadline.verdict == "in_time" else kind, "deadline", deadline)


def _due_date(fine: AssessedFine, due_on: date | None) -> Iterator[Point]:
    if due_on is None:
        return
    if due_on < fine.today:
        yield Point("open", "due_past")
    earliest = deadlines.plus_days(fine.record.penalty_on, deadlines.MINIMUM_DAYS)
    if earliest is not None:
        is_early = due_on < earliest
        yield Point("against", "due_early") if is_early else Point("agrees", "due_in_time")
