"""The sum that a batch's owner has confirmed, beside the other limits of its calls."""

import itertools
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, event, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from portal.access.tokens import Identity, PersonLimits
from portal.gateway.confirmed_sum import affordable, batch_limit, rest_of
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.limits import Limit
from portal.gateway.lookup import Failure
from portal.gateway.reservation import MICRO, PortalLimits, limits_of, used_of
from portal.storage.database import Database
from portal.storage.tables import batch_items, batches, call_counters
from tests.effort import cases
from tests.fakes import Clock
from tests.fakes.one_tenant import NAMESPACE, ledger_of
from tests.gateway.gateways import as_caller

PRICE = Decimal("0.31")
RUNS = itertools.count()


def add_batch(
    database: Database,
    at_most: str,
    set_aside: Sequence[str] = (),
    name: str = "b1",
    namespace: str = NAMESPACE,
) -> Identity:
    """Store a running batch with a vehicle for each part set aside, and return its caller."""
    with database.writing() as db:
        db.execute(
            insert(batches).values(
                id=name,
                namespace=namespace,
                owner="ana",
                created_at=0,
                expires_at=4e9,
                state="running",
                ask="decode",
                at_most=at_most,
                sealed_wrong=b"",
            )
        )
        for position, reserved in enumerate(set_aside):
            db.execute(
                insert(batch_items).values(
                    batch=name,
                    position=position,
                    subject=f"tag{position}",
                    sealed=b"",
                    stored=False,
                    reserved=reserved,
                )
            )
    return as_caller("ana", batch=name)


def entry(
    ledger: Ledger, caller: Identity, tag: int = 0, price: Decimal | None = PRICE
) -> LedgerEntry:
    return LedgerEntry(ledger, "decode", f"tag{tag}", price, caller)


def outcome(ledger: Ledger, caller: Identity, tag: int = 0, price: Decimal | None = PRICE) -> str:
    try:
        entry(ledger, caller, tag, price).begin("primary").finish("answered", 200)
    except Failure as failure:
        return failure.kind
    return "sent"


def used(database: Database, batch: str = "b1") -> Decimal:
    with database.reading() as db:
        limit = batch_limit(batch, None)
        return used_of(db, NAMESPACE, [limit], 0)[limit]


def set_aside(database: Database) -> list[str]:
    query = select(batch_items.c.reserved).order_by(batch_items.c.position)
    with database.reading() as db:
        return [*db.execute(query).scalars()]


def test_batch_spends_its_sum_and_no_more(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "0.62")
    assert [outcome(ledger, caller) for _ in range(3)] == ["sent", "sent", "price"]
    assert used(database) == Decimal("0.62")


def test_sum_of_zero_allows_free_calls_alone(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "0")
    assert outcome(ledger, caller) == "price"
    assert outcome(ledger, caller, price=Decimal(0)) == "sent"


def test_unknown_price_needs_a_batch_that_was_started_at_one(database: Database) -> None:
    ledger = ledger_of(database)
    limited, unlimited = add_batch(database, "9"), add_batch(database, "-0", name="b2")
    assert outcome(ledger, limited, price=None) == "price"
    assert outcome(ledger, unlimited, price=None) == "sent"
    assert outcome(ledger, unlimited) == "sent"


def test_deleted_batch_spends_nothing_and_leaves_no_row(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "9")
    assert outcome(ledger, caller) == "sent"
    with database.writing() as db:
        db.execute(delete(batches))
    assert outcome(ledger, caller) == "price"
    with database.reading() as db:
        payers = db.execute(select(call_counters.c.payer)).scalars()
        assert not [payer for payer in payers if payer.startswith("batch:")]


def test_refused_batch_takes_nothing_from_other_limits(database: Database) -> None:
    caller = add_batch(database, "0.10")
    ledger = ledger_of(database, daily_limit=9, monthly_budget=Decimal(9))
    assert outcome(ledger, caller) == "price"
    assert [use.used for use in ledger.uses_of_portal()] == [0, 0]


def test_resend_leaves_what_is_set_aside_for_others(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "0.62", ["0.31", "0.31"])
    first = entry(ledger, caller, 0)
    first.begin("primary").finish("maybe")
    with pytest.raises(Failure) as caught:
        first.begin("secondary")
    assert caught.value.kind == "price"
    assert set_aside(database) == ["0", "0.31"]
    assert outcome(ledger, caller, 1) == "sent"


