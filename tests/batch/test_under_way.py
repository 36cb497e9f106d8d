"""The operator's list of all owners' running and paused batches."""

from decimal import Decimal
from pathlib import Path

from portal.access.sealing import SubjectKeys
from portal.batch.batches import MOST_UNDER_WAY, Batches
from portal.storage.database import Database
from tests.batch.engine import OWNER, engine_of, plates
from tests.fakes import Clock
from tests.gateway.gateways import SECRET


def test_running_and_paused_batches_are_listed(
    tmp_path: Path, database: Database, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock, database=database)
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
    found = one.batches.under_way()
    assert [(each.state, each.reason, each.counts.ended, each.counts.total) for each in found] == [
        ("running", "", 0, 3),
        ("paused", "owner", 0, 4),
    ]
    assert found[0].cost.at_most == 3 * Decimal("0.30")
    assert found[0].started_at == clock()
    one.run(running)
    assert [each.state for each in one.batches.under_way()] == ["paused"]
    keys = SubjectKeys(SECRET, str, "another")
    assert Batches(database, keys, lambda _: 3600.0).under_way() == []


def test_the_latest_are_listed(tmp_path: Path, database: Database, clock: Clock) -> None:
    one = engine_of(tmp_path, clock, database=database)
    for number in range(MOST_UNDER_WAY + 1):
        one.start(one.create(plates(1, f"AA{chr(65 + number)}")))
        clock.advance(1)
    found = one.batches.under_way()
    assert len(found) == MOST_UNDER_WAY
    assert found[0].started_at == clock() - 1
