"""Dead plates in a batch with circuit breakers, with a clock that is set by hand."""

from pathlib import Path

import pytest

from portal.upstream.breaker import Breaker
from portal.upstream.errors import Failing
from portal.upstream.failover import Failover
from portal.upstream.protocol import Resource, Response
from tests.batch.engine import OWNER, engine_of, plates
from tests.batch.test_engine import PRICE
from tests.fakes import Clock
from tests.gateway.gateways import StubUpstream, good


@pytest.mark.parametrize("step", [1, 2], ids=["at the beginning", "every other one"])
@pytest.mark.parametrize(("dead_count", "count"), [(8, 16), (20, 40)])
def test_dead_plates_take_no_living_one_down(
    tmp_path: Path, clock: Clock, dead_count: int, count: int, step: int
) -> None:
    """Their failures open both circuits, and each call that a circuit refuses is made later."""
    texts = plates(count)
    dead = set(texts[::step][:dead_count])

    def answer(resource: Resource) -> Response:
        if resource.path.rpartition("/")[2] in dead:
            raise Failing(503)
        return good(resource)

    one = engine_of(tmp_path, clock, StubUpstream(answer))
    addresses = [StubUpstream(answer) for _ in range(2)]
    one.bench.gateway._upstream = Failover(
        [Breaker(each, str(number), clock) for number, each in enumerate(addresses)]
    )
    batch = one.create(texts)
    one.start(batch)
    confirmed = one.get(batch).cost.at_most
    found = one.run(batch)
    while found.resume_at is not None:
        clock.advance(found.resume_at - clock.now())
        one.runner.tick()
        found = one.run(batch)
    assert (found.state, found.counts.done, found.counts.failed) == (
        "done",
        count - dead_count,
        dead_count,
    )
    assert confirmed == count * PRICE
    assert found.cost.spent is not None and found.cost.spent <= confirmed
    failed = {item.subject.text for item in one.batches.items(batch, OWNER) if item.cause}
    assert failed == dead
    assert all(item.spent for item in one.batches.items(batch, OWNER) if item.cause)
