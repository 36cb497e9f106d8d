"""``Idempotency-Key`` on ``POST /api/v1/batches``."""

import threading
from typing import Any

import pytest

from portal.batch.batches import Batches
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import PLATE, expect_message, issue

BATCHES = "/api/v1/batches"


def sent(
    here: InProcessPortal, key: str = "one", plates: Any = (PLATE,), token: str = PORTAL_TOKEN
) -> Any:
    headers = {"Authorization": token, "Idempotency-Key": key}
    return here.app.test_client().post(BATCHES, json={"plates": list(plates)}, headers=headers)


def listed(here: InProcessPortal, token: str = PORTAL_TOKEN) -> list[str]:
    return [each["id"] for each in here.get(BATCHES, token=token).get_json()["batches"]]


def test_equal_request_gets_the_same_batch(portal: PortalFactory) -> None:
    here = portal()
    first = sent(here)
    again = sent(here)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.get_json() == first.get_json()
    assert again.headers["Location"] == first.headers["Location"]
    assert listed(here) == [first.get_json()["id"]]
    here.client.post(f"{first.headers['Location']}/start", headers={"Authorization": PORTAL_TOKEN})
    assert sent(here).get_json()["id"] == first.get_json()["id"]
    assert sent(here, key="two").get_json()["id"] != first.get_json()["id"]


def test_key_belongs_to_its_caller(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "ana")
    assert sent(here).status_code == 201
    assert sent(here, plates=["ABC1D24"], token=token).status_code == 201
    assert not set(listed(here)) & set(listed(here, token))


def test_other_body_is_refused_and_makes_nothing(portal: PortalFactory) -> None:
    here = portal()
    sent(here)
    expect_message(sent(here, plates=["ABC1D24"]), 422)
    assert len(listed(here)) == 1


def test_refused_request_uses_no_key(portal: PortalFactory) -> None:
    here = portal()
    expect_message(sent(here, plates=["nothing"]), 400)
    assert sent(here).status_code == 201


@pytest.mark.parametrize("key", ["", "a b", "a" * 129, "\xe9"])
def test_invalid_key_is_refused_after_the_credential(portal: PortalFactory, key: str) -> None:
    here = portal()
    expect_message(sent(here, key=key), 400)
    expect_message(sent(here, key=key, token="unknown"), 401)
    assert listed(here) == []


def test_two_equal_requests_at_once_make_one_batch(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal()
    create, both = Batches.create, threading.Barrier(2)

    def create_together(*arguments: Any) -> str:
        both.wait(30)
        return create(*arguments)

    monkeypatch.setattr(Batches, "create", create_together)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(sent(here))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.status_code for each in found] == [201, 201]
    assert listed(here) == [found[0].get_json()["id"]] == [found[1].get_json()["id"]]


def test_interrupted_request_is_completed_by_the_next(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal()

    def fail(*_: object) -> str:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(Batches, "create", fail)
        expect_message(sent(here), 500)
    assert sent(here).status_code == 201
    assert len(listed(here)) == 1


def test_purge_leaves_no_byte_of_the_plate(portal: PortalFactory) -> None:
    here = portal()
    sent(here, key=f"night-{PLATE}")
    assert run_command(here, "purge", PLATE).exit_code == 0
    assert listed(here) == []
    for file in here.settings.data_dir.rglob("*.sqlite*"):
        assert PLATE.encode() not in file.read_bytes(), file
