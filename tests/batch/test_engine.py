"""The batch engine: states, pauses, limits, costs and several processes."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import event, select, update
from sqlalchemy.exc import OperationalError

from portal.access.tokens import Identity, RefusedToken
from portal.amounts import total
from portal.batch import runner
from portal.batch.batches import DRAFT_S
from portal.batch.item_leases import Claim, ItemLeases
from portal.batch.model import (
    MOST_DRAFTS,
    Cost,
    NotAllowed,
    NothingFailed,
    QuotedItem,
    RetryTooExpensive,
    TooManyDrafts,
    UnknownBatch,
)
from portal.batch.pauses import Pause
from portal.batch.rows import Access
from portal.batch.typed_list import read_list
from portal.batch.verdicts import Verdict
from portal.gateway.backend import Found
from portal.gateway.ledger import LedgerEntry
from portal.gateway.lookup import Failure
from portal.storage.database import Database
from portal.storage.sqlite import SqliteDatabase
from portal.storage.tables import batch_items as items
from portal.storage.tables import batches as table
from portal.system.local_time import from_epoch
from portal.system.repeated_warning import RepeatedWarning
from portal.upstream.errors import Failing, NotSent, TimedOut
from portal.upstream.protocol import Resource, Response
from portal.vehicle.operation_name import LOOKUPS
from tests.batch.engine import IDENTITY, OWNER, engine_of, plates
from tests.fakes import Clock
from tests.fakes.databases import kept_open
from tests.fakes.forgetting import forget
from tests.fakes.ports import wait_until
from tests.gateway.gateways import FRESH_S, StubUpstream, as_caller, good

PRICE = Decimal("0.30")


def failing_for(*bad: str) -> Callable[[Resource], Response]:
    def answer(resource: Resource) -> Response:
        if resource.path.rpartition("/")[2] in bad:
            raise Failing(500)
        return good(resource)

    return answer


def calls_by_path(upstream: StubUpstream) -> Counter[str]:
    return Counter(resource.path for resource in upstream.calls)


def test_nothing_is_asked_before_the_start(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create([*plates(3), "ABC12"])
    one.runner.tick()
    found = one.get(batch)
    assert (found.state, found.counts.total, found.counts.pending) == ("draft", 3, 3)
    assert (found.cost.spent, found.cost.at_most) == (Decimal(0), 3 * PRICE)
    assert [(each.index, each.value) for each in found.wrong] == [(3, "ABC12")]
    assert one.bench.upstream.calls == []


def test_wrong_lines_take_little_room_and_stay_out_of_the_list(
    tmp_path: Path, clock: Clock
) -> None:
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    listed = read_list("AAA0A00\n" + "a\n" * 5000)
    item = QuotedItem(listed.subjects[0], is_stored=False, at_most=PRICE)
    batch = one.batches.create(OWNER, ("decode",), [item], listed)
    found = one.get(batch)
    assert (found.wrong, found.more_wrong) == (listed.wrong, 5000 - len(listed.wrong))
    with database.engine.begin() as db:
        (sealed,) = db.execute(select(table.c.sealed_wrong)).scalars()
        assert len(sealed) < 20_000
        # The list of batches does not decrypt wrong lines, so this value causes no error.
        db.execute(update(table).values(sealed_wrong=b"?"))
    (each,) = one.batches.listed(OWNER)
    assert each == replace(found, wrong=(), more_wrong=0)


def test_stored_answers_cost_nothing(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    one.bench.decode("AAA0A00")
    one.bench.decode("AAA0A01")
    batch = one.create(plates(5))
    assert one.get(batch).counts.stored == 2
    assert one.get(batch).cost.at_most == 3 * PRICE
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.done) == ("done", 5)
    assert found.cost.spent == 3 * PRICE
    assert len(one.bench.upstream.calls) == 5


def test_every_lookup_is_asked_once_and_renavam_is_not_decoded(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(["AAA0A00", "79831854647"], ("decode", "renainf", "renajud"))
    one.start(batch)
    assert one.run(batch).counts.done == 2
    assert sorted(calls_by_path(one.bench.upstream)) == [
        "/detran/v1/decode/AAA0A00",
        "/detran/v1/restrictions/renainf/79831854647",
        "/detran/v1/restrictions/renainf/AAA0A00",
        "/detran/v1/restrictions/renajud/79831854647",
        "/detran/v1/restrictions/renajud/AAA0A00",
    ]


def test_start_stores_what_authenticates_the_lookups(tmp_path: Path, clock: Clock) -> None:
    seen: list[Access] = []

    def identify(access: Access) -> Identity:
        seen.append(access)
        return one.identity

    one = engine_of(tmp_path, clock, identify=identify)
    one.identity = replace(IDENTITY, credential="ana's own")
    batch = one.create(["AAA0A00"])
    one.start(batch)
    assert one.run(batch).counts.done == 1
    assert set(seen) == {Access(OWNER, "ana's own")}


def test_every_seventh_of_400_plates_fails_and_is_asked_again_alone(
    tmp_path: Path, clock: Clock
) -> None:
    texts = plates(400)
    bad = texts[::7]
    upstream = StubUpstream(failing_for(*bad))
    one = engine_of(tmp_path, clock, upstream)
    batch = one.create(texts)
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.done, found.counts.failed) == ("done", 342, 58)
    assert calls_by_path(upstream).total() == len(calls_by_path(upstream)) == 400
    assert found.cost.spent == 400 * PRICE  # the upstream may charge for a status 500
    items = one.batches.items(batch, OWNER)
    assert [item.subject.text for item in items] == texts
    assert {item.subject.text for item in items if item.cause == "bad_answer"} == set(bad)

    clock.advance(3)  # the gateway caches a failure for two seconds
    upstream.answer = None
    one.start(batch)  # asks nothing, because every plate was asked
    assert one.get(batch) == found
    one.retry(batch, bad)
    assert one.get(batch).cost.at_most == 458 * PRICE
    found = one.run(batch)
    assert (found.counts.done, found.counts.failed) == (400, 0)
    assert calls_by_path(upstream).total() == 458
    assert {path for path, times in calls_by_path(upstream).items() if times == 2} == {
        f"/detran/v1/decode/{plate}" for plate in bad
    }
    rows = list(one.bench.ledger.rows())
    assert len(rows) == 458
    assert found.cost.spent == total(row.price for row in rows)


def test_most_is_what_the_owner_confirmed_until_the_batch_ends(
    tmp_path: Path, clock: Clock
) -> None:
    """A start confirms what was spent, and the price of the pending plates."""
    texts = plates(6)
    upstream = StubUpstream(failing_for(*texts[:2]))
    one = engine_of(tmp_path, clock, upstream, daily_limit=4, concurrency=1)
    batch = one.create(texts)
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.failed, found.counts.pending) == ("paused", 2, 2)
    assert found.cost == Cost(4 * PRICE, 6 * PRICE)
    assert found.resume_at is not None
    clock.advance(found.resume_at - clock.now() + 3)
    upstream.answer = None
    one.start(batch)
    assert one.get(batch).cost == Cost(4 * PRICE, (4 + 2) * PRICE)
    clock.advance(86400)
    found = one.run(batch)
    assert (found.state, found.cost) == ("done", Cost(6 * PRICE, 6 * PRICE))
    assert found.counts.failed == 2


def test_most_stays_the_same_while_all_lookups_succeed(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    seen: set[Decimal | None] = set()

    def answer(resource: Resource) -> Response:
        seen.add(one.get(batch).cost.at_most)
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer), database=database)
    batch = one.create(plates(8), LOOKUPS)
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.cost.spent) == ("done", 24 * PRICE)
    assert seen == {24 * PRICE}


def test_batch_pauses_before_expired_answers_cost_more_than_was_confirmed(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    one = engine_of(tmp_path, clock, database=database)
    texts = plates(6)
    for plate in texts[:5]:
        one.bench.decode(plate)
    batch = one.create(texts)
    one.start(batch)
    assert one.get(batch).cost.at_most == PRICE
    clock.advance(FRESH_S + 1)
    found = one.run(batch)
    assert (found.state, found.reason, found.resume_at) == ("paused", "price", None)
    assert (found.cost, found.counts.done) == (Cost(PRICE, PRICE), 1)
    assert len(one.bench.upstream.calls) == 5 + 1
    one.start(batch)  # at the present price
    assert one.get(batch).cost == Cost(PRICE, 6 * PRICE)
    found = one.run(batch)
    assert (found.state, found.cost.spent) == ("done", 6 * PRICE)


def test_lookup_that_a_killed_process_has_sent_takes_nothing_from_other_plates(
    tmp_path: Path, clock: Clock
) -> None:
    """Its call stays charged, and another one must wait for what the other plates leave."""
    one = engine_of(tmp_path, clock, concurrency=1)
    batch = one.create(plates(3))
    one.start(batch)
    caller = as_caller("ana", batch=batch)
    tag = one.bench.store.tag("AAA0A00")
    for _ in range(2):  # what was not sent is given back
        free = LedgerEntry(one.bench.ledger, "decode", tag, PRICE, caller).begin("primary")
        assert one.spent(batch) == PRICE
        free.finish("not_sent")
        assert one.spent(batch) == 0
    LedgerEntry(one.bench.ledger, "decode", tag, PRICE, caller).begin("primary")
    with pytest.raises(Failure, match="price"):
        LedgerEntry(one.bench.ledger, "decode", tag, PRICE, caller).begin("primary")
    found = one.run(batch)
    assert (found.reason, found.cost, found.counts.done) == ("price", Cost(3 * PRICE, 3 * PRICE), 2)
    one.start(batch)
    assert one.run(batch).counts.done == 3


def test_threads_of_two_processes_spend_no_more_than_was_confirmed(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    upstream = StubUpstream()
    one = engine_of(tmp_path, clock, upstream, database=database)
    two = engine_of(tmp_path, clock, upstream, database=database)
    batch = one.create(plates(60))
    one.start(batch, max_cost=20 * PRICE + PRICE / 2)
    other = threading.Thread(target=two.run, args=(batch,))
    other.start()
    found = one.run(batch)
    other.join()
    assert (found.state, found.reason) == ("paused", "price")
    assert found.cost == Cost(20 * PRICE, 20 * PRICE + PRICE / 2)
    assert len(upstream.calls) == 20
    assert total(row.price for row in one.bench.ledger.rows()) == 20 * PRICE
    one.start(batch, max_cost=25 * PRICE)
    assert one.run(batch).reason == "price"
    assert len(upstream.calls) == 25
    one.start(batch)
    assert (one.run(batch).state, len(upstream.calls)) == ("done", 60)


def test_two_vehicles_that_the_sum_does_not_hold_do_not_wait_for_each_other(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(2))
    one.start(batch, max_cost=PRICE / 2)
    others = one.leases("other")
    assert others.claim() is not None
    one.runner.tick()
    wait_until(lambda: one.get(batch).state == "paused", "the pause")
    assert (one.get(batch).reason, one.bench.upstream.calls) == ("price", [])


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    ("most", "whole"), [("0.89", 0), ("0.90", 1), ("1.79", 1), ("3.50", 3), ("4.50", 5)]
)
def test_sum_buys_vehicles_whole_one_after_the_other(
    tmp_path: Path, clock: Clock, most: str, whole: int, concurrency: int
) -> None:
    """The rest would buy one or two lookups of a further vehicle, which decide nothing."""
    one = engine_of(tmp_path, clock, concurrency=concurrency)
    texts = plates(5)
    batch = one.create(texts, LOOKUPS)
    one.start(batch, max_cost=Decimal(most))
    found = one.run(batch)
    asked = Counter(resource.path.rpartition("/")[2] for resource in one.bench.upstream.calls)
    assert asked == dict.fromkeys(texts[:whole], 3)
    assert (found.counts.done, found.counts.pending) == (whole, 5 - whole)
    assert found.reason == ("price" if whole < 5 else "")
    one.start(batch)
    assert one.run(batch).state == "done"
    assert set(calls_by_path(one.bench.upstream).values()) == {1}
    assert one.spent(batch) == 15 * PRICE


def test_stored_vehicles_are_free_behind_the_end_of_the_sum(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    texts = plates(4)
    for number in (1, 3):
        one.bench.decode(texts[number])
    batch = one.create(texts)
    one.start(batch, max_cost=PRICE)
    found = one.run(batch)
    assert (found.reason, found.cost.spent) == ("price", PRICE)
    states = [item.state for item in one.batches.items(batch, OWNER)]
    assert states == ["done", "done", "pending", "done"]


def test_sum_holds_the_next_vehicle_once_another_has_cost_less(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock, concurrency=1)
    texts = plates(3)
    batch = one.create(texts, ("decode", "renajud"))
    one.start(batch, max_cost=3 * PRICE)
    one.bench.decode(texts[0])  # a visitor asks it before the batch
    found = one.run(batch)
    assert (found.counts.done, found.cost.spent) == (2, 3 * PRICE)
    assert found.counts.pending == 1


def test_lowered_sum_of_a_running_batch_buys_vehicles_whole(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3), LOOKUPS)
    one.start(batch)
    one.start(batch, max_cost=4 * PRICE)
    found = one.run(batch)
    assert (found.reason, found.counts.done, found.cost.spent) == ("price", 1, 3 * PRICE)
    one.start(batch, max_cost=6 * PRICE)
    assert one.run(batch).counts.done == 2


def test_store_that_cannot_be_read_is_no_lack_of_money(tmp_path: Path, clock: Clock) -> None:
    """Its answers are stored, so that the sum of 0 is enough."""
    texts = plates(2)
    other = engine_of(tmp_path, clock)
    for plate in texts:
        other.bench.decode(plate)
    one = engine_of(tmp_path, clock, database=other.database)  # has nothing in its memory
    batch = one.create(texts)
    one.start(batch, max_cost=Decimal(0))
    two = engine_of(tmp_path, clock, database=other.database)

    def unreachable(_: object) -> Found:
        raise OSError

    two.bench.sqlite.read_many = unreachable  # type: ignore[assignment,method-assign]
    found = two.run(batch)
    assert (found.reason, found.resume_at is not None) == ("portal", True)
    clock.advance(found.resume_at - clock.now())  # type: ignore[operator]
    found = one.run(batch)
    assert (found.state, found.cost.spent) == ("done", Decimal(0))


def test_limit_of_a_running_batch_can_be_changed(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3))
    one.start(batch)
    one.start(batch)
    assert one.get(batch).cost.at_most == 3 * PRICE
    one.start(batch, max_cost=PRICE)
    found = one.run(batch)
    assert (found.reason, found.cost) == ("price", Cost(PRICE, PRICE))


def test_visitor_who_waits_for_a_batch_at_its_limit_gets_an_answer(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit concerns only the batch, so the visitor's own lookup is sent.

    The visitor must send it before the batch asks again. Otherwise, the batch pauses for its limit.
    """
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(1))
    one.start(batch)
    waiting: list[threading.Thread] = []
    sent = threading.Event()
    opened, put_back = one.bench.ledger.open, ItemLeases.put_back

    def put_back_later(leases: ItemLeases, claim: Claim, decided: Verdict) -> Claim | None:
        assert sent.wait(30)
        return put_back(leases, claim, decided)

    def open_slowly(entry: LedgerEntry, origin: str) -> LedgerEntry:
        if entry.caller.batch == batch:
            one.start(batch, max_cost=Decimal(0))
            visitor = threading.Thread(target=one.bench.decode, args=("AAA0A00",))
            waiting.append(visitor)
            visitor.start()
            flights = one.bench.gateway._single_flight._flights
            wait_until(lambda: any(each._condition._waiters for each in flights.values()), "wait")  # type: ignore[attr-defined]
        row = opened(entry, origin)
        sent.set()
        return row

    one.bench.ledger.open = open_slowly  # type: ignore[method-assign]
    monkeypatch.setattr(ItemLeases, "put_back", put_back_later)
    found = one.run(batch)  # the batch waits for the visitor's answer, which is free
    assert (found.state, found.cost.spent) == ("done", Decimal(0))
    for visitor in waiting:
        visitor.join(30)
    assert [row.caller for row in one.bench.ledger.rows()] == ["somebody"]


