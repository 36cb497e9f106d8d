"""A batch with plates that both base addresses fail for, under the sum that was confirmed."""

import time
from collections import Counter
from typing import Any

import pytest

from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, managed

pytestmark = pytest.mark.long

AUTH = {"Authorization": PORTAL_TOKEN}
PRICES = {"PRICE_DECODE": "0.05", "PRICE_RENAINF": "1.20", "PRICE_RENAJUD": "1.20"}
COUNT, PLATE_PRICE = 40, 2.45
OPERATIONS = ("decode", "restrictions/renainf", "restrictions/renajud")


def run(here: InProcessPortal, batch: str, body: object) -> Any:
    """Start a batch, and return it when only its owner can make it go on.

    On a busy machine each dead plate may open both circuits, and pause the batch for 5 s.
    """
    response = here.client.post(f"/api/v1/batches/{batch}/start", json=body, headers=AUTH)
    assert response.status_code == 200, response.data
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        here.parts.batch_runner.tick()
        found = here.get(f"/api/v1/batches/{batch}").get_json()
        if found["state"] != "running" and found["resumes_at"] is None:
            return found
        time.sleep(0.02)
    raise AssertionError(f"the batch did not end: {found}")


@pytest.mark.over_5_s("an open circuit makes the batch pause for 5 s")
@pytest.mark.parametrize(
    ("dead_count", "prices"),
    [(1, PRICES), (20, {}), *long((5, PRICES), (20, PRICES), (1, {}), (5, {}))],
    ids=lambda value: value if isinstance(value, int) else "with prices" * bool(value),
)
def test_every_living_plate_has_its_answer_and_the_dead_ones_leave_the_batch(
    portal: PortalFactory,
    upstream: FaultUpstream,
    secondary: FaultUpstream,
    dead_count: int,
    prices: dict[str, str],
) -> None:
    texts = plates(COUNT)
    dead = texts[:: COUNT // dead_count]
    for each in (upstream, secondary):
        for plate in dead:
            for operation in OPERATIONS:
                each.script(f"/detran/v1/{operation}/{plate}", faults.status(503))
    settings = managed(upstream.url, secondary.url)
    here = portal(settings, BATCH_CONCURRENCY="8", **prices)
    body = {"plates": texts}
    draft = here.client.post("/api/v1/batches", json=body, headers=AUTH).get_json()
    confirmed = draft["cost"]["at_most"]
    assert confirmed == (COUNT * PLATE_PRICE if prices else None)

    found = run(here, draft["id"], {"max_cost": confirmed} if prices else {})
    assert (found["state"], found["reason"]) == ("done", None)
    counts = found["counts"]
    assert (counts["done"], counts["failed"]) == (COUNT - dead_count, dead_count)
    if prices:
        assert found["cost"]["spent"] <= confirmed
    else:
        assert found["cost"] == {"spent": None, "at_most": None}
    calls = Counter(call.path for each in (upstream, secondary) for call in each.calls)
    assert all(
        calls[f"/detran/v1/{operation}/{plate}"] == 1
        for operation in OPERATIONS
        for plate in texts
        if plate not in dead
    )

    before = calls.total()
    assert run(here, draft["id"], {})["cost"] == found["cost"]  # another start asks nothing
    assert upstream.count() + secondary.count() == before
    here.wait_out_failures()
    limited = {"retry": dead[:1], "max_cost": PLATE_PRICE}
    if not prices:
        start = f"/api/v1/batches/{draft['id']}/start"
        refused = here.client.post(start, json=limited, headers=AUTH)
        assert (refused.status_code, refused.get_json()["code"]) == (409, "cost_unknown")
        assert upstream.count() + secondary.count() == before
    again = run(here, draft["id"], limited if prices else {"retry": dead[:1]})
    assert (again["state"], again["counts"]) == ("done", counts)
    if prices:
        assert again["cost"]["spent"] <= round(found["cost"]["spent"] + PLATE_PRICE, 2)
    for each in (upstream, secondary):
        each.clear()
    here.wait_out_failures()
    assert run(here, draft["id"], {"retry": dead})["counts"]["done"] == COUNT
