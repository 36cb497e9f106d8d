"""On a miss, Flask does not repeat the hit cache's authentication, parsing and store read."""

from collections import Counter
from typing import Any

import pytest

from portal.access.tokens import Gatekeeper
from portal.gateway.sqlite_cache import SQLiteCache
from portal.vehicle.plate import Plate
from portal.web.json_api.routes import CHECKED
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN, InProcessPortal

PATH = "/detran/v1/decode/"


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    """A portal that has answered its first request, which bypasses the hit cache."""
    made = portal()
    made.get(f"{PATH}XYZ1A23")
    return made


@pytest.fixture
def calls(here: InProcessPortal, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return a counter of the calls of three methods, by the method's name."""
    counted: Counter[str] = Counter()

    def count(owner: type, name: str) -> None:
        usual = getattr(owner, name)

        def called(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return usual(*given, **named)

        monkeypatch.setattr(owner, name, called)

    here.parts.scheduler.stop()  # the scheduler reads the store too
    for owner, name in (
        (Gatekeeper, "authenticate"),
        (SQLiteCache, "read_many"),
        (SQLiteCache, "replace"),
    ):
        count(owner, name)
    parse = Plate.parse
    monkeypatch.setattr(Plate, "parse", lambda text: (counted.update(["parse"]), parse(text))[1])
    return counted


def test_miss_authenticates_and_parses_once(here: InProcessPortal, calls: Counter[str]) -> None:
    answer = here.get(f"{PATH}ABC1D23")
    assert answer.headers["Cache-Status"] == "portal; fwd=miss; stored"
    assert (calls["authenticate"], calls["parse"]) == (1, 1)


def test_miss_reads_store_once_before_and_once_under_the_lease(
    here: InProcessPortal, calls: Counter[str]
) -> None:
    here.get(f"{PATH}ABC1D23")
    assert (calls["read_many"], calls["replace"]) == (2, 1)


def test_refused_request_goes_to_flask(here: InProcessPortal, upstream: FaultUpstream) -> None:
    sent = upstream.count()
    assert here.get(f"{PATH}ABC1D23", "unknown-token").status_code == 401
    assert here.get(f"{PATH}ABC", PORTAL_TOKEN).status_code == 400
    assert upstream.count() == sent


def test_stored_rejection_is_passed_on(here: InProcessPortal, upstream: FaultUpstream) -> None:
    upstream.default(faults.status(400, "Placa recusada."))
    before = upstream.count()
    for _ in range(2):
        assert here.get(f"{PATH}ABC1D23").status_code == 400
    assert upstream.count() == before + 1


@pytest.mark.parametrize("name", [CHECKED, CHECKED.replace(".", "-"), f"wsgi.{CHECKED}"])
def test_header_cannot_forge_a_checked_request(here: InProcessPortal, name: str) -> None:
    forged = {"headers": {name: OPERATOR_TOKEN}}
    assert here.get(f"{PATH}ABC1D23", None, **forged).status_code == 401