def test_cancelled_batch_can_cost_no_more(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3))
    one.start(batch)
    one.batches.cancel(batch, OWNER)
    assert one.get(batch).cost.at_most == one.get(batch).cost.spent


def test_discarded_draft_is_deleted(tmp_path: Path, clock: Clock) -> None:
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    batch = one.create(plates(3))
    with pytest.raises(UnknownBatch):
        one.batches.discard(batch, "other")
    one.batches.discard(batch, OWNER)
    with pytest.raises(UnknownBatch):
        one.get(batch)
    with database.engine.begin() as db:
        assert db.execute(select(items)).all() == []
    running = one.create(plates(3))
    one.start(running)
    with pytest.raises(NotAllowed):
        one.batches.discard(running, OWNER)


def test_daily_limit_pauses_and_the_next_day_resumes(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, daily_limit=100)
    batch = one.create(plates(150))
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.reason, found.counts.done) == ("paused", "day_limit", 100)
    assert len(one.bench.upstream.calls) == 100
    assert len(list(one.bench.ledger.rows())) == 100
    assert found.resume_at is not None
    assert clock.now() < found.resume_at <= clock.now() + 86400
    assert from_epoch(found.resume_at - 1).date() == from_epoch(clock.now()).date()
    assert from_epoch(found.resume_at + 1).date() > from_epoch(clock.now()).date()  # at midnight
    one.runner.tick()
    assert one.get(batch).state == "paused"
    assert found.resume_at is not None
    clock.advance(found.resume_at - clock.now() + 1)
    one.runner.tick()
    assert one.run(batch).state == "done"
    assert calls_by_path(one.bench.upstream).total() == len(calls_by_path(one.bench.upstream))
    assert len(one.bench.upstream.calls) == 150