def test_call_that_cost_nothing_gives_its_part_back(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "0.62", ["0.31", "0.31"])
    first = entry(ledger, caller, 0)
    first.begin("primary").finish("not_sent")
    assert (used(database), set_aside(database)) == (Decimal(0), ["0.31", "0.31"])
    first.begin("secondary").finish("answered", 200)
    assert (used(database), set_aside(database)) == (PRICE, ["0", "0.31"])


def test_changed_sum_binds_the_next_call(database: Database) -> None:
    ledger, caller = ledger_of(database), add_batch(database, "0.31")
    assert [outcome(ledger, caller), outcome(ledger, caller)] == ["sent", "price"]
    for at_most, expected in (("0.62", "sent"), ("0.40", "price"), ("-0", "sent")):
        with database.writing() as db:
            db.execute(update(batches).values(at_most=at_most))
        assert outcome(ledger, caller) == expected


def test_what_a_former_version_spends_counts_and_is_refused_beyond_the_sum(
    database: Database,
) -> None:
    """Versions before schema revision 0026 write the column ``spent``, also beside this one."""
    ledger, caller = ledger_of(database), add_batch(database, "1.00")
    assert outcome(ledger, caller) == "sent"
    with database.writing() as db:
        db.execute(update(batches).values(spent="0.31"))
    assert used(database) == Decimal("0.62")
    with pytest.raises(SQLAlchemyError, match="confirmed sum"), database.writing() as db:
        db.execute(update(batches).values(spent="0.93"))
    assert [outcome(ledger, caller), outcome(ledger, caller)] == ["sent", "price"]
    with database.writing() as db:
        db.execute(update(batches).values(spent="0"))
    assert used(database) == Decimal("0.62")


def test_racing_calls_of_a_batch_keep_to_its_sum(database: Database) -> None:
    ledger = ledger_of(database, monthly_budget=Decimal(1000))
    caller = add_batch(database, "6.20", ["0.31"] * 8)
    sent: list[int] = []

    def work(number: int) -> None:
        lookup = entry(ledger, caller, number % 8)
        for turn in range(8):
            with suppress(Failure):
                lookup.begin("primary").finish("not_sent" if turn % 3 == 1 else "answered", 200)
                sent.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paid = [row for row in ledger.rows() if row.outcome == "answered"]
    assert sent
    assert used(database) == len(paid) * PRICE <= Decimal("6.20")
    assert set_aside(database) == ["0"] * 8


# The statements of a call. At c3c8ec0f they were as many: three, and five for a call of a batch,
# which then set nothing aside.
OPENED = ("INSERT INTO ledger", "INSERT INTO call_counters")
CLOSED = ("UPDATE ledger SET outcome",)
OF_ITEM = ("SELECT batch_items.id", "UPDATE batch_items SET")
GIVEN_BACK = ("UPDATE call_counters SET",)


@pytest.mark.parametrize(
    ("is_of_batch", "ending", "expected"),
    [
        (False, "answered", (*OPENED, *CLOSED)),
        (False, "not_sent", (*OPENED, *CLOSED, *GIVEN_BACK * 4)),
        (True, "answered", (OPENED[0], *OF_ITEM, OPENED[1], *CLOSED)),
        (True, "not_sent", (OPENED[0], *OF_ITEM, OPENED[1], *CLOSED, *OF_ITEM, *GIVEN_BACK * 5)),
    ],
)
def test_statements_of_a_call(
    database: Database, is_of_batch: bool, ending: str, expected: tuple[str, ...]
) -> None:
    """One statement takes a call from all limits, and it is the last but for the commit."""
    caller = add_batch(database, "0.31", ["0.31"])
    ledger = ledger_of(database, monthly_budget=Decimal(9))
    seen: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *each: seen.append(each[2]))
    lookup = entry(ledger, caller if is_of_batch else as_caller("ana"))
    lookup.begin("primary").finish(ending, 200)
    made = [each for each in seen if "pg_advisory" not in each and not each.startswith("SET ")]
    assert len(made) == len(expected), made
    assert all(map(str.startswith, made, expected)), made


# Random calls of two tokens, a person and a batch under random limits

AMOUNTS = st.sampled_from([*map(Decimal, ("0", "0.40", "0.93", "1.55", "3.10"))])
DAYS = st.sampled_from([0, 1, 3, 6])
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["ana", "bia", "person", "batch"]),
        st.sampled_from([Decimal(0), PRICE, Decimal("0.10"), None]),
        st.sampled_from(["answered", "not_sent", "maybe", "refused"]),
    ),
    max_size=25,
)


