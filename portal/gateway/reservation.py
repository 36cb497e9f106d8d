"""Limits of spending, which the ledger reserves before a call and gives back after it.

A limit counts calls of a day or R$ of a calendar month, both in America/Sao_Paulo, or R$ in all. It
binds one payer: a token, a person with all own tokens, all callers of the portal together, a batch
with the sum that its owner has confirmed, or all callers on trial (``Ledger``). What is used of
each limit stands in a row of the table ``call_counters``, also where nothing limits it yet, so that
a limit that is set later counts what was spent before. One statement takes a call from all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    TextClause,
    bindparam,
    literal,
    select,
    text,
)

from portal.access.tokens import Identity
from portal.gateway.limits import NO_LIMIT, Calendar, Limit, Period
from portal.storage.tables import call_counters
from portal.system.local_time import from_epoch

# The payer of the rows that count the calls and the R$ of all callers together.
ALL_CALLERS: Final = "day"
# Amounts in R$ are counted in millionths, because a price has at most six decimal places.
MICRO: Final = 1_000_000
# The period of a limit that never begins again.
_TOTAL: Final = "total"
# Versions before schema revision 0016 delete rows whose period sorts before yesterday's date. This
# prefix keeps them from deleting a month's rows during a rolling upgrade.
_MONTH: Final = "m"
_UNLIMITED: Final = 2**62


@dataclass(frozen=True, slots=True)
class PortalLimits:
    """The operator's limits for all callers together. 0 means no limit."""

    daily_calls: int = 0
    monthly_budget: Decimal = Decimal(0)


NO_LIMITS: Final = PortalLimits()


class LimitReached(Exception):
    """A call would exceed a limit, so nothing was reserved."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit.scope, limit.period)
        self.limit = limit


def token_payer(caller: str) -> str:
    """Return the payer of a token's rows."""
    return f"token:{caller}"


def batch_payer(batch: str) -> str:
    """Return the payer of the row that counts the R$ of a batch."""
    return f"batch:{batch}"


def limits_of(caller: Identity, portal: PortalLimits) -> tuple[Limit, ...]:
    """Return every limit that binds a caller's calls, in the order in which rows are locked."""
    token = token_payer(caller.name)
    day, month = limits_of_portal(portal)
    counted = [
        day,
        Limit("token", token, "day", _most(caller.daily_limit)),
        month,
        Limit("token", token, "month", _most(caller.monthly_budget)),
    ]
    if (person := caller.person) is not None:
        counted += [
            Limit("person", person.payer, "day", _most(person.daily_limit)),
            Limit("person", person.payer, "month", _most(person.monthly_budget)),
        ]
    return tuple(counted)


def limits_of_portal(portal: PortalLimits) -> tuple[Limit, Limit]:
    """Return the limits of a day and of a month for all callers together."""
    return (
        Limit("portal", ALL_CALLERS, "day", _most(portal.daily_calls)),
        Limit("portal", ALL_CALLERS, "month", _most(portal.monthly_budget)),
    )


def _most(setting: int | Decimal) -> Decimal:
    """Return the most that a setting allows, of which 0 means no limit."""
    return Decimal(setting) if setting else NO_LIMIT


def period_of(period: Period, seconds: float) -> str:
    """Return the text of the day or the month of epoch seconds, as the table has it."""
    if period == "total":
        return _TOTAL
    day = from_epoch(seconds).date().isoformat()
    return day if period == "day" else f"{_MONTH}{day[:7]}"


def _periods(seconds: float) -> Mapping[Period, str]:
    """Return the text of each period, because each call needs several of them."""
    month = period_of("month", seconds)
    return {"day": period_of("day", seconds), "month": month, "total": _TOTAL}


def ends_at(period: Calendar, seconds: float) -> datetime:
    """Return when the day or the month of epoch seconds ends, in America/Sao_Paulo."""
    midnight = from_epoch(seconds).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return midnight + timedelta(days=1)
    return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)


def end_of(limit: Limit, seconds: float) -> datetime | None:
    """Return when the period of a limit ends. None for a total, which does not begin again."""
    return None if limit.period == "total" else ends_at(limit.period, seconds)


def seconds_left(period: Calendar, seconds: float) -> float:
    """Return the seconds until the day or the month of epoch seconds ends."""
    return max(1.0, ends_at(period, seconds).timestamp() - seconds)


# The most of a total was confirmed once and stands in its row, where its owner may change it while
# a call is about to be taken. The most of a day and a month is a setting of this process.
_MOST = f"CASE excluded.day WHEN '{_TOTAL}' THEN call_counters.most ELSE excluded.most END"
_TAKE = f"""INSERT INTO call_counters (namespace, day, payer, calls, most) VALUES {{}}
    ON CONFLICT (namespace, day, payer) DO UPDATE SET
        calls = call_counters.calls + excluded.calls, most = {_MOST}
    WHERE call_counters.calls + excluded.calls <= coalesce({_MOST}, {_UNLIMITED})
    RETURNING day, payer, calls
"""  # noqa: S608 only our own text
_GIVE_BACK = text(
    "UPDATE call_counters SET calls = calls - :amount "
    "WHERE namespace = :namespace AND day = :period AND payer = :payer AND calls >= :amount"
)