def test_two_processes_reach_the_daily_limit_exactly(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    upstream = StubUpstream()
    one = engine_of(tmp_path, clock, upstream, database=database, daily_limit=100)
    two = engine_of(tmp_path, clock, upstream, database=database, daily_limit=100)
    batch = one.create(plates(150))
    one.start(batch)
    other = threading.Thread(target=two.run, args=(batch,))
    other.start()
    found = one.run(batch)
    other.join()
    assert (found.state, found.reason, found.counts.done) == ("paused", "day_limit", 100)
    assert len(upstream.calls) == 100
    assert found.resume_at is not None
    clock.advance(found.resume_at - clock.now() + 1)
    one.runner.tick()
    assert one.run(batch).counts.done == 150
    assert len(upstream.calls) == len(calls_by_path(upstream)) == 150


def test_token_limit_pauses(tmp_path: Path, clock: Clock) -> None:
    limited = Identity("ana", OWNER, OWNER, frozenset({"decode"}), daily_limit=5)
    one = engine_of(tmp_path, clock, identify=lambda _: limited)
    batch = one.create(plates(20))
    one.start(batch)
    found = one.run(batch)
    assert (found.reason, len(one.bench.upstream.calls)) == ("token_limit", 5)
    assert one.bench.ledger.allowance(limited).token == 0


def test_outage_pauses_and_resumes_with_one_lookup_first(tmp_path: Path, clock: Clock) -> None:
    upstream = StubUpstream(NotSent("refused"))
    one = engine_of(tmp_path, clock, upstream)
    batch = one.create(plates(40))
    one.start(batch)
    pauses = []
    for _ in range(6):
        found = one.run(batch)
        assert (found.state, found.reason, found.counts.pending) == ("paused", "unreachable", 40)
        assert found.resume_at is not None
        pauses.append(found.resume_at - clock.now())
        before = len(upstream.calls)
        clock.advance(pauses[-1] + 0.1)
        one.runner.tick()
    assert pauses == [15, 30, 60, 120, 240, 300]
    one.run(batch)
    assert len(upstream.calls) == before + 1  # a single lookup tests the upstream
    upstream.answer = None
    clock.advance(400)
    one.runner.tick()
    assert one.run(batch).counts.done == 40
    assert one.spent(batch) == 40 * PRICE


def test_plate_that_alone_is_unreachable_fails_after_the_others(
    tmp_path: Path, clock: Clock
) -> None:
    def answer(resource: Resource) -> Response:
        if resource.path.endswith("AAA0A01"):
            raise NotSent("refused")
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer), concurrency=1)
    batch = one.create(plates(5))
    one.start(batch)
    found = one.run(batch)
    assert (found.reason, found.counts.done) == ("unreachable", 1)
    clock.advance(16)
    one.runner.tick()
    found = one.run(batch)
    assert (found.state, found.counts.done, found.counts.failed) == ("done", 4, 1)
    assert one.batches.items(batch, OWNER)[1].cause == "unreachable"


