"""Budgets of a calendar month in R$, of the portal and of tokens."""

import itertools
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from portal.access.tokens import Identity
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.limits import NO_LIMIT, Limit, Period
from portal.gateway.lookup import Failure
from portal.gateway.reservation import (
    LimitReached,
    PortalLimits,
    end_of,
    give_back,
    limits_of,
    reserve,
    spent_on,
    used_of,
)
from portal.storage.database import Database
from portal.system.local_time import sao_paulo
from tests.effort import cases
from tests.fakes import Clock
from tests.fakes.databases import EmptyDatabase, kept_open
from tests.fakes.one_tenant import NAMESPACE, ledger_of
from tests.fakes.preloaded import PRELOADED
from tests.gateway.gateways import as_caller

PRICE = Decimal("0.31")
NOW = 1_790_000_000.0
RUNS = itertools.count()
ANA = as_caller("ana", monthly_budget=Decimal("1.00"))


def call(ledger: Ledger, caller: object = ANA, price: Decimal | None = PRICE) -> LedgerEntry:
    return LedgerEntry(ledger, "decode", "tag", price, caller).begin("primary")  # type: ignore[arg-type]


def kind_of(ledger: Ledger, caller: object = ANA, price: Decimal | None = PRICE) -> str:
    try:
        call(ledger, caller, price).finish("answered", 200)
    except Failure as failure:
        assert failure.retry_after_s is not None
        return failure.kind
    return "sent"


