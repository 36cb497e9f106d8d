"""The interest on a fine that was not paid by its due date, as an estimate.

Interest runs when the administrative case has ended (CTB, art. 284, §§ 3º and 4º), for infractions
recorded since 1 November 2016 (Res. Contran 918/2022, art. 19). Until the end of the month after
the due date, the fine costs 1 % more (art. 22). Later, it costs 1 % and the simple sum of the
monthly Selic from the month after the due date to the month before the payment, cut to cents
(art. 23).

``selic.csv`` has the monthly Selic in per cent. It was written in November 2026 from the table of
the Receita Federal and, from December 2020, from copies of the Banco Central's series.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import ROUND_DOWN, Decimal
from functools import cache
from typing import Final

from msgspec import Struct

from portal.data_files import read_csv

SINCE: Final = date(2016, 11, 1)
_IN_FIRST_MONTHS: Final = Decimal("1.01")
_CENT: Final = Decimal("0.01")
_PER_CENT: Final = 100


class _Month(Struct, frozen=True):
    month: date
    percent: Decimal


class Interest(Struct, frozen=True):
    """What a fine costs with its interest, in R$.

    ``due_on`` is the earliest day that the record allows. ``first`` and ``last`` are the first and
    the last month of the sum, None in the month after the due date, which has none. ``is_minimum``
    is true if the Selic of later months is not known.
    """

    due_on: date
    total: Decimal
    first: date | None
    last: date | None
    is_minimum: bool


@cache
def selic() -> Mapping[date, Decimal]:
    """Return the monthly Selic in per cent, by the first day of the month."""
    return {row.month: row.percent for row in read_csv(__package__, "selic.csv", _Month)}


def interest_on(amount: Decimal, due_on: date, paid_on: date) -> Interest | None:
    """Return what a fine costs on a day after its due date, or None up to the due date."""
    if paid_on <= due_on:
        return None
    months = tuple(_months_between(due_on, paid_on))
    known = [month for month in months if month in selic()]
    if months and not known:
        return None
    share = _IN_FIRST_MONTHS + sum((selic()[month] for month in known), Decimal(0)) / _PER_CENT
    return Interest(
        due_on=due_on,
        total=(amount * share).quantize(_CENT, ROUND_DOWN),
        first=known[0] if known else None,
        last=known[-1] if known else None,
        is_minimum=len(known) < len(months),
    )


def _months_between(due_on: date, paid_on: date) -> Iterator[date]:
    """Yield the months after that of the due date and before that of the payment."""
    index = due_on.year * 12 + due_on.month
    while index < paid_on.year * 12 + paid_on.month - 1:
        yield date(index // 12, index % 12 + 1, 1)
        index += 1