def test_last_unreachable_plate_fails_at_its_third_attempt(tmp_path: Path, clock: Clock) -> None:
    upstream = StubUpstream(NotSent("refused"))
    one = engine_of(tmp_path, clock, upstream)
    batch = one.create(plates(1))
    one.start(batch)
    for calls in (1, 2):
        assert one.run(batch).reason == "unreachable"
        assert len(upstream.calls) == calls
        clock.advance(60)
        one.runner.tick()
    found = one.run(batch)
    assert (found.state, found.counts.failed, len(upstream.calls)) == ("done", 1, 3)
    upstream.answer = None
    one.retry(batch, plates(1))
    assert one.run(batch).counts.done == 1


def test_too_slow_plate_fails_alone(tmp_path: Path, clock: Clock) -> None:
    def answer(resource: Resource) -> Response:
        if resource.path.endswith("AAA0A01"):
            raise TimedOut("no byte")
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer))
    batch = one.create(plates(3))
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.done, found.counts.failed) == ("done", 2, 1)


def test_retry_waits_until_an_earlier_failure_is_no_longer_shared(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock, StubUpstream(Failing(503)))
    batch = one.create(plates(1))
    one.start(batch)
    assert one.run(batch).counts.failed == 1
    calls = len(one.bench.upstream.calls)
    one.retry(batch, plates(1))
    assert one.run(batch).counts.failed == 1
    assert len(one.bench.upstream.calls) == 2 * calls
    one.bench.upstream.answer = None
    one.retry(batch, plates(1))
    assert one.run(batch).counts.done == 1


