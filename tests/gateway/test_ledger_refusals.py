"""Pass-through mode: refused credentials do not use up the daily limit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from sqlalchemy.exc import OperationalError

from portal.access.tokens import Identity
from portal.gateway.ledger import Ledger
from portal.gateway.lookup import Failure
from portal.storage.database import Database
from tests.fakes import Clock
from tests.fakes.one_tenant import ledger_of
from tests.gateway.gateways import as_caller
from tests.gateway.ledgers import begin_call, buy, spent


def caller(name: str, daily_limit: int = 0) -> Identity:
    """Return a caller with a credential of its own."""
    return as_caller(f"credential:{name}", daily_limit, credential=name)


def raising(error: Exception) -> Callable[[object], None]:
    def fail(_: object) -> None:
        raise error

    return fail


def kind_of(ledger: Ledger, payer: Identity) -> str:
    try:
        buy(ledger, payer)
    except Failure as failure:
        return failure.kind
    return "sent"


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credential_releases_reservation_and_keeps_row(
    database: Database, clock: Clock, status: int
) -> None:
    ledger = ledger_of(database, daily_limit=3, clock=clock)
    for number in range(10):
        buy(ledger, caller(f"stranger-{number}", 1), status=status)
    assert [(row.outcome, row.status, row.price) for row in ledger.rows()] == [
        ("answered", status, Decimal(0))
    ] * 10
    assert [kind_of(ledger, caller("bia")) for _ in range(4)] == ["sent"] * 3 + ["day_limit"]


def test_refused_credential_releases_token_limit(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    poor = caller("ana", daily_limit=1)
    buy(ledger, poor, status=401)
    assert [kind_of(ledger, poor) for _ in range(2)] == ["sent", "token_limit"]


@pytest.mark.parametrize("status", [401, 403])
def test_refused_operator_credential_keeps_reservation(
    database: Database, clock: Clock, status: int
) -> None:
    ledger = ledger_of(database, daily_limit=1, clock=clock)
    buy(ledger, status=status)
    assert kind_of(ledger, as_caller("other")) == "day_limit"


@pytest.mark.parametrize("status", [200, 400, 404, 429])
def test_other_answers_to_proven_caller_keep_reservation(
    database: Database, clock: Clock, status: int
) -> None:
    ledger = ledger_of(database, daily_limit=2, clock=clock)
    buy(ledger, caller("ana"), status=200)
    buy(ledger, caller("ana"), status=status)
    assert kind_of(ledger, caller("bia")) == "day_limit"


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_failed_calls_on_trial_release_reservation(
    database: Database, clock: Clock, status: int
) -> None:
    """An upstream may refuse an invented credential with any status."""
    ledger = ledger_of(database, daily_limit=2, clock=clock)
    for number in range(10):
        buy(ledger, caller(f"stranger-{number}"), status=status)
    assert len(list(ledger.rows())) == 10
    assert [kind_of(ledger, caller("bia")) for _ in range(3)] == ["sent", "sent", "day_limit"]


def test_trial_calls_in_flight_use_half_of_remaining_limit(
    database: Database, clock: Clock
) -> None:
    """A caller with an earlier 200 does not wait for unproven callers' calls."""
    ledger = ledger_of(database, daily_limit=20, clock=clock)
    buy(ledger, caller("bia"))
    waiting = []
    with pytest.raises(Failure) as caught:
        for number in range(20):
            waiting.append(begin_call(ledger, caller(f"stranger-{number}")))
    assert (caught.value.kind, caught.value.retry_after_s) == ("unreachable", 1.0)
    assert len(waiting) == 9  # half of the 19 remaining calls
    assert [kind_of(ledger, caller("bia")) for _ in range(5)] == ["sent"] * 5
    for each in waiting:
        each.finish("answered", 401)
    assert kind_of(ledger, caller("new")) == "sent"
    assert len(list(ledger.rows())) == 16


def test_trial_limit_is_shared_by_processes(database: Database, clock: Clock) -> None:
    """Each process had a share of its own, so a few strangers at one process used it up."""
    books = [ledger_of(database, daily_limit=20, clock=clock) for _ in range(2)]
    waiting = [begin_call(books[0], caller(f"stranger-{number}")) for number in range(9)]
    waiting.append(begin_call(books[1], caller("stranger-9")))
    for ledger in books:
        with pytest.raises(Failure):
            begin_call(ledger, caller("stranger-10"))
    waiting[0].finish("answered", 401)
    begin_call(books[1], caller("stranger-10"))


def test_trial_call_of_an_unwritable_end_frees_its_slot_later(
    database: Database, clock: Clock
) -> None:
    ledger = ledger_of(database, daily_limit=2, clock=clock)
    waiting = begin_call(ledger, caller("ana"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "_close", raising(OperationalError("", None, Exception())))
        waiting.finish("answered", 401)
    assert kind_of(ledger, caller("bia")) == "unreachable"
    ledger.settle()
    assert kind_of(ledger, caller("bia")) == "sent"


def test_sequential_new_callers_can_use_the_whole_limit(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=5, clock=clock)
    kinds = [kind_of(ledger, caller(f"new-{number}")) for number in range(6)]
    assert kinds == ["sent"] * 5 + ["day_limit"]


def test_failed_or_unsent_call_frees_its_trial_slot(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, daily_limit=10, clock=clock)
    for outcome in ("not_sent", "circuit_open") * 5:
        buy(ledger, caller("new"), outcome)
    for outcome in ("timed_out", "failing", "broken") * 3:
        buy(ledger, caller("new"), outcome)
    assert kind_of(ledger, caller("new")) == "sent"


def test_no_trial_without_daily_limit(database: Database, clock: Clock) -> None:
    ledger = ledger_of(database, clock=clock)
    for number in range(50):
        begin_call(ledger, caller(f"stranger-{number}"))
    assert kind_of(ledger, caller("bia")) == "sent"


def test_concurrent_new_callers_do_not_exceed_limit(database: Database) -> None:
    ledger = ledger_of(database, daily_limit=30)

    def race(number: int) -> bool:
        try:
            buy(ledger, caller(f"c{number % 7}"), status=401 if number % 3 else 200)
        except Failure:
            return False
        return number % 3 == 0

    with ThreadPoolExecutor(20) as pool:
        paid = sum(pool.map(race, range(150)))
    ledger.settle()  # on a busy machine, an outcome may not be written yet
    while kind_of(ledger, caller("c0")) == "sent":
        paid += 1
    assert paid == 30
    assert len([row for row in ledger.rows() if row.status == 200]) == 30
    assert set(spent(ledger)) == {"answered"}
