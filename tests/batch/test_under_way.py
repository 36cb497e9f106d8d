"""The operator's list of all owners' running and paused batches."""

from decimal import Decimal
from pathlib import Path

from sqlalchemy import Engine

from portal.batch.under_way import MOST_LISTED, batches_under_way
from tests.batch.engine import OWNER, engine_of, plates
from tests.fakes import Clock


def test_running_and_paused_batches_are_listed(
    tmp_path: Path, engine: Engine, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock, database=engine)
    one.create(plates(2, "DRA"))  # a draft, which is not listed
    done = one.create(plates(1, "DON"))
    one.start(done)
    one.run(done)
    paused = one.create(plates(4, "PAU"))
    one.start(paused)
    one.batches.pause(paused, OWNER)
    clock.advance(60)
    running = one.create(plates(3, "RUN"))
    one.start(running)
    found = batches_under_way(engine, "upstream")
    assert [(each.state, each.reason, each.ended, each.total) for each in found] == [
        ("running", "", 0, 3),
        ("paused", "owner", 0, 4),
    ]
    assert found[0].at_most == 3 * Decimal("0.30")
    assert found[0].started_at == clock()
    one.run(running)
    assert [each.state for each in batches_under_way(engine, "upstream")] == ["paused"]
    assert batches_under_way(engine, "another") == []


def test_the_latest_are_listed(tmp_path: Path, engine: Engine, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, database=engine)
    for number in range(MOST_LISTED + 1):
        one.start(one.create(plates(1, f"AA{chr(65 + number)}")))
        clock.advance(1)
    found = batches_under_way(engine, "upstream")
    assert len(found) == MOST_LISTED
    assert found[0].started_at == clock() - 1