def test_retry_beyond_its_price_leaves_the_plate_failed(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, StubUpstream(Failing(503)))
    batch = one.create(plates(2))
    one.start(batch)
    before = one.run(batch)
    assert before.counts.failed == 2
    calls = len(one.bench.upstream.calls)
    with pytest.raises(RetryTooExpensive):
        one.retry(batch, plates(2), max_cost=PRICE - Decimal("0.01"))
    assert (one.get(batch).counts, one.get(batch).state) == (before.counts, "done")
    one.start(batch)
    assert one.run(batch).counts.failed == 2
    assert len(one.bench.upstream.calls) == calls
    one.bench.upstream.answer = None
    one.retry(batch, plates(2), max_cost=PRICE)
    found = one.run(batch)
    assert (found.counts.done, found.counts.failed) == (1, 1)


def test_retry_of_what_has_not_failed_says_so(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, StubUpstream(failing_for("AAA0A01")))
    batch = one.create(plates(3))
    with pytest.raises(NothingFailed):  # it was never asked
        one.retry(batch, plates(1))
    one.start(batch)
    assert one.run(batch).counts.failed == 1
    with pytest.raises(NothingFailed):
        one.retry(batch, ["AAA0A00", "AAA0A02"])
    clock.advance(3)
    one.retry(batch, plates(3))
    one.retry(batch, plates(3))  # a second press: it is about to be asked
    assert one.get(batch).cost.at_most == (3 + 1) * PRICE
    one.run(batch)
    assert calls_by_path(one.bench.upstream).most_common(1) == [("/detran/v1/decode/AAA0A01", 2)]


def test_rejected_plate_fails_and_is_not_asked_again(tmp_path: Path, clock: Clock) -> None:
    rejected = Response(
        400, b'{"message":"Por favor, informe uma placa v\xc3\xa1lida."}', "primary"
    )
    one = engine_of(tmp_path, clock, StubUpstream(rejected))
    batch = one.create(plates(1))
    one.start(batch)
    assert one.run(batch).counts.failed == 1
    assert one.batches.items(batch, OWNER)[0].cause == "rejected"
    one.retry(batch, plates(1))
    assert one.run(batch).counts.failed == 1
    assert len(one.bench.upstream.calls) == 1


def test_owner_pauses_resumes_and_cancels(tmp_path: Path, clock: Clock) -> None:
    gate = threading.Event()
    upstream = StubUpstream(gate=gate)
    one = engine_of(tmp_path, clock, upstream, concurrency=2)
    batch = one.create(plates(10))
    one.start(batch)
    one.runner.tick()
    while len(upstream.calls) < 2:
        pass
    assert one.get(batch).active == 2
    one.batches.pause(batch, OWNER)
    gate.set()
    found = one.run(batch)
    assert (found.state, found.reason, found.counts.done) == ("paused", "owner", 2)
    clock.advance(3600)
    one.runner.tick()
    assert one.get(batch).state == "paused"
    one.start(batch)
    assert one.run(batch).counts.done == 10
    with pytest.raises(NotAllowed):
        one.batches.cancel(batch, OWNER)
    other = one.create(plates(3, "BBB"))
    one.batches.cancel(other, OWNER)
    with pytest.raises(NotAllowed):
        one.start(other)
    assert one.get(other).state == "cancelled"


def test_revoked_access_pauses(tmp_path: Path, clock: Clock) -> None:
    def refuse(_: Access) -> Identity:
        raise RefusedToken

    one = engine_of(tmp_path, clock, identify=refuse)
    batch = one.create(plates(3))
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.reason, found.resume_at) == ("paused", "access", None)
    assert one.bench.upstream.calls == []


@pytest.mark.parametrize("status", [401, 403])
def test_refused_operator_credential_pauses_until_resumed(
    tmp_path: Path, clock: Clock, status: int
) -> None:
    upstream = StubUpstream(Response(status, b"{}", "primary"))
    one = engine_of(tmp_path, clock, upstream, concurrency=1)
    batch = one.create(plates(3))
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.reason) == ("paused", "operator_refused")
    assert (found.resume_at, found.counts.pending, len(upstream.calls)) == (None, 3, 1)


def test_402_fails_its_plate_with_a_cause_of_its_own(tmp_path: Path, clock: Clock) -> None:
    upstream = StubUpstream(Response(402, b"{}", "primary"))
    one = engine_of(tmp_path, clock, upstream)
    batch = one.create(plates(2))
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.failed) == ("done", 2)
    assert {item.cause for item in one.batches.items(batch, OWNER)} == {"no_credit"}


def test_402_for_one_plate_after_another_pauses_until_resumed(tmp_path: Path, clock: Clock) -> None:
    upstream = StubUpstream(Response(402, b"{}", "primary"))
    one = engine_of(tmp_path, clock, upstream)
    batch = one.create(plates(200), LOOKUPS)
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.reason, found.resume_at) == ("paused", "no_credit", None)
    assert (found.cost.spent, found.counts.done) == (Decimal(0), 0)
    assert len(upstream.calls) <= 3 * one.runner._leases.concurrency
    clock.advance(3)  # the gateway caches a failure for two seconds
    upstream.answer = None
    one.start(batch)
    assert one.run(batch).counts.done == 200


