"""Previews of a batch's remaining lookups: computed, or cached in a pause."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from portal.batch.model import Cost, CostUnknown, Preview
from portal.batch.pricing import KEPT_S, BatchPricing
from portal.upstream.errors import Failing
from portal.upstream.protocol import Resource, Response
from tests.batch.engine import IDENTITY, OWNER, BatchEngine, engine_of, plates
from tests.fakes import Clock
from tests.fakes.forgetting import forget
from tests.gateway.gateways import FRESH_S, StubUpstream, good

PRICE = Decimal("0.30")


def three_left(folder: Path, clock: Clock) -> tuple[BatchEngine, str]:
    """A batch of five plates that the daily limit has paused after two plates."""
    one = engine_of(folder, clock, daily_limit=2, concurrency=1)
    batch = one.create(plates(5))
    one.start(batch)
    assert one.run(batch).resume_at is not None
    return one, batch


def test_preview_sums_what_is_not_stored(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    one.bench.decode("AAA0A00")
    batch = one.create([*plates(3), "79831854647"])
    pricing = BatchPricing(one.batches, one.bench.gateway)
    assert pricing.left(one.get(batch), OWNER, IDENTITY) == Preview(3, 1, 2, 2 * PRICE)


def test_preview_of_a_batch_that_goes_on_by_itself_is_cached(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, batch = three_left(tmp_path, clock)
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    first = pricing.left(one.get(batch), OWNER, IDENTITY)
    assert first == Preview(3, 0, 3, 3 * PRICE)
    found = one.get(batch)
    with monkeypatch.context() as patch:
        patch.delattr(one.batches.__class__, "items")  # so that computing a preview raises an error
        clock.advance(KEPT_S - 1)
        assert pricing.left(found, OWNER, IDENTITY) == first
        with pytest.raises(AttributeError):
            pricing.left(found, OWNER, replace(IDENTITY, scopes=frozenset({"renainf"})))
        with pytest.raises(AttributeError):
            pricing.left(replace(found, resume_at=clock.now() + 1), OWNER, IDENTITY)
        clock.advance(1)
        with pytest.raises(AttributeError):
            pricing.left(found, OWNER, IDENTITY)


def test_preview_follows_the_batch_and_the_answers(tmp_path: Path, clock: Clock) -> None:
    one, batch = three_left(tmp_path, clock)
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    before = one.get(batch)
    assert pricing.left(before, OWNER, IDENTITY).calls == 3
    forget(one.database, one.batches, "AAA0A04")
    assert pricing.left(one.get(batch), OWNER, IDENTITY).calls == 2
    clock.advance(before.resume_at - clock.now())  # type: ignore[operator]
    one.bench.decode("AAA0A03")
    assert pricing.left(one.get(batch), OWNER, IDENTITY) == Preview(2, 0, 1, PRICE)


def test_preview_of_a_batch_that_waits_for_its_owner_is_not_cached(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(2))
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    assert pricing.left(one.get(batch), OWNER, IDENTITY).calls == 2
    one.bench.decode("AAA0A00")
    assert pricing.left(one.get(batch), OWNER, IDENTITY).calls == 1


def test_draft_is_priced_without_expired_answers(tmp_path: Path, clock: Clock) -> None:
    one = engine_of(tmp_path, clock)
    one.bench.decode("AAA0A00")
    batch = one.create(plates(2))
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    draft = one.get(batch)
    assert pricing.priced(draft, OWNER, IDENTITY) == draft
    assert draft.cost == Cost(Decimal(0), PRICE)
    clock.advance(FRESH_S + 1)
    expected = replace(draft, cost=Cost(Decimal(0), 2 * PRICE))
    assert pricing.priced(draft, OWNER, IDENTITY) == expected
    assert pricing.priced_list([draft], OWNER, IDENTITY) == [expected]


def test_batch_that_waits_for_its_owner_has_the_price_of_a_start_now(
    tmp_path: Path, clock: Clock
) -> None:
    """A start looks up no failed plate, and pays for answers that have expired since."""
    one = engine_of(tmp_path, clock, concurrency=1)
    one.bench.upstream.answer = Failing(500)
    batch = one.create(plates(3))
    one.start(batch, max_cost=PRICE)
    found = one.run(batch)
    assert (found.reason, found.counts.failed, found.counts.pending) == ("price", 1, 2)
    one.bench.upstream.answer = None
    one.bench.decode("AAA0A02")
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    assert pricing.priced(found, OWNER, IDENTITY).cost == Cost(PRICE, (1 + 1) * PRICE)
    clock.advance(FRESH_S + 1)
    assert pricing.priced(found, OWNER, IDENTITY).cost == Cost(PRICE, (1 + 2) * PRICE)
    assert pricing.left(found, OWNER, IDENTITY).at_most == 2 * PRICE
    retries = pricing.retries(one.batches.items(batch, OWNER), found.ask, IDENTITY)
    assert {one.text: each.at_most for one, each in retries.items()} == {"AAA0A00": PRICE}


def test_batch_that_goes_on_by_itself_keeps_the_confirmed_price(
    tmp_path: Path, clock: Clock
) -> None:
    one, batch = three_left(tmp_path, clock)
    clock.advance(FRESH_S + 1)
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    assert pricing.priced(one.get(batch), OWNER, IDENTITY).cost == Cost(2 * PRICE, 5 * PRICE)


def test_list_of_batches_uses_cached_previews(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = engine_of(tmp_path, clock)
    drafts = [one.get(one.create(plates(2))) for _ in range(2)]
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    first = pricing.priced_list(drafts, OWNER, IDENTITY)
    assert first == drafts
    with monkeypatch.context() as patch:
        patch.delattr(one.batches.__class__, "items")  # so that computing a preview raises an error
        clock.advance(KEPT_S - 1)
        assert pricing.priced_list(drafts, OWNER, IDENTITY) == first
        with pytest.raises(AttributeError):
            pricing.priced(drafts[0], OWNER, IDENTITY)
        clock.advance(1)
        with pytest.raises(AttributeError):
            pricing.priced_list(drafts, OWNER, IDENTITY)
    one.batches.discard(drafts[0].id, OWNER)
    assert pricing.priced_list(drafts, OWNER, IDENTITY) == drafts[1:]


def test_batch_with_lookups_in_progress_keeps_its_price(tmp_path: Path, clock: Clock) -> None:
    """``spent`` contains the lookup in progress. A preview would add it again."""
    one = engine_of(tmp_path, clock)
    batch = one.create(plates(2))
    one.start(batch)
    assert one.leases("process", 1).claim() is not None
    pricing = BatchPricing(one.batches, one.bench.gateway, clock)
    clock.advance(1)
    one.batches.pause(batch, OWNER)
    found = one.get(batch)
    assert (found.state, found.active) == ("paused", 1)
    assert pricing.priced(found, OWNER, IDENTITY) is found


def without_price(one: BatchEngine) -> BatchEngine:
    terms = one.bench.gateway.terms
    assert isinstance(terms, dict)
    terms["decode"] = replace(terms["decode"], price=None)
    return one


def test_answer_that_expires_is_not_paid_at_an_unknown_price(tmp_path: Path, clock: Clock) -> None:
    """The batch has a limit, because the answer was stored at its start."""
    one = without_price(engine_of(tmp_path, clock))
    one.bench.decode("AAA0A00")
    batch = one.create(["AAA0A00"])
    one.start(batch, max_cost=Decimal(60))
    clock.advance(FRESH_S + 1)
    found = one.run(batch)
    assert (found.state, found.reason) == ("paused", "price")
    assert found.cost == Cost(Decimal(0), Decimal(60))
    assert len(list(one.bench.ledger.rows())) == 1
    with pytest.raises(CostUnknown):
        one.start(batch, max_cost=Decimal(60))
    one.start(batch)
    assert one.run(batch).cost == Cost(None, None)
    with pytest.raises(CostUnknown):
        one.start(batch, max_cost=Decimal(60))


def failing_for(plate: str) -> StubUpstream:
    def answer(resource: Resource) -> Response:
        if resource.path.endswith(plate):
            raise Failing(503)
        return good(resource)

    return StubUpstream(answer)


def test_retry_at_an_unknown_price_has_no_limit_and_is_refused_one(
    tmp_path: Path, clock: Clock
) -> None:
    one = without_price(engine_of(tmp_path, clock, failing_for("AAA0A01")))
    batch = one.create(plates(3))
    one.start(batch)
    assert one.run(batch).counts.failed == 1
    failed = one.batches.items(batch, OWNER)[1]
    assert (failed.spent, failed.failing_since) == (None, clock.now())
    pricing = one.pricing
    assert pricing.retries([failed], ("decode",), IDENTITY)[failed.subject].at_most is None
    clock.advance(3)
    with pytest.raises(CostUnknown):
        one.retry(batch, ["AAA0A01"], max_cost=Decimal(60))
    assert one.get(batch).state == "done"
    one.bench.upstream.answer = None
    one.retry(batch, ["AAA0A01"])
    assert one.run(batch).counts.done == 3


def test_retry_at_an_unknown_price_keeps_the_limit_of_the_running_batch(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock, failing_for("AAA0A00"), daily_limit=2, concurrency=1)
    batch = one.create(plates(4))
    one.start(batch)
    assert one.run(batch).reason == "day_limit"
    one.start(batch)
    limit = one.get(batch).cost.at_most
    without_price(one)
    with pytest.raises(CostUnknown):
        one.retry(batch, ["AAA0A00"])
    assert one.get(batch).cost.at_most == limit
