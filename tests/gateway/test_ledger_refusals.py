"""Pass-through: strangers whose credentials the upstream refuses do not spend the day's limit."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from sqlalchemy import select

from portal.gateway import Caller, Failure, Ledger
from portal.storage import reading, spending
from tests.gateway.buying import announced, buy, spent


def caller(name: str, daily_limit: int = 0) -> Caller:
    """A caller with a credential of its own."""
    return Caller(f"credential:{name}", daily_limit, credential=name)


def kind_of(book: Ledger, who: Caller) -> str:
    try:
        buy(book, who)
    except Failure as failure:
        return failure.kind
    return "sent"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_credential_gives_its_reservation_back_and_keeps_its_row(engine, clock, status):
    book = Ledger(engine, daily_limit=3, clock=clock)
    for number in range(10):
        buy(book, caller(f"stranger-{number}", 1), status=status)
    assert [(row.outcome, row.status, row.price) for row in book.rows()] == [
        ("answered", status, Decimal("0.30"))
    ] * 10
    assert [kind_of(book, caller("bia")) for _ in range(4)] == ["sent"] * 3 + ["day_limit"]


def test_a_callers_own_limit_gets_it_back_too(engine, clock):
    book = Ledger(engine, clock=clock)
    poor = caller("ana", daily_limit=1)
    buy(book, poor, status=401)
    assert [kind_of(book, poor) for _ in range(2)] == ["sent", "token_limit"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_the_operators_credential_is_not_given_back(engine, clock, status):
    book = Ledger(engine, daily_limit=1, clock=clock)
    buy(book, status=status)
    assert kind_of(book, Caller("other")) == "day_limit"


@pytest.mark.parametrize("status", [200, 400, 404, 429])
def test_any_other_answer_to_a_known_caller_spends_the_day(engine, clock, status):
    book = Ledger(engine, daily_limit=2, clock=clock)
    buy(book, caller("ana"), status=200)
    buy(book, caller("ana"), status=status)
    assert kind_of(book, caller("bia")) == "day_limit"


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_failed_calls_of_callers_on_trial_do_not_spend_the_day(engine, clock, status):
    """An upstream may refuse an invented credential with any status."""
    book = Ledger(engine, daily_limit=2, clock=clock)
    for number in range(10):
        buy(book, caller(f"stranger-{number}"), status=status)
    assert len(list(book.rows())) == 10
    assert [kind_of(book, caller("bia")) for _ in range(3)] == ["sent", "sent", "day_limit"]


def test_calls_of_strangers_under_way_hold_half_of_the_places_left(engine, clock):
    """While they wait for their 401 another caller's call is sent."""
    book = Ledger(engine, daily_limit=20, clock=clock)
    buy(book, caller("bia"))
    waiting = []
    with pytest.raises(Failure) as caught:
        for number in range(20):
            waiting.append(announced(book, caller(f"stranger-{number}")))
    assert (caught.value.kind, caught.value.retry_after_s) == ("unreachable", 1.0)
    assert len(waiting) == 9  # of 19
    assert [kind_of(book, caller("bia")) for _ in range(5)] == ["sent"] * 5
    for each in waiting:
        each.ended("answered", 401)
    assert kind_of(book, caller("new")) == "sent"
    assert len(list(book.rows())) == 16


def test_worker_processes_divide_that_half(engine, clock):
    books = [Ledger(engine, daily_limit=20, clock=clock, processes=2) for _ in range(2)]
    for book in books:
        with pytest.raises(Failure):
            for number in range(20):
                announced(book, caller(f"stranger-{number}"))
    with reading(engine) as db:
        rows = db.execute(select(spending.c.calls).where(spending.c.payer == "day")).all()
    assert 0 < rows[0].calls < 11


def test_newcomers_one_by_one_spend_the_limit_to_the_last_place(engine, clock):
    book = Ledger(engine, daily_limit=5, clock=clock, processes=4)
    kinds = [kind_of(book, caller(f"new-{number}")) for number in range(6)]
    assert kinds == ["sent"] * 5 + ["day_limit"]


def test_what_ends_otherwise_frees_its_place_on_trial(engine, clock):
    book = Ledger(engine, daily_limit=10, clock=clock)
    for outcome in ("not_sent", "circuit_open") * 5:
        buy(book, caller("new"), outcome)
    for outcome in ("timed_out", "failing", "broken") * 3:
        buy(book, caller("new"), outcome)
    assert kind_of(book, caller("new")) == "sent"


def test_without_a_limit_nobody_is_on_trial(engine, clock):
    book = Ledger(engine, clock=clock)
    for number in range(50):
        announced(book, caller(f"stranger-{number}"))
    assert kind_of(book, caller("bia")) == "sent"


def test_raced_newcomers_never_pass_the_limit(engine):
    book = Ledger(engine, daily_limit=30)

    def race(number: int) -> bool:
        try:
            buy(book, caller(f"c{number % 7}"), status=401 if number % 3 else 200)
        except Failure:
            return False
        return number % 3 == 0

    with ThreadPoolExecutor(20) as pool:
        paid = sum(pool.map(race, range(150)))
    book.settle()  # a busy machine may have deferred the end of a call
    while kind_of(book, caller("c0")) == "sent":
        paid += 1
    assert paid == 30
    assert len([row for row in book.rows() if row.status == 200]) == 30
    assert set(spent(book)) == {"answered"}