def test_item_whose_402_is_recorded_after_the_pause_waits_for_credit_too(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    """Its thread was asking when another one paused the batch."""
    one = engine_of(tmp_path, clock, database=database)
    batch = one.create(plates(3))
    one.start(batch)
    leases = one.leases("me")
    late, pausing = leases.claim(), leases.claim()
    assert late and pausing
    pause = Pause("no_credit", None)
    leases.put_back(pausing, Verdict("pending", pause=pause))
    assert leases.finish(late, "no_credit", answered=False) is None
    found = one.get(batch)
    assert (found.state, found.counts.pending, found.counts.failed) == ("paused", 3, 0)
    one.start(batch)
    assert one.run(batch).counts.done == 3


def test_402_for_every_other_plate_pauses_nothing(tmp_path: Path, clock: Clock) -> None:
    texts = plates(30)

    def answer(resource: Resource) -> Response:
        if resource.path.rpartition("/")[2] in texts[::2]:
            return Response(402, b"{}", "primary")
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer), concurrency=1)
    batch = one.create(texts)
    one.start(batch)
    found = one.run(batch)
    assert (found.state, found.counts.done, found.counts.failed) == ("done", 15, 15)


def test_lookup_without_scope_is_not_asked(tmp_path: Path, clock: Clock) -> None:
    narrow = Identity("ana", OWNER, OWNER, frozenset({"decode"}))
    one = engine_of(tmp_path, clock, identify=lambda _: narrow)
    batch = one.create(plates(1), ("decode", "renainf"))
    one.start(batch)
    assert one.run(batch).counts.failed == 1
    assert one.batches.items(batch, OWNER)[0].cause == "out_of_scope"
    assert len(one.bench.upstream.calls) == 1


def test_other_owners_see_nothing(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3))
    for action in (
        lambda: one.batches.get(batch, "other"),
        lambda: one.batches.items(batch, "other"),
        lambda: one.batches.pause(batch, "other"),
        lambda: one.batches.cancel(batch, "other"),
        lambda: one.batches.start(batch, "other", Access("other"), Decimal(0), {}),
    ):
        with pytest.raises(UnknownBatch):
            action()
    assert one.batches.listed("other") == []
    assert [each.id for each in one.batches.listed(OWNER)] == [batch]


@pytest.mark.parametrize("text", ["", "\0", "x\0y", "ABC1D23", "0" * 24])
def test_text_that_is_no_id_names_no_batch(
    tmp_path: Path, clock: Clock, database: Database, text: str
) -> None:
    """A path may contain NUL, for which PostgreSQL raises an error."""
    batches = engine_of(tmp_path, clock, database=database).batches
    with pytest.raises(UnknownBatch):
        batches.get(text, OWNER)
    with pytest.raises(UnknownBatch):
        batches.cancel(text, OWNER)


def test_two_processes_share_a_batch_and_its_concurrency(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    """Both processes together have at most eight lookups in progress."""
    gate = threading.Event()
    upstream = StubUpstream(gate=gate)
    one = engine_of(tmp_path, clock, upstream, database=database)
    two = engine_of(tmp_path, clock, upstream, database=database)
    batch = one.create(plates(60))
    one.start(batch)
    one.runner.tick()
    two.runner.tick()
    while len(upstream.calls) < 8:
        pass
    two.runner.tick()
    assert one.get(batch).active == 8
    assert len(upstream.calls) == 8
    gate.set()
    two_thread = threading.Thread(target=two.run, args=(batch,))
    two_thread.start()
    assert one.run(batch).counts.done == 60
    two_thread.join()
    assert calls_by_path(upstream).total() == len(calls_by_path(upstream)) == 60


def test_lost_lease_is_taken_over_without_paying_twice(tmp_path: Path, clock: Clock) -> None:
    """The first process stalls with its answer stored. The second finishes the item."""
    one, two = engine_of(tmp_path, clock), engine_of(tmp_path, clock)
    batch = one.create(plates(1))
    one.start(batch)
    claim = one.leases("stalled").claim()
    assert claim is not None
    one.bench.decode(claim.subject.text)
    assert two.leases("second").claim() is None
    clock.advance(21)
    assert two.run(batch).counts.done == 1
    assert len(one.bench.upstream.calls) == 1
    assert one.bench.upstream.calls and two.bench.upstream.calls == []
    one.leases("stalled").finish(claim, "bad_answer", answered=False)
    assert one.get(batch).counts.done == 1


def test_renewed_lease_is_kept(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(1))
    one.start(batch)
    assert one.leases("first").claim()
    for _ in range(5):
        clock.advance(15)
        one.leases("first").renew()
        assert one.leases("second").claim() is None


def test_two_batches_advance_in_turn(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    first, second = one.create(plates(10)), one.create(plates(10, "BBB"))
    one.start(first)
    one.start(second)
    claimed = []
    for _ in range(6):
        clock.advance(0.001)
        claim = one.leases("me").claim()
        assert claim is not None
        claimed.append(claim.batch)
    assert Counter(claimed) == {first: 3, second: 3}


def test_batch_expires_with_its_answers(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, fresh_s=4000, stale_s=5000)
    batch = one.create(plates(3))
    one.start(batch)
    one.run(batch)
    clock.advance(8990)
    one.batches.drop_expired()
    assert one.get(batch).state == "done"
    clock.advance(20)
    with pytest.raises(UnknownBatch):
        one.get(batch)
    one.batches.drop_expired()
    assert forget(one.database, one.batches, "AAA0A00") == 0


def test_start_without_anything_to_ask_postpones_no_expiry(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, fresh_s=4000, stale_s=5000)
    batch = one.create(plates(3))
    one.start(batch)
    ended = one.run(batch)
    clock.advance(8000)
    one.start(batch)
    assert one.get(batch) == ended


def test_repeated_pause_postpones_no_expiry(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3))
    one.start(batch)
    one.batches.pause(batch, OWNER)
    paused = one.get(batch)
    clock.advance(100)
    one.batches.pause(batch, OWNER)
    assert one.get(batch) == paused


def test_restored_batches_wait_for_their_owners_and_are_kept(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, daily_limit=2, fresh_s=10, stale_s=0)
    running, paused, draft = (one.create(plates(3)) for _ in range(3))
    one.start(paused)
    assert one.run(paused).reason == "day_limit"
    one.start(running)
    clock.advance(30 * 86400)  # long after all of them have expired
    assert one.batches.pause_all() == 2
    for batch in (running, paused):
        found = one.get(batch)
        assert (found.state, found.reason, found.resume_at) == ("paused", "owner", None)
        assert found.expires_at > clock.now() + 3000
    with pytest.raises(UnknownBatch):
        one.get(draft)
    assert one.batches.pause_all() == 0


def test_running_batch_stays_its_owners_beyond_its_expiry(tmp_path: Path, clock: Clock) -> None:
    """A running batch costs money, so its owner must be able to see and stop it."""
    one = engine_of(tmp_path, clock, fresh_s=10, stale_s=0)
    batch = one.create(plates(3))
    one.start(batch)
    clock.advance(3700)
    assert [each.id for each in one.batches.listed(OWNER)] == [batch]
    one.batches.pause(batch, OWNER)
    assert one.get(batch).state == "paused"


@pytest.mark.parametrize("lost", ["namespace", "key"])
def test_running_batch_that_no_portal_can_run_expires(
    tmp_path: Path, clock: Clock, lost: str
) -> None:
    """Its plates and its owner's credential are kept only until the batch ends."""
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database, fresh_s=10, stale_s=0)
    batch, own = one.create(plates(2)), one.create(plates(3, "BBB"))
    for each in (batch, own):
        one.batches.start(each, OWNER, Access(OWNER, "credential-of-the-caller"), Decimal(0), {})
    claimed = one.leases("another portal", 1).claim()
    assert claimed is not None
    changed = {"namespace": "another"} if lost == "namespace" else {"sealed_access": b"unreadable"}
    with database.engine.begin() as db:
        db.execute(update(table).where(table.c.id == batch).values(changed))
        db.execute(update(table).values(claimed_at=clock.now()))
    clock.advance(3700)
    one.batches.drop_expired()
    with database.engine.begin() as db:  # another portal has claimed an item within a day
        assert set(db.execute(select(table.c.id)).scalars()) == {batch, own}
    clock.advance(86400)
    one.batches.drop_expired()
    with database.engine.begin() as db:
        assert set(db.execute(select(table.c.id)).scalars()) == {own}
        assert set(db.execute(select(items.c.batch)).scalars()) == {own}


