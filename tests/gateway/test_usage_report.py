"""The operator's sums of calls and savings: by day, caller and operation."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import event

from portal.access.tokens import SCOPES, PersonLimits
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.limits import Limit, Use
from portal.gateway.lookup import Spend
from portal.gateway.reservation import PortalLimits
from portal.gateway.savings import SavingsCounter
from portal.gateway.usage import OriginCalls, Usage
from portal.gateway.usage_report import UsageLog, uses_of_portal
from portal.storage.database import Database
from portal.storage.tables import call_sums
from tests.fakes import Clock
from tests.fakes.one_tenant import NAMESPACE, savings_of, tokens_in
from tests.gateway.gateways import CALLER, as_caller, bench, terms
from tests.gateway.ledgers import begin_call, buy

ANA, BIA = as_caller("ana"), as_caller("bia", daily_limit=9)
DAY = date(2026, 10, 1)


def test_calls_and_answers_are_summed_by_day_caller_and_operation(
    database: Database, clock: Clock
) -> None:
    ledger = Ledger(database, clock=clock, namespace="up")
    counter = SavingsCounter(database, terms(price="0.305"), clock, namespace="up")
    log = UsageLog(database, "up", clock)
    today = log.today()
    for caller, calls in ((ANA, 3), (BIA, 1)):
        for _ in range(calls):
            buy(ledger, caller)
    buy(ledger, ANA, "not_sent")  # an unsent call costs nothing and is not counted
    buy(Ledger(database, clock=clock, namespace="other"), ANA)
    for how, times in (("hit", 5), ("stale", 2), ("collapsed", 1)):
        counter.count("decode", how, times, "ana")  # type: ignore[arg-type]
    counter.flush()
    clock.advance(86400)
    buy(ledger, ANA)
    found = log.dearest_callers(10)
    assert found["ana"] == Usage(
        calls=4,
        known_spent=Decimal("1.20"),
        hits=5,
        stale=2,
        collapsed=1,
        known_saved=7 * Decimal("0.305"),
    )
    assert list(found) == ["ana", "bia"]
    assert list(log.dearest_callers(1)) == ["ana"]
    tomorrow = today + timedelta(days=1)
    assert {key: each.calls for key, each in log.by_day(log.calls(today)).items()} == {
        (today, "decode"): 4,
        (tomorrow, "decode"): 1,
    }
    assert log.by_day(log.calls(tomorrow)) == {(tomorrow, "decode"): Usage(1, Decimal("0.30"))}


def test_calls_in_progress_count_for_their_own_caller(database: Database, clock: Clock) -> None:
    """The list of the dearest callers has no caller who has not ended a call."""
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)
    buy(ledger, ANA)
    for caller in (ANA, ANA, BIA):
        begin_call(ledger, caller)
    ana = Usage(calls=3, known_spent=Decimal("0.90"))
    assert log.of_caller("ana") == ana
    assert log.of_caller("bia") == Usage(calls=1, known_spent=Decimal("0.30"))
    assert log.of_caller("cia") == Usage()
    assert log.dearest_callers(10) == {"ana": ana}


def test_failures_are_grouped_by_kind_and_address(database: Database, clock: Clock) -> None:
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)
    for outcome, status in (
        ("answered", 200),
        ("answered", 404),
        ("answered", 429),
        ("timed_out", 0),
        ("timed_out", 0),
        ("not_sent", 0),
    ):
        buy(ledger, ANA, outcome, status)
    begin_call(ledger, ANA)  # in progress, so not listed
    told = {
        (each.outcome, each.status): each
        for each in log.failures(log.calls(log.today()), log.today())
    }
    assert {kind: each.calls for kind, each in told.items()} == {
        ("answered", 429): 1,
        ("timed_out", None): 2,
        ("not_sent", None): 1,
    }
    assert [each.outcome for each in told.values() if each.is_free] == ["not_sent"]
    assert told["timed_out", None].last_at == clock()
    for seconds, is_listed in ((60, False), (1, True)):
        clock.advance(seconds)
        found = log.failures(log.calls(DAY), log.today() - timedelta(days=1))
        assert ("maybe" in {each.outcome for each in found}) is is_listed


def test_today_is_counted_by_address_and_token(database: Database, clock: Clock) -> None:
    ledger, log = (
        Ledger(database, PortalLimits(50), clock=clock, namespace="up"),
        UsageLog(database, "up", clock),
    )
    buy(ledger, ANA)
    buy(ledger, BIA)
    buy(ledger, BIA, "failing")
    today = log.calls_today(["ana", "bia", "cia"])
    assert (today.all, today.by_token) == (3, {"ana": 1, "bia": 2})
    (primary,) = log.origins_today(log.calls(log.today())).values()
    assert (primary.calls, primary.failed) == (3, 1)
    clock.advance(86400)
    assert log.calls_today(["ana"]).all == 0
    assert log.origins_today(log.calls(log.today())) == {}


def test_failures_of_a_day_are_summed_by_operation(database: Database, clock: Clock) -> None:
    ledger = Ledger(database, clock=clock, namespace="up")
    log = UsageLog(database, "up", clock)
    for caller in (ANA, BIA):
        buy(ledger, caller)
        buy(ledger, caller, "not_sent")
        buy(ledger, caller, "failing")
    today = log.today()
    assert log.answered_by_day(log.calls(today)) == {(today, "decode"): OriginCalls(6, 4)}


def test_number_of_queries_does_not_grow_with_the_rows(database: Database, clock: Clock) -> None:
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)

    seen = []
    for number in range(60):
        buy(ledger, as_caller(f"caller-{number}"))
    event.listen(database.engine, "before_cursor_execute", lambda *details: seen.append(details[2]))
    found = log.dearest_callers(50)
    calls = log.calls(DAY)
    log.by_day(calls)
    log.failures(calls, DAY)
    log.origins_today(calls)
    log.calls_today(found)
    assert len(seen) == 5
    assert len(found) == 50


def test_hits_are_counted_for_who_asked(tmp_path: Path, database: Database, clock: Clock) -> None:
    counter = savings_of(database, terms(price="1"), clock)
    made = bench(tmp_path, clock, savings=counter.count)
    for _ in range(3):
        made.decode()
    made.decode(directive=Spend.AGAIN)
    counter.flush()
    counted = UsageLog(database, "upstream", clock).of_caller(CALLER.name)
    assert (counted.hits, counted.saved) == (2, Decimal(2))


def test_forecast_sums_the_calls_of_all_names(database: Database) -> None:
    clock = Clock(datetime(2026, 11, 2, 15, tzinfo=UTC).timestamp())
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)
    for name in ("person:ana", "person:ana", "ana-script", "ana-script", "bia"):
        buy(ledger, as_caller(name))  # R$ 0.30 each
    limit = Limit("person", "person:1", "month", Decimal("2.40"))
    use = Use(limit, Decimal("1.20"), datetime(2026, 12, 1, tzinfo=UTC))
    # R$ 1.20 are left: a week at the rate of all names together, two weeks at half of it.
    assert log.ends_on(use, ["person:ana", "ana-script"]) == date(2026, 11, 9)
    assert log.ends_on(use, ["person:ana"]) == date(2026, 11, 16)
    assert log.ends_on(use) == date(2026, 11, 7)  # R$ 1.50 a week of all callers


def test_limits_of_the_portal_come_with_the_day_on_which_they_end(database: Database) -> None:
    clock = Clock(datetime(2026, 11, 2, 15, tzinfo=UTC).timestamp())
    limits = PortalLimits(daily_calls=9, monthly_budget=Decimal("1.50"))
    ledger = Ledger(database, limits, clock=clock, namespace="up")
    log = UsageLog(database, "up", clock)
    for caller in (ANA, BIA):
        buy(ledger, caller)
    # R$ 0.90 are left, at R$ 0.60 a week.
    found = [(use.limit.unit, use.used, day) for use, day in uses_of_portal(ledger, log)]
    assert found == [("calls", 2, None), ("brl", Decimal("0.60"), date(2026, 11, 12))]
    with database.engine.begin() as db:
        call_sums.drop(db)
    assert uses_of_portal(ledger, log) == []


@pytest.mark.parametrize("callers", [None, ["ana"]])
def test_last_days_are_whole_days_with_the_present_one(
    database: Database, clock: Clock, callers: list[str] | None
) -> None:
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)
    buy(ledger, ANA)
    spent = []
    for _ in range(3):
        spent.append(log.budgeted_in_days(2, callers))
        clock.advance(86_400)
    assert spent == [Decimal("0.30"), Decimal("0.30"), 0]


@pytest.mark.parametrize("callers", [None, ["ana"]])
@pytest.mark.parametrize(
    ("used", "day"), [("0.60", date(2026, 11, 7)), ("1.50", date(2026, 11, 2))]
)
def test_calls_without_a_price_leave_the_forecast(
    database: Database, callers: list[str] | None, used: str, day: date
) -> None:
    """Calls from before the prices were set took nothing from the budget."""
    clock = Clock(datetime(2026, 11, 2, 15, tzinfo=UTC).timestamp())
    ledger, log = Ledger(database, clock=clock, namespace="up"), UsageLog(database, "up", clock)
    for _ in range(5):
        LedgerEntry(ledger, "decode", "tag", None, ANA).begin("primary").finish("answered", 200)
        buy(ledger, ANA)
    limit = Limit("portal", "day", "month", Decimal("1.70"))
    use = Use(limit, Decimal(used), datetime(2026, 12, 1, tzinfo=UTC))
    assert log.ends_on(use, callers) == day


def test_tokens_near_a_limit_are_found_on_each_database(database: Database, clock: Clock) -> None:
    ledger = Ledger(database, clock=clock, namespace=NAMESPACE)
    log = UsageLog(database, NAMESPACE, clock)
    issued = tokens_in(database, (), clock, clock)
    for name, daily, budget in (("ana", 4, "0"), ("bia", 3, "9"), ("eva", 0, "1.00")):
        issued.issue(name, SCOPES, None, daily, Decimal(budget))
        for _ in range(3):
            buy(ledger, as_caller(name, daily_limit=daily, monthly_budget=Decimal(budget)))
    assert [each.name for each in log.tokens_near(Decimal("0.05"))] == ["eva"]
    clock.advance(1)
    buy(ledger, as_caller("leo"))
    issued.issue("leo", SCOPES, None, 0, Decimal("0.30"))
    uses = [(each.name, each.use) for each in log.tokens_near(Decimal(1))]
    found = {token: (use.used, use.limit.most) for token, use in uses}
    assert found == {
        "eva": (Decimal("0.90"), Decimal("1.00")),
        "leo": (Decimal("0.30"), Decimal("0.30")),
    }


def test_people_near_a_limit_are_found_on_each_database(database: Database, clock: Clock) -> None:
    ledger = Ledger(database, clock=clock, namespace=NAMESPACE)
    log = UsageLog(database, NAMESPACE, clock)
    for name, calls in (("ana", 1), ("bia", 3), ("eva", 4)):
        for _ in range(calls):
            buy(ledger, replace(as_caller(name), person=PersonLimits(name, f"person:{name}", 4)))
    near = log.people_near(4, Decimal("1.30"), dearest=Decimal("0.40"))
    found = {
        name: [(use.limit.scope, use.limit.period, use.used) for use in uses]
        for name, uses in near.items()
    }
    assert found == {
        "bia": [("person", "month", Decimal("0.90"))],
        "eva": [("person", "day", Decimal(4)), ("person", "month", Decimal("1.20"))],
    }
    assert log.people_near(0, Decimal(0), dearest=Decimal("0.40")) == {}
    clock.advance(40 * 86400)
    assert log.people_near(4, Decimal("1.30"), dearest=Decimal("0.40")) == {}
