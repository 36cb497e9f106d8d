"""Compares a provider's statement with the ledger: what was billed, and what was sent.

A row of a statement belongs to the call of the same operation that was sent at the same time. The
clocks of both sides may differ, and a statement may have another time zone: the difference that
fits the most rows is found first, and named.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Final, Literal

from portal.gateway.ledger import UpstreamCall
from portal.system.local_time import local_date
from portal.upstream.errors import ANSWERED

Kind = Literal["empty", "twice", "price", "not_ours", "not_billed"]
# Two times of one call differ by so many seconds, beside the difference of the clocks: at most, and
# where the statement is exact. In between, by a multiple of what is usual in the statement.
TOLERANCE_S: Final = 60.0
_EXACT_S: Final = 3.0
_USUAL: Final = 4
_HOUR_S: Final = 3600
# Time zones differ by quarters of an hour, and clocks by less than half of that.
_ZONE_STEP_S: Final = 900
_MOST_HOURS: Final = 14
_SAMPLE: Final = 400  # rows that are enough to find the difference of the clocks


@dataclass(frozen=True, slots=True)
class Billed:
    """A row of a statement. ``line`` is its line in the file, the header being line 1.

    ``tag`` is the tag of its vehicle, or "" if the statement names none.
    """

    line: int
    at: datetime
    operation: str
    price: Decimal
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """A call of the ledger, with the tag of its vehicle, or "" after a purge."""

    call: UpstreamCall
    tag: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Why a row of the statement, or a call of the ledger, needs a look.

    "empty": billed, but no answer came. "twice": billed again for the same call. "price": billed at
    another price. "not_ours": billed, but not in the ledger. "not_billed": sent, but not billed.
    """

    kind: Kind
    billed: Billed | None
    sent: Sent | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of ``rows`` rows, ``matched`` belong to a call. The statement's clock is ``shift`` ahead."""

    rows: int
    matched: int
    shift: timedelta
    differences: Sequence[Difference]


def compare(billed: Sequence[Billed], sent: Iterable[Sent]) -> Comparison:
    """Compare the rows of a statement with calls.

    A call is expected in the statement if its day is none before the first row's or after the last
    row's, by the ledger's clock. ``sent`` also has calls of a day before and after, because the
    statement's clock may be ahead or behind.
    """
    by_operation: defaultdict[str, list[Sent]] = defaultdict(list)
    for entry in sorted(sent, key=lambda entry: entry.call.sent_at):
        by_operation[entry.call.operation].append(entry)
    shift_s, tolerance_s = _clock(billed, by_operation)
    pairs, spare = _paired(billed, by_operation, shift_s, tolerance_s)
    compared = [_of_pair(row, call) for row, call in pairs]
    taken = Counter(id(call) for _, call in pairs)
    for row in spare:
        near = _near(row, by_operation[row.operation], shift_s, tolerance_s)
        again = next((entry for entry in near if taken[id(entry)]), None)
        compared.append(Difference("not_ours" if again is None else "twice", row, again))
    shift = timedelta(seconds=round(shift_s))
    days = {local_date(row.at - shift) for row in billed}
    compared += [
        Difference("not_billed", None, entry)
        for calls in by_operation.values()
        for entry in calls
        if not taken[id(entry)]
        and entry.call.price != 0
        and min(days) <= local_date(entry.call.sent_at) <= max(days)
    ]
    differences = sorted(filter(None, compared), key=_time_of)
    return Comparison(len(billed), len(pairs), shift, differences)


def _of_pair(row: Billed, sent: Sent) -> Difference | None:
    call = sent.call
    if call.outcome != ANSWERED or call.status != 200:
        return Difference("empty", row, sent)
    if call.price is not None and call.price != row.price:
        return Difference("price", row, sent)
    return None


def _clock(billed: Sequence[Billed], calls: Mapping[str, Sequence[Sent]]) -> tuple[float, float]:
    """Return by how many seconds the statement's times are ahead, and how much they vary."""
    sample = billed[:: max(1, len(billed) // _SAMPLE)]
    steps = range(-_MOST_HOURS * _HOUR_S, _MOST_HOURS * _HOUR_S + 1, _ZONE_STEP_S)
    # Of equally good zones, the smallest difference.
    fits = {
        step: sum(
            bool(_near(row, calls.get(row.operation, ()), step, _ZONE_STEP_S / 2)) for row in sample
        )
        for step in sorted(steps, key=abs)
    }
    zone_s = max(fits, key=lambda step: fits[step])
    apart = [
        min((_apart_s(row, entry) for entry in near), key=lambda seconds: abs(seconds - zone_s))
        for row in sample
        if (near := _near(row, calls.get(row.operation, ()), zone_s, _ZONE_STEP_S / 2))
    ]
    if not apart:
        return 0.0, TOLERANCE_S
    shift_s = median(apart)
    rest = sorted(abs(seconds - shift_s) for seconds in apart)
    usual_s = rest[int(len(rest) * 0.9)]
    return shift_s, min(TOLERANCE_S, max(_EXACT_S, _USUAL * usual_s))


def _paired(
    billed: Sequence[Billed],
    calls: Mapping[str, Sequence[Sent]],
    shift_s: float,
    tolerance_s: float,
) -> tuple[list[tuple[Billed, Sent]], list[Billed]]:
    """Give each row the free call that is nearest in time; return pairs and rows without a call."""
    options = sorted(
        (
            (abs(_apart_s(row, entry) - shift_s), number, row, entry)
            for number, row in enumerate(billed)
            for entry in _near(row, calls.get(row.operation, ()), shift_s, tolerance_s)
        ),
        key=lambda option: option[:2],
    )
    pairs: dict[int, tuple[Billed, Sent]] = {}
    taken: set[int] = set()
    for _, number, row, entry in options:
        if number not in pairs and id(entry) not in taken:
            pairs[number] = row, entry
            taken.add(id(entry))
    spare = [row for number, row in enumerate(billed) if number not in pairs]
    return [pairs[number] for number in sorted(pairs)], spare


def _near(row: Billed, calls: Sequence[Sent], shift_s: float, tolerance_s: float) -> list[Sent]:
    """Return the calls that a row may belong to: near in time, and of the same vehicle."""
    start = row.at - timedelta(seconds=shift_s + tolerance_s)
    end = row.at - timedelta(seconds=shift_s - tolerance_s)
    first = bisect_left(calls, start, key=lambda entry: entry.call.sent_at)
    inside = []
    for entry in calls[first:]:
        if entry.call.sent_at > end:
            break
        if not row.tag or not entry.tag or row.tag == entry.tag:
            inside.append(entry)
    return inside


def _apart_s(row: Billed, sent: Sent) -> float:
    return (row.at - sent.call.sent_at).total_seconds()


def _time_of(difference: Difference) -> datetime:
    if difference.billed is not None:
        return difference.billed.at
    assert difference.sent is not None
    return difference.sent.call.sent_at