def test_long_batch_is_known_to_be_run(tmp_path: Path, clock: Clock) -> None:
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    one.start(one.create(plates(3)))
    for _ in range(3):
        clock.advance(3601)
        assert one.leases("portal").claim() is not None
        with database.engine.begin() as db:
            assert db.execute(select(table.c.claimed_at)).scalar() == clock.now()


def test_search_for_work_is_one_statement(tmp_path: Path, clock: Clock) -> None:
    """Each process searches twice a second, also without any batch."""
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    one.start(one.create(plates(1)))
    seen: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *details: seen.append(details[2]))
    assert one.leases().has_work()
    assert one.leases().resume_due()
    assert len(seen) == 2


def test_batch_of_an_unknown_key_is_no_work(tmp_path: Path, clock: Clock) -> None:
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    one.start(one.create(plates(1)))
    assert one.leases().has_work()
    with database.engine.begin() as db:
        db.execute(update(table).values(sealed_access=b"unreadable"))
    assert not one.leases().has_work()


def test_forgotten_plate_leaves_every_batch(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(3))
    one.start(batch)
    one.run(batch)
    assert forget(one.database, one.batches, "AAA0A01") == 1
    assert [item.subject.text for item in one.batches.items(batch, OWNER)] == ["AAA0A00", "AAA0A02"]
    assert one.get(batch).counts.total == 2


@pytest.mark.parametrize(
    ("purged", "entry"),
    [
        ("HHH1A11", "Gol HHH1A11"),
        ("HHH1A11", "hhh - 1a11 (Gol)"),
        ("HHH1A11", "ＨＨＨ１Ａ１１"),
        ("HHH1A11", "HHHIA11"),  # I instead of 1; the portal suggests HHH1A11
        ("00894638273", "Renavam 0089463827-3"),
        ("00894638273", "894638273"),
    ],
)
def test_forgotten_plate_leaves_the_wrong_entries(
    tmp_path: Path, clock: Clock, purged: str, entry: str
) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create([entry, "ABC12", *plates(2)])
    assert [each.index for each in one.get(batch).wrong] == [0, 1]
    assert forget(one.database, one.batches, purged) == 0
    assert [each.value for each in one.get(batch).wrong] == ["ABC12"]
    assert one.get(batch).counts.total == 2


def test_batch_without_its_only_plate_is_deleted(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    draft, done, running, paused, cancelled = (one.create(["AAA0A00"]) for _ in range(5))
    other = one.create(["AAA0A00", "AAA0A01"])
    one.start(done)
    one.run(done)
    for batch in (running, paused, cancelled):
        one.start(batch)
    one.batches.pause(paused, OWNER)
    one.batches.cancel(cancelled, OWNER)
    assert forget(one.database, one.batches, "AAA0A00") == 6
    for batch in (draft, done, running, paused, cancelled):
        with pytest.raises(UnknownBatch):
            one.get(batch)
    assert [each.id for each in one.batches.listed(OWNER)] == [other]
    assert [row.price for row in one.bench.ledger.rows()] == [PRICE]


def test_purge_deletes_a_batch_whose_only_plate_is_being_looked_up(
    tmp_path: Path, clock: Clock
) -> None:
    def answer(resource: Resource) -> Response:
        assert forget(one.database, one.batches, "AAA0A00") == 1
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer))
    batch = one.create(["AAA0A00"])
    one.start(batch)
    one.runner.tick()
    wait_until(lambda: not one.runner.active, "the lookup has ended")
    with pytest.raises(UnknownBatch):
        one.get(batch)
    assert [row.price for row in one.bench.ledger.rows()] == [PRICE]
    assert forget(one.database, one.batches, "AAA0A00") == 0


