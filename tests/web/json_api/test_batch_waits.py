"""``?wait=`` on a batch, and pages of the list of batches."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from portal.access.tokens import digest
from portal.batch.model import MOST_DRAFTS
from portal.web.http.slots import MAX_WAITS_PER_SENDER
from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.fakes.ports import wait_until
from tests.web.json_paths import PLATE, expect_message, issue, tokens_of

AUTH = {"Authorization": PORTAL_TOKEN}
BATCHES = "/api/v1/batches"
TIME = "portal.web.json_api.batches.time"


def running(here: InProcessPortal, token: str = PORTAL_TOKEN) -> str:
    """Create and start a batch, which nothing looks up. Return its path."""
    headers = {"Authorization": token}
    body = {"plates": plates(2), "ask": ["decode"]}
    path = here.client.post(BATCHES, json=body, headers=headers).headers["Location"]
    assert here.client.post(f"{path}/start", headers=headers).status_code == 200
    return str(path)


class FakeTime(SimpleNamespace):
    """A clock that only ``sleep`` moves."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    found = portal()
    found.client.get("/healthz")  # the first request starts the scheduler
    found.app.extensions["portal"].scheduler.stop()
    found.app.extensions["portal"].batch_runner.stop()
    return found


def test_answers_after_the_given_seconds_without_a_change(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeTime()
    monkeypatch.setattr(TIME, clock)
    path = running(here)
    found = here.get(f"{path}?wait=30").get_json()
    assert (found["state"], clock.now) == ("running", 30)
    here.get(path)
    here.get(f"{path}?wait=0")
    assert here.client.head(f"{path}?wait=30", headers=AUTH).status_code == 200
    assert clock.now == 30


def test_answers_when_the_state_changes(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = running(here)
    clock = FakeTime()

    def sleep(seconds: float) -> None:
        clock.now += seconds
        if clock.now == 2:
            here.app.test_client().post(f"{path}/pause", headers=AUTH)

    monkeypatch.setattr(clock, "sleep", sleep)
    monkeypatch.setattr(TIME, clock)
    assert here.get(f"{path}?wait=30").get_json()["state"] == "paused"
    assert clock.now == 2


def test_batch_that_changes_only_by_a_request_is_answered_at_once(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeTime()
    monkeypatch.setattr(TIME, clock)
    created = here.client.post(BATCHES, json={"plates": [PLATE]}, headers=AUTH)
    path = created.headers["Location"]
    assert here.get(f"{path}?wait=30").get_json()["state"] == "draft"
    here.client.post(f"{path}/cancel", headers=AUTH)
    assert here.get(f"{path}?wait=30").get_json()["state"] == "cancelled"
    assert clock.now == 0


def test_token_that_is_revoked_meanwhile_gets_nothing(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issue(here, "ana")
    path = running(here, token)
    clock = FakeTime()

    def sleep(seconds: float) -> None:
        clock.now += seconds
        tokens_of(here).revoke("ana")
        wait_until(lambda: here.get(path, token=token).status_code == 403, "the revocation")

    monkeypatch.setattr(clock, "sleep", sleep)
    monkeypatch.setattr(TIME, clock)
    expect_message(here.get(f"{path}?wait=30", token=token), 403)


def test_twenty_waiters_hold_few_threads(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further requests are answered at once, so that threads remain for others."""
    path = running(here)
    go_on, held, answered = threading.Event(), threading.Semaphore(0), []
    clock = FakeTime()

    def sleep(seconds: float) -> None:
        held.release()
        assert go_on.wait(60)
        clock.now += 30 + seconds

    monkeypatch.setattr(clock, "sleep", sleep)
    monkeypatch.setattr(TIME, clock)

    def ask() -> None:
        response = here.app.test_client().get(f"{path}?wait=30", headers=AUTH)
        answered.append(response.get_json()["state"])

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for _ in range(MAX_WAITS_PER_SENDER):
        assert held.acquire(timeout=60)
    wait_until(lambda: len(answered) == 20 - MAX_WAITS_PER_SENDER, "the requests that do not wait")
    go_on.set()
    for thread in threads:
        thread.join()
    assert answered == ["running"] * 20


@pytest.mark.parametrize("query", ["wait=31", "wait=-1", "wait=1.5", "wait=", "wait=1&wait=1"])
def test_other_waits_are_refused(here: InProcessPortal, query: str) -> None:
    assert "30" in expect_message(here.get(f"{running(here)}?{query}"), 400)


def test_list_continues_after_its_cursor(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.batch.batches.MOST_LISTED", 3)
    monkeypatch.setattr("portal.desk.lists.MOST_LISTED", 3)
    assert MOST_DRAFTS >= 7
    made = [
        here.client.post(BATCHES, json={"plates": [plate]}, headers=AUTH).get_json()["id"]
        for plate in plates(7)
    ]
    found: list[str] = []
    sizes, query = [], ""
    while True:
        page: Any = here.get(f"{BATCHES}{query}").get_json()
        found += [each["id"] for each in page["batches"]]
        sizes.append(len(page["batches"]))
        if page["next"] is None:
            break
        query = f"?after={page['next']}"
        if len(sizes) == 1:  # neither a new batch nor a deleted one moves the next page
            here.client.post(BATCHES, json={"plates": ["XYZ9K99"]}, headers=AUTH)
            here.app.extensions["portal"].batches.discard(found[-1], digest(PORTAL_TOKEN))
    assert (found, sizes) == (made[::-1], [3, 3, 1])
    for wrong in ("x", "1", f"1.0-{made[0]}x", ""):
        expect_message(here.get(f"{BATCHES}?after={wrong}"), 400)
