"""A batch on a flapping primary, restored from a backup in its middle beside a revoked token."""

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.batch.engine import plates
from tests.fakes import FaultUpstream, faults, odd_bodies, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.fakes.wire import Fault
from tests.outages.crowd import Ask, in_turn
from tests.outages.test_backup import ledger_of, succeeded

pytestmark = pytest.mark.long

COUNT = 500
STORED = 60  # plates at the end of the list whose answers expire before the batch comes to them
MOST_STARTS = 200
OTHERS = plates(40, "BBB")
AUTH = {"Authorization": PORTAL_TOKEN}


@pytest.fixture
def upstreams(upstream: FaultUpstream) -> Iterator[tuple[FaultUpstream, FaultUpstream]]:
    with FaultUpstream() as secondary:
        yield upstream, secondary


def flapping(delay_s: float) -> Fault:
    """Answer every fifth call with half a body, which is charged like a whole one."""
    numbers = itertools.count(1)
    good, broken = faults.slow_first_byte(delay_s), odd_bodies.truncated_json()
    return Fault(
        "flapping", lambda wire, call: (good if next(numbers) % 5 else broken).play(wire, call)
    )


class Owner:
    """The owner of a batch, who confirms what the portal shows as the most it may cost."""

    def __init__(self, portal: PortalProcess, token: str, texts: list[str]) -> None:
        self._portal = portal
        self._headers = {"Authorization": token}
        made = self._request("POST", "", json={"plates": texts, "ask": ["decode"]})
        self._path = f"/{made['id']}"
        self.confirmed = Decimal(0)

    def _request(self, method: str, path: str, **options: Any) -> Any:
        response = self._portal.request(
            method, f"/api/v1/batches{path}", headers=self._headers, **options
        )
        assert response.status_code < 300, response.text
        return json.loads(response.text, parse_float=Decimal)

    def read(self) -> Any:
        """Read the batch, which has never spent more than confirmed."""
        found = self._request("GET", self._path)
        assert found["cost"]["spent"] <= self.confirmed, found
        return found

    def start(self, retry: Sequence[str] = ()) -> None:
        """Start the batch, or look up failed vehicles again, for the most that may cost."""
        if retry:
            started = self._request("POST", f"{self._path}/start", json={"retry": retry})
            self.confirmed = Decimal(started["cost"]["at_most"])
            return
        self.confirmed = Decimal(self.read()["cost"]["at_most"])
        body = {"max_cost": float(self.confirmed)}
        self._request("POST", f"{self._path}/start", json=body)

    def finish(self) -> list[str]:
        """Resume the batch until each plate is answered; return the reasons of its pauses.

        A plate fails if its answer from the primary was garbage, and the price of the call to the
        secondary was not confirmed. Such a plate is looked up again only if a start names it.
        """
        reasons: list[str] = []
        while (found := self.wait(lambda found: found["state"] != "running"))["counts"]["done"] < (
            found["counts"]["total"]
        ):
            reasons.append(found["reason"] or found["state"])
            assert len(reasons) < MOST_STARTS, reasons
            failed = () if found["counts"]["pending"] else self.failed()
            if failed:
                time.sleep(2.1)  # the gateway caches a failure for two seconds
            self.start(failed)
        return reasons

    def failed(self) -> list[str]:
        response = self._portal.get(
            f"/api/v1/batches{self._path}/results.jsonl", headers=self._headers
        )
        rows = map(json.loads, response.text.splitlines())
        return [row["plate"] for row in rows if row["state"] == "failed"]

    def wait(self, condition: Callable[[Any], bool]) -> Any:
        wait_until(lambda: condition(self.read()), "a state of the batch", 120)
        return self.read()

    def is_refused(self) -> bool:
        path = f"/api/v1/batches{self._path}"
        return self._portal.get(path, headers=self._headers).status_code in (401, 403)


def test_restored_batch_spends_what_was_confirmed(
    upstreams: tuple[FaultUpstream, FaultUpstream], tmp_path: Path
) -> None:
    """The ledger equals the upstreams' count, save for the calls between backup and restore."""
    texts = plates(COUNT)
    primary, secondary = upstreams
    settings = managed(primary.url, secondary.url) | {
        "PORTAL_PRICE_DECODE": "1",
        "PORTAL_FRESH_DECODE": "4",
        "PORTAL_STALE_DECODE": "0",
        "PORTAL_BATCH_CONCURRENCY": "16",
    }

    def calls() -> int:
        return sum(each.count() for each in upstreams)

    with PortalProcess(settings) as portal:
        revoked = succeeded(portal, "token", "issue", "bia").splitlines()[-1]
        asks = [Ask(path_of("decode", plate), AUTH) for plate in texts[-STORED:]]
        assert {each.status for each in in_turn(portal.port, asks, 8)} == {200}
        primary.default(flapping(0.4))  # slow, so that the batch outlasts the backup
        other = Owner(portal, revoked, OTHERS)
        owner = Owner(portal, PORTAL_TOKEN, texts)
        owner.start()
        other.start()
        assert owner.confirmed <= COUNT

        wait_until(lambda: calls() > 150, "the first calls", 60)
        backup, former = tmp_path / "backup", tmp_path / "former"
        succeeded(portal, "backup", str(backup))
        succeeded(portal, "token", "revoke", "bia")
        backed_up = calls()
        wait_until(lambda: calls() > backed_up + 40, "calls after the backup", 60)
        assert portal.stop() == 0
        assert len(ledger_of(portal)) == calls()

        portal.data_dir.rename(former)
        succeeded(portal, "restore", str(backup), "--purges-of", str(former))
        lost = calls() - len(ledger_of(portal))
        assert lost > 0
        asked = calls()
        primary.default(flapping(0.01))
        portal.start()
        assert owner.wait(lambda found: found["state"] == "paused")["counts"]["pending"] > 0
        assert other.is_refused()
        assert calls() == asked
        of_others = sum(primary.count(path_of("decode", plate)) for plate in OTHERS)

        reasons = owner.finish()
        assert {"price"} <= set(reasons) <= {"owner", "price", "done"}
        assert owner.read()["counts"]["done"] == COUNT
        assert sum(primary.count(path_of("decode", plate)) for plate in OTHERS) == of_others
        assert len(ledger_of(portal)) == calls() - lost
