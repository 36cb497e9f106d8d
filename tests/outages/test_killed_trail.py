"""A killed portal loses at most what was seen in the last second, and no act."""

import json
import os
import signal
from typing import Any

import pytest

from portal.access.trail import FLUSH_EVERY_S
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.test_backup import succeeded

HEADER = {"Authorization": PORTAL_TOKEN}
SEEN = ["ABC1D23", "LMP0A01", "MUL0A45"]


def rows(server: PortalProcess) -> list[dict[str, Any]]:
    return [*json.loads(succeeded(server, "audit", "--json"))]


@pytest.mark.long
def test_kill_loses_the_last_hits_at_most_and_no_act(upstream: FaultUpstream) -> None:
    assert FLUSH_EVERY_S <= 1
    with PortalProcess(managed(upstream.url), workers=2) as server:
        for plate in SEEN * 2:  # asked, and then seen
            assert server.get(path_of("decode", plate), headers=HEADER).status_code == 200
        expected = {(act, plate) for act in ("asked", "saw") for plate in SEEN}
        wait_until(
            lambda: {(each["act"], each["plate"]) for each in rows(server)} >= expected,
            "what was seen, which the portal writes while it runs",
        )
        number = (
            server.post(
                f"/api/v1/vehicles/{SEEN[0]}/moment", headers=HEADER, json={"ask": ["decode"]}
            )
            .json()["number"]
            .replace("-", "")
        )
        server.get(path_of("decode", "AAA0A01"), headers=HEADER)
        os.killpg(server.pid, signal.SIGKILL)
        server.kill()
        server.start()
        found = rows(server)
        assert {(each["act"], each["plate"]) for each in found} >= expected
        assert [each["number"] for each in found if each["act"] == "issued"] == [number]
        assert "none is missing or changed" in succeeded(server, "audit", "verify")
        assert server.get(path_of("decode", SEEN[0]), headers=HEADER).status_code == 200