@cache
def _take(rows: int) -> TextClause:
    """Return the statement that takes so many limits.

    A row that has not enough left stays as it is, and the statement returns no row for it. Both
    databases execute the statement as one step, so no limit is exceeded.
    """
    values = ", ".join(
        f"(:namespace, :period{number}, :payer{number}, CAST(:amount{number} AS BIGINT), "
        f"CAST(:most{number} AS BIGINT))"
        for number in range(rows)
    )
    return text(_TAKE.format(values))


def reserve(
    db: Connection,
    namespace: str,
    limits: Sequence[Limit],
    price: Decimal | None,
    seconds: float,
) -> dict[Limit, Decimal]:
    """Take one call and its price from every limit, in one statement.

    Return what is used of each limit with this call. Raises LimitReached, after which the caller
    must roll its transaction back. A call whose price is unknown exceeds every limit in R$.
    """
    taken = [limit for limit in limits if limit.unit == "calls" or price != 0]
    if price is None:
        for limit in taken:
            if limit.unit == "brl" and limit.is_set:
                raise LimitReached(limit)
        taken = [limit for limit in taken if limit.unit == "calls"]
    if not taken:
        return {}
    periods = _periods(seconds)
    rows: dict[str, Any] = {"namespace": namespace}
    for number, limit in enumerate(taken):
        amount = _amount(limit, price)
        if limit.is_set and amount > _counted(limit, limit.most):
            raise LimitReached(limit)  # an insert does not compare
        rows |= {
            f"period{number}": periods[limit.period],
            f"payer{number}": limit.payer,
            f"amount{number}": amount,
            f"most{number}": _counted(limit, limit.most) if limit.is_set else None,
        }
    used_before = {
        (period, payer): used for period, payer, used in db.execute(_take(len(taken)), rows)
    }
    used = {}
    for limit in taken:
        key = periods[limit.period], limit.payer
        if key not in used_before:
            raise LimitReached(limit)
        used[limit] = _shown(limit, used_before[key])
    return used


def give_back(
    db: Connection, namespace: str, limits: Sequence[Limit], price: Decimal, seconds: float
) -> None:
    """Give a call and its price in R$ back to limits. ``seconds`` is the time of the call."""
    for limit in limits:
        amount = _amount(limit, price)
        if amount:
            row = {"period": period_of(limit.period, seconds), "payer": limit.payer}
            db.execute(_GIVE_BACK, {"namespace": namespace, "amount": amount, **row})


def used_of(
    db: Connection, namespace: str, limits: Sequence[Limit], seconds: float
) -> Mapping[Limit, Decimal]:
    """Read what is used of limits, in calls or R$."""
    columns = call_counters.c
    query = select(columns.day, columns.payer, columns.calls).where(
        columns.namespace == namespace,
        columns.day.in_(bindparam("periods", expanding=True)),
        columns.payer.in_(bindparam("payers", expanding=True)),
    )
    periods = _periods(seconds)
    names = {
        "periods": sorted({periods[limit.period] for limit in limits}),
        "payers": sorted({limit.payer for limit in limits}),
    }
    used = {(period, payer): used for period, payer, used in db.execute(query, names)}
    return {
        limit: _shown(limit, used.get((periods[limit.period], limit.payer), 0)) for limit in limits
    }


def used_of_batches(table: Table) -> ColumnElement[int | None]:
    """Return the column of what each row of the table of batches has used, in millionths of R$."""
    columns = call_counters.c
    return (
        select(columns.calls)
        .where(
            columns.namespace == table.c.namespace,
            columns.day == _TOTAL,
            columns.payer == literal(batch_payer("")) + table.c.id,
        )
        .scalar_subquery()
    )


def _amount(limit: Limit, price: Decimal | None) -> int:
    return 1 if limit.unit == "calls" else _counted(limit, price or Decimal(0))


def _counted(limit: Limit, amount: Decimal) -> int:
    return int(amount if limit.unit == "calls" else amount * MICRO)


def _shown(limit: Limit, counted: int) -> Decimal:
    return Decimal(counted) if limit.unit == "calls" else Decimal(counted) / MICRO


def spent_on(used: Decimal, most: Decimal, lately: Decimal, days: int, today: date) -> date | None:
    """Return the day on which a month's budget ends at the rate of the last ``days`` days.

    ``lately`` are the R$ spent in these days. None if the budget lasts until the month's end.
    """
    if used >= most:
        return today
    if lately <= 0:
        return None
    left_days = (most - used) * days / lately
    if left_days >= 31:
        return None
    day = today + timedelta(days=int(left_days))
    return day if (day.year, day.month) == (today.year, today.month) else None