def test_token_spends_its_budget_and_no_more(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    assert [kind_of(ledger) for _ in range(4)] == ["sent", "sent", "sent", "token_budget"]
    assert kind_of(ledger, as_caller("bia")) == "sent"
    (use,) = ledger.uses(ANA)
    assert (use.limit.unit, use.used, use.left) == ("brl", Decimal("0.93"), Decimal("0.07"))


def test_portal_spends_its_budget_and_no_more(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, monthly_budget=Decimal("0.62"), clock=clock)
    callers = [as_caller(name) for name in ("a", "b", "c")]
    assert [kind_of(ledger, each) for each in callers] == ["sent", "sent", "portal_budget"]


def test_call_that_was_not_sent_is_given_back(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    for _ in range(5):
        call(ledger).finish("not_sent")
        call(ledger).finish("answered", 402)
    assert [use.used for use in ledger.uses(ANA)] == [0]


def test_budget_begins_again_with_the_month(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    for _ in range(3):
        kind_of(ledger)
    with pytest.raises(Failure) as caught:
        call(ledger)
    assert caught.value.retry_after_s is not None
    clock.advance(caught.value.retry_after_s - 1)
    assert kind_of(ledger) == "token_budget"
    clock.advance(2)
    assert kind_of(ledger) == "sent"


def test_late_end_gives_back_to_the_month_of_the_call(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    late = call(ledger)
    clock.advance(40 * 86400)
    kind_of(ledger)
    late.finish("not_sent")
    assert [use.used for use in ledger.uses(ANA)] == [PRICE]


def test_unknown_price_exceeds_every_budget(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    assert kind_of(ledger, ANA, None) == "token_budget"
    assert kind_of(ledger, as_caller("bia"), None) == "sent"
    assert kind_of(ledger, ANA, Decimal(0)) == "sent"


def test_price_above_the_whole_budget_is_refused(database: Database, clock: Clock) -> None:
    assert kind_of(ledger_of(database, clock=clock), ANA, Decimal("1.01")) == "token_budget"


def test_budget_that_is_set_later_counts_what_was_spent(database: Database, clock: Clock) -> None:
    for _ in range(3):
        kind_of(ledger_of(database, clock=clock), as_caller("ana"))
    assert kind_of(ledger_of(database, clock=clock)) == "token_budget"


def race(empty_database: EmptyDatabase, threads: int, results: "queue.Queue[int]") -> None:
    ledger = Ledger(
        kept_open(empty_database.url, empty_database.folder),
        PortalLimits(monthly_budget=Decimal(100)),
        namespace=NAMESPACE,
    )
    paid: list[int] = []

    def spend(number: int) -> None:
        while True:
            try:
                attempt = call(ledger, as_caller(f"c{number % 3}"))
            except Failure as failure:
                if failure.kind == "portal_budget":
                    return
                continue
            if number % 7 == 0:
                attempt.finish("not_sent")
                return
            attempt.finish("answered", 200)
            paid.append(number)

    workers = [threading.Thread(target=spend, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for _ in range(10):
        ledger.settle()
    results.put(len(paid))


@pytest.mark.over_5_s("322 calls of 50 threads in 4 processes")
def test_budget_is_exact_under_races_of_threads_and_processes(
    empty_database: EmptyDatabase, database: Database
) -> None:
    """R$ 100 at R$ 0.31 are exactly 322 calls, and what was not sent was given back."""
    results = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=race, args=(empty_database, 50, results)) for _ in range(4)]
    for racer in racers:
        racer.start()
    paid = sum(results.get(timeout=120) for _ in racers)
    for racer in racers:
        racer.join(30)
    ledger = ledger_of(database, monthly_budget=Decimal(100))
    with suppress(Failure):  # unsent calls may have given their price back after the last attempt
        while True:
            call(ledger, as_caller("late")).finish("answered", 200)
            paid += 1
    assert paid == 322
    assert len([row for row in ledger.rows() if row.outcome == "answered"]) == 322


LIMITS = st.builds(
    # A total is confirmed once, and its row keeps it.
    lambda scope, payer, period, most: Limit(
        scope, f"{scope}{payer}", period, Decimal(3) if period == "total" else most
    ),
    st.sampled_from(["portal", "token", "person", "batch"]),
    st.integers(0, 1),
    st.sampled_from(["day", "month", "total"]),
    st.sampled_from([NO_LIMIT, *map(Decimal, range(6))]),
)
STEPS = st.lists(
    st.tuples(
        st.lists(LIMITS, max_size=4, unique_by=lambda each: (each.payer, each.period)),
        st.sampled_from([Decimal(0), Decimal("0.31"), Decimal("1.7"), None]),
        st.booleans(),
    ),
    max_size=20,
)


Step = tuple[list[Limit], Decimal | None, bool]


@settings(max_examples=cases(20, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_limit_is_exceeded_and_what_is_used_is_the_sum(
    database: Database, steps: list[Step]
) -> None:
    """Each step takes a call from random limits, and gives it back or not."""
    name, expected = f"run {next(RUNS)}", dict[tuple[str, str], Decimal]()
    for limits, price, is_returned in steps:
        amounts = {each: Decimal(1) if each.unit == "calls" else price for each in limits}
        fits = all(
            not each.is_set or (amount is not None and of(expected, each) + amount <= each.most)
            for each, amount in amounts.items()
            if amount != 0
        )
        try:
            with database.writing() as db:
                reserve(db, name, limits, price, NOW)
        except LimitReached:
            assert not fits
            continue
        assert fits
        if is_returned:
            with database.writing() as db:
                give_back(db, name, limits, price or Decimal(0), NOW)
            continue
        for each, amount in amounts.items():
            expected[each.payer, each.period] = of(expected, each) + (amount or Decimal(0))
    seen = [each for limits, _, _ in steps for each in limits]
    with database.writing() as db:
        for each, used in used_of(db, name, seen, NOW).items():
            assert used == of(expected, each)


def of(used: dict[tuple[str, str], Decimal], limit: Limit) -> Decimal:
    return used.get((limit.payer, limit.period), Decimal(0))


def test_limits_bind_the_caller_and_the_portal() -> None:
    limits = limits_of(ANA, PortalLimits(7, Decimal(60)))
    assert [f"{each.scope} {each.unit} {each.most}" for each in limits] == [
        "portal calls 7",
        "token calls Infinity",
        "portal brl 60",
        "token brl 1.00",
    ]


@pytest.mark.parametrize(
    ("used", "lately", "expected"),
    [
        ("60", "0", date(2026, 11, 20)),
        ("0", "0", None),
        ("30", "70", date(2026, 11, 23)),
        ("30", "14", None),  # 15 days, in the next month
        ("59.99", "70", date(2026, 11, 20)),
        ("0", "0.000001", None),  # beyond the last day that a date can name
    ],
)
def test_forecast_goes_on_at_the_rate_of_seven_days(
    used: str, lately: str, expected: date | None
) -> None:
    today = date(2026, 11, 20)
    assert spent_on(Decimal(used), Decimal(60), Decimal(lately), 7, today) == expected


@pytest.mark.parametrize(
    ("period", "now", "end"),
    [
        ("day", (2026, 11, 29, 12), (2026, 11, 30)),
        ("day", (2026, 12, 31, 23), (2027, 1, 1)),
        ("month", (2026, 2, 1), (2026, 3, 1)),
        ("month", (2026, 12, 31, 23), (2027, 1, 1)),
        ("total", (2026, 12, 31), None),
    ],
)
def test_limit_ends_with_its_day_or_month_in_sao_paulo(
    period: Period, now: tuple[int, ...], end: tuple[int, ...] | None
) -> None:
    at = end_of(Limit("token", "token:ana", period, Decimal(1)), in_sao_paulo(*now).timestamp())
    assert at == (end and in_sao_paulo(*end))


def in_sao_paulo(year: int, month: int, day: int, hour: int = 0) -> datetime:
    return datetime(year, month, day, hour, tzinfo=sao_paulo())


class NotedMessages:
    """Notes what the ledger says of budgets: how, whose limit, and the R$ used of it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Decimal]] = []

    def taken(
        self, db: Connection, limit: Limit, caller: Identity, used: Decimal, seconds: float
    ) -> None:
        self.seen.append(("taken", limit.scope, used))

    def refused(
        self, limit: Limit, caller: Identity, used: Callable[[], Decimal], seconds: float
    ) -> None:
        self.seen.append(("refused", limit.scope, used()))


def test_messages_are_of_months_that_have_a_budget(database: Database, clock: Clock) -> None:
    messages = NotedMessages()
    ledger = ledger_of(database, budgets=messages, clock=clock)
    caller = as_caller("ana", daily_limit=3, monthly_budget=Decimal("0.70"))
    prices = (PRICE, Decimal(0), PRICE, PRICE)
    kinds = [kind_of(ledger, caller, price) for price in prices]
    assert kinds == ["sent", "sent", "sent", "token_limit"]
    clock.advance(86_400)
    assert [kind_of(ledger, caller), kind_of(ledger, as_caller("bia"))] == ["token_budget", "sent"]
    assert messages.seen == [
        ("taken", "token", Decimal("0.31")),
        ("taken", "token", Decimal("0.62")),
        ("refused", "token", Decimal("0.62")),
    ]
