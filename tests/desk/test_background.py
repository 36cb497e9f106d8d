"""The batch runner's desk."""

import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from portal.access.tokens import UnknownToken
from portal.batch.rows import Access
from portal.desk.caller import COMMAND_IDENTITY
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.ports import wait_until

BATCHES = "/api/v1/batches"


def test_item_of_a_batch_does_not_pass_through_the_factory(portal: PortalFactory) -> None:
    """The composition root wires the parts, and does nothing while they work."""
    here = portal()
    here.parts.scheduler.stop()
    auth = {"Authorization": PORTAL_TOKEN}
    made = here.client.post(BATCHES, json={"plates": ["ABC1D23"]}, headers=auth).get_json()
    path = f"{BATCHES}/{made['id']}"
    assert here.client.post(f"{path}/start", headers=auth).status_code == 200
    passed: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            passed.add("/".join(Path(frame.f_code.co_filename).parts[-2:]))

    threading.setprofile(profile)  # of the runner's threads, which are not started yet
    try:
        here.parts.batch_runner.tick()
        wait_until(lambda: here.get(path).get_json()["state"] == "done", "the end of the batch")
    finally:
        threading.setprofile(None)
    assert {"batch/runner.py", "desk/background.py", "dossier/row.py"} <= passed
    assert "portal/factory.py" not in passed


def test_owner_is_authenticated_anew(portal: PortalFactory) -> None:
    here = portal()
    identify = here.parts.background.identify
    assert identify(Access(COMMAND_IDENTITY.owner)) is COMMAND_IDENTITY
    assert identify(Access(here.parts.gatekeeper.authenticate(PORTAL_TOKEN).owner)).may_spend
    with pytest.raises(UnknownToken):
        identify(Access("0" * 64))
