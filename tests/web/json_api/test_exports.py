"""``/api/v1/vehicles/{plate}`` and its exports: parameters and lookup errors."""

import csv
import json
from datetime import UTC, datetime

import pytest

from tests.conftest import PortalFactory
from tests.fakes import Fault, FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, pass_through
from tests.web.json_paths import PLATE, expect_message, issue, no_upstream_call

VEHICLE = f"/api/v1/vehicles/{PLATE}"
DECODE = f"/detran/v1/decode/{PLATE}"


def errors(here: InProcessPortal, token: str) -> list[tuple[int, str | None]]:
    """Return status and Retry-After of a lookup and of an export based on it."""
    found = []
    for path in (DECODE, f"{VEHICLE}/prices.csv"):
        response = here.client.get(path, headers={"Authorization": token})
        expect_message(response, response.status_code)
        found.append((response.status_code, response.headers.get("Retry-After")))
    return found


def test_spent_daily_limit_of_a_token_has_the_same_retry_after(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "small", daily_limit=1)
    here.client.get(f"/detran/v1/restrictions/renainf/{PLATE}", headers={"Authorization": token})
    (status, wait), (export_status, export_wait) = errors(here, token)
    assert (status, export_status) == (429, 429)
    assert abs(int(str(export_wait)) - int(str(wait))) <= 2


def test_spent_daily_limit_of_the_portal_has_the_same_retry_after(portal: PortalFactory) -> None:
    here = portal(DAILY_CALL_LIMIT="1")
    here.get(f"/detran/v1/restrictions/renainf/{PLATE}")
    (status, wait), (export_status, export_wait) = errors(here, PORTAL_TOKEN)
    assert (status, export_status) == (503, 503)
    assert abs(int(str(export_wait)) - int(str(wait))) <= 2


@pytest.mark.parametrize("mode", ["managed", "pass-through"])
@pytest.mark.parametrize(
    "fault",
    [
        faults.status(400),
        faults.status(402),
        faults.status(403),
        faults.status(404),
        faults.status(429, retry_after="7"),
        faults.status(500),
    ],
    ids=str,
)
def test_export_fails_as_its_lookup_does(
    portal: PortalFactory, upstream: FaultUpstream, fault: Fault, mode: str
) -> None:
    here = portal(pass_through(upstream.url)) if mode == "pass-through" else portal()
    upstream.default(fault)
    lookup, export = errors(here, PORTAL_TOKEN)
    assert lookup[0] == export[0]
    assert (lookup[1] is None) == (export[1] is None)
    if lookup[1] is not None:
        assert 0 <= int(lookup[1]) - int(str(export[1])) <= 2


def test_ask_limits_the_verdict_to_what_was_asked_for(portal: PortalFactory) -> None:
    here = portal()
    verdict = here.get(f"{VEHICLE}?ask=decode").get_json()["verdict"]
    assert (verdict["level"], verdict["missing"]) == ("limited", [])
    assert verdict["not_asked"] == ["fines", "restrictions"]
    assert verdict["headline"] == "Consulta só de dados do veículo"
    assert here.get(VEHICLE).get_json()["verdict"]["not_asked"] == []


def test_lookup_that_may_not_be_made_is_missing(portal: PortalFactory) -> None:
    """With "only-if-cached" all lookups count as asked, although no call is sent."""
    here = portal()
    response = here.client.get(
        VEHICLE, headers={"Authorization": PORTAL_TOKEN, "Cache-Control": "only-if-cached"}
    )
    verdict = response.get_json()["verdict"]
    assert (verdict["level"], verdict["not_asked"]) == ("incomplete", [])


@pytest.mark.parametrize("query", ["ask=decode&ask=renainf", "ask=decode&ask=decode", "ask="])
def test_repeated_or_empty_ask_is_refused(
    portal: PortalFactory, upstream: FaultUpstream, query: str
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        message = expect_message(here.get(f"{VEHICLE}?{query}"), 400)
    assert "separados por vírgula" in message


def test_repeated_dialect_is_refused(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    with no_upstream_call(upstream):
        path = f"{VEHICLE}/prices.csv?dialect=brazil&dialect=rfc4180"
        assert "dialeto" in expect_message(here.get(path), 400)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("table", "lookup"),
    [
        ("fines", "restrictions/renainf"),
        ("restrictions", "restrictions/renajud"),
        ("prices", "decode"),
    ],
)
def test_export_has_the_headers_of_its_lookup_fresh_and_stale(
    portal: PortalFactory, upstream: FaultUpstream, table: str, lookup: str, ending: str
) -> None:
    here = portal(FRESH_DECODE="0", FRESH_RENAINF="0", FRESH_RENAJUD="0")
    path = f"{VEHICLE}/{table}.{ending}"
    first = here.get(path)
    assert first.headers["Cache-Status"] == "portal; fwd=miss; stored"
    assert int(first.headers["Age"]) == 0
    upstream.default(faults.status(500))
    expected = here.get(f"/detran/v1/{lookup}/{PLATE}").headers["Cache-Status"]
    assert expected == "portal; fwd=stale"
    stale = here.get(path)
    assert stale.headers["Cache-Status"] == expected
    assert int(stale.headers["Age"]) >= 0


def test_head_of_an_export_has_the_headers_of_a_hit(portal: PortalFactory) -> None:
    here = portal()
    here.get(f"{VEHICLE}/fines.csv")
    head = here.client.head(f"{VEHICLE}/fines.csv", headers={"Authorization": PORTAL_TOKEN})
    assert head.headers["Cache-Status"].startswith("portal; hit; ttl=")
    assert int(head.headers["Age"]) >= 0


def test_each_exported_row_has_the_time_of_its_answer(portal: PortalFactory) -> None:
    here = portal()
    before = datetime.now(UTC).replace(microsecond=0)
    for table in ("fines", "restrictions", "prices"):
        rows = here.get(f"{VEHICLE}/{table}.jsonl").get_data(as_text=True).splitlines()
        moments = {json.loads(row)["fetched_at"] for row in rows}
        assert len(moments) == 1
        moment = datetime.fromisoformat(moments.pop())
        assert moment.utcoffset() is not None
        assert before <= moment <= datetime.now(UTC)
        lines = here.get(f"{VEHICLE}/{table}.csv?dialect=rfc4180").get_data(as_text=True)
        written = {row["fetched_at"] for row in csv.DictReader(lines.lstrip("\ufeff").splitlines())}
        assert written == {f"{moment:%Y-%m-%d %H:%M:%S}"}