@settings(
    max_examples=cases(30, 1000),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(
    portal=st.tuples(DAYS, AMOUNTS),
    token=st.tuples(DAYS, AMOUNTS),
    person=AMOUNTS,
    confirmed=st.sampled_from(["0", "0.31", "0.93", "2", "-0"]),
    calls=CALLS,
)
def test_no_limit_of_four_scopes_is_exceeded_and_each_has_the_sum_of_the_ledger(
    database: Database,
    clock: Clock,
    portal: tuple[int, Decimal],
    token: tuple[int, Decimal],
    person: Decimal,
    confirmed: str,
    calls: Sequence[tuple[str, Decimal | None, str]],
) -> None:
    namespace, batch = f"four scopes {next(RUNS)}", f"four{next(RUNS)}"
    ledger = Ledger(database, PortalLimits(*portal), clock=clock, namespace=namespace)
    add_batch(database, confirmed, name=batch, namespace=namespace)
    holder = PersonLimits("p1", "person:carla", 0, person)
    callers = {
        "ana": as_caller("ana", token[0], monthly_budget=token[1]),
        "bia": as_caller("bia"),
        "person": Identity("person:carla", "", "", frozenset(), person=holder),
        "batch": as_caller("ana", token[0], batch=batch, monthly_budget=token[1]),
    }
    of_batch = batch_limit(batch, None)
    counted: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for name, price, ending in calls:
        caller = callers[name]
        bound = [*limits_of(caller, PortalLimits(*portal))]
        bound += [of_batch] if name == "batch" else []
        with suppress(Failure):
            began = entry(ledger, caller, price=price).begin("primary")
            began.finish(*(("answered", 402) if ending == "refused" else (ending, 200)))
            for limit in bound:
                if limit.unit == "calls":
                    counted[limit.payer, limit.period] += ending != "not_sent"
                elif ending in ("answered", "maybe"):
                    counted[limit.payer, limit.period] += price or 0
        _check(database, namespace, bound, counted, clock())
        most = Decimal("Infinity") if confirmed == "-0" else Decimal(confirmed)
        assert counted[of_batch.payer, "total"] <= most
    with database.reading() as db:
        sums = select(func.sum(call_counters.c.calls)).where(
            call_counters.c.namespace == namespace, call_counters.c.payer == "day"
        )
        month = db.execute(sums.where(call_counters.c.day.startswith("m"))).scalar() or 0
    paid = sum((row.price or Decimal(0) for row in ledger.rows()), Decimal(0))
    assert Decimal(month) / MICRO == paid


def _check(
    database: Database,
    namespace: str,
    limits: Sequence[Limit],
    counted: Mapping[tuple[str, str], Decimal],
    now: float,
) -> None:
    with database.reading() as db:
        for limit, amount in used_of(db, namespace, limits, now).items():
            assert amount == counted[limit.payer, limit.period]
            assert amount <= limit.most


@pytest.mark.parametrize(
    ("at_most", "set_aside", "rest"),
    [
        ("1.24", [], Decimal("0.93")),
        ("1.24", ["0.31", "0"], Decimal("0.62")),
        ("1.24", ["0.31", "0.62"], Decimal("0.00")),
        ("-0", ["0.31"], None),  # started at an unknown price
    ],
)
def test_rest_of_a_batch_is_beside_what_is_used_and_set_aside(
    database: Database, at_most: str, set_aside: list[str], rest: Decimal | None
) -> None:
    caller = add_batch(database, at_most, set_aside)
    add_batch(database, "9", ["5"], name="b2")
    assert outcome(ledger_of(database), caller, tag=7) == "sent"
    with database.writing() as db:
        assert rest_of(db, NAMESPACE, "b1") == rest
        db.execute(delete(batches))
        assert rest_of(db, NAMESPACE, "b1") == 0


@pytest.mark.parametrize(
    ("most", "positions"), [("0", [2]), ("0.29", [2]), ("0.30", [2, 4]), ("0.8", [2, 4, 5, 9])]
)
def test_first_prices_up_to_the_sum_are_affordable(most: str, positions: list[int]) -> None:
    prices = {2: None, 4: Decimal("0.30"), 5: Decimal("0.50"), 9: Decimal(0), 11: Decimal("0.01")}
    assert affordable(prices, Decimal(most)) == {each: prices[each] for each in positions}