def test_late_answer_of_a_purged_plate_does_not_enter_a_batch_created_since(
    tmp_path: Path, clock: Clock, database: Database
) -> None:
    """SQLite gives the row number of the purged item to the first item of the new batch."""
    created: list[str] = []
    gate = threading.Event()

    def answer(resource: Resource) -> Response:
        if resource.path.endswith("AAA0A00"):
            assert forget(one.database, one.batches, "AAA0A00") == 1
            created.append(one.create(["BBB0B00"]))
            one.start(created[0])
            one.runner.tick()
            wait_until(lambda: len(one.bench.upstream.calls) == 2, "the lookup of the new batch")
        else:
            assert gate.wait(20)
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer), database=database)
    one.start(one.create(["AAA0A00"], ask=LOOKUPS))
    one.runner.tick()
    wait_until(lambda: len(one.bench.upstream.calls) == 2, "the lookup of the new batch")
    wait_until(lambda: one.runner.active == 1, "the end of the purged plate's lookup")
    pending = one.get(created[0])
    gate.set()
    found = one.run(created[0])
    assert (pending.state, pending.counts.pending) == ("running", 1)
    assert (found.state, found.counts.done) == ("done", 1)
    assert [item.subject.text for item in one.batches.items(created[0], OWNER)] == ["BBB0B00"]
    asked = [call.path.rpartition("/")[2] for call in one.bench.upstream.calls]
    assert asked == ["AAA0A00", "BBB0B00"]


@pytest.mark.parametrize("event", ["purge", "cancel", "revocation"])
def test_no_further_lookup_of_an_item_is_sent_after(
    tmp_path: Path, clock: Clock, event: str
) -> None:
    refused = threading.Event()

    def answer(resource: Resource) -> Response:
        if event == "purge":
            forget(one.database, one.batches, "AAA0A00")
        elif event == "cancel":
            one.batches.cancel(batch, OWNER)
        else:
            refused.set()
        return good(resource)

    def identify(_: Access) -> Identity:
        if refused.is_set():
            raise RefusedToken
        return IDENTITY

    one = engine_of(tmp_path, clock, StubUpstream(answer), identify=identify, concurrency=1)
    batch = one.create(["AAA0A00", "AAA0A01"], ask=("decode", "renainf", "renajud"))
    one.start(batch)
    found = one.run(batch)
    first, *others = [call.path for call in one.bench.upstream.calls]
    assert first.endswith("AAA0A00")
    assert not [call for call in others if call.endswith("AAA0A00")]
    if event == "purge":
        assert (found.state, found.counts.total, len(others)) == ("done", 1, 3)
    else:
        state, reason = {"cancel": ("cancelled", ""), "revocation": ("paused", "access")}[event]
        assert (found.state, found.reason, found.counts.pending, others) == (state, reason, 2, [])


def test_further_draft_is_refused_and_none_is_deleted(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    drafts = [one.create(plates(2)) for _ in range(MOST_DRAFTS)]
    for replaced in ("", "0" * 24):
        with pytest.raises(TooManyDrafts):
            one.batches.create(OWNER, ("decode",), [], read_list("?"), replaced=replaced)
    assert {each.id for each in one.batches.listed(OWNER)} == set(drafts)
    # Another owner's drafts do not count, nor does a draft that the new one replaces.
    one.create(plates(2), owner="other")
    corrected = one.batches.create(OWNER, ("decode",), [], read_list("?"), replaced=drafts[3])
    left = {each.id for each in one.batches.listed(OWNER)}
    assert left == {*drafts, corrected} - {drafts[3]}
    one.start(drafts[0])  # a batch that was started is no draft
    one.create(plates(1))
    clock.advance(DRAFT_S)
    one.create(plates(1))


def test_files_hold_no_plate_and_no_credential(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create([*plates(3), "wrong-entry"])
    one.batches.start(batch, OWNER, Access(OWNER, "credential-of-the-caller"), Decimal(0), {})
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    for text in ("AAA0A00", "wrong-entry", "credential-of-the-caller"):
        assert text.encode() not in held


def test_full_disk_is_logged_once_a_minute(
    tmp_path: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(_: ItemLeases) -> None:
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("disk is full"))

    monkeypatch.setattr(runner, "_warn", RepeatedWarning(runner.log))
    one = engine_of(tmp_path, clock)
    one.start(one.create(plates(3)))
    monkeypatch.setattr(ItemLeases, "claim", fail)
    for _ in range(5):
        one.runner.tick()
        wait_until(lambda: not one.runner.active, "the end of the threads")
    assert caplog.messages == ["a batch cannot go on: OperationalError"]


def test_writes_wait_in_the_queue_of_the_process(tmp_path: Path, clock: Clock) -> None:
    """Outside the queue, each write would poll for SQLite's lock."""
    database = kept_open(None, tmp_path)
    one = engine_of(tmp_path, clock, database=database)
    assert isinstance(database, SqliteDatabase)
    queue = database.writers
    with database.writing():
        waiting = threading.Thread(target=one.leases().release_all)
        waiting.start()
        wait_until(lambda: len(queue._waiters) == 1, "the writer in the queue")
        assert database.engine.pool.checkedout() == 1  # type: ignore[attr-defined]
    waiting.join(30)
    assert not waiting.is_alive()
