"""The RateLimit headers name each limit that applies, also on hits and errors."""

import re
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from portal.access.tokens import Identity
from portal.gateway.limits import Allowance
from portal.web.http.rate_limits import DailyQuotas, Quota, rate_limit_headers
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_api.portal_pair import flask_disabled
from tests.web.json_paths import PLATE, issue

DECODE = f"/detran/v1/decode/{PLATE}"
VEHICLE = f"/api/v1/vehicles/{PLATE}"
AUTH = {"Authorization": PORTAL_TOKEN}
ITEM = re.compile(r'"([a-z0-9-]+)";r=(\d+);t=(\d+)')


def left(response: Any) -> dict[str, int]:
    """Return the remaining quotas by name; check the policy and reset time of each."""
    policies = {
        name: int(window)
        for name, window in re.findall(
            r'"([a-z0-9-]+)";q=\d+;w=(\d+)', response.headers["RateLimit-Policy"]
        )
    }
    found = ITEM.findall(response.headers["RateLimit"])
    assert [name for name, *_ in found] == list(policies)
    assert all(1 <= int(reset) <= policies[name] for name, _, reset in found)
    return {name: int(remaining) for name, remaining, _ in found}


def test_headers_are_lists_of_structured_items() -> None:
    quotas = [Quota("token-60", 600, 60, 599, 41), Quota("daily-calls", 50, 86_400, 0, 3600)]
    assert rate_limit_headers(quotas) == [
        ("RateLimit-Policy", '"token-60";q=600;w=60, "daily-calls";q=50;w=86400'),
        ("RateLimit", '"token-60";r=599;t=41, "daily-calls";r=0;t=3600'),
    ]
    assert rate_limit_headers([]) == []


def test_without_a_limit_there_is_no_header(portal: PortalFactory) -> None:
    here = portal()
    for path in (DECODE, DECODE, DECODE, VEHICLE, "/detran/v1/decode/X", "/api/v1/batches"):
        response = here.get(path)
        assert not {"RateLimit", "RateLimit-Policy"} & set(response.headers.keys())


def test_windows_count_down_on_every_counted_answer(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(RATE_LIMIT_TOKEN="6/minute;100/hour", RATE_LIMIT_ADDRESS="50/day")
    assert left(here.get(DECODE)) == {"address-86400": 49, "token-60": 5, "token-3600": 99}
    hit = here.get(DECODE)
    assert hit.headers["Cache-Status"].startswith("portal; hit")
    assert left(hit)["token-60"] == 4
    assert left(here.get(VEHICLE))["token-60"] == 3
    upstream.default(faults.status(500))
    failed = here.get("/detran/v1/decode/XYZ9K99")
    assert failed.status_code == 502
    assert left(failed)["token-60"] == 2
    assert left(here.get("/api/v1/batches"))["token-60"] == 1
    assert left(here.get("/api/v1/batches/0123"))["token-60"] == 0
    refused = here.get(DECODE)
    assert refused.status_code == 429
    assert left(refused) == {"address-86400": 43, "token-60": 0, "token-3600": 94}
    assert int(ITEM.findall(refused.headers["RateLimit"])[1][2]) <= int(
        refused.headers["Retry-After"]
    )


def test_a_refused_request_is_not_counted_and_has_no_header(portal: PortalFactory) -> None:
    here = portal(RATE_LIMIT_TOKEN="3/minute")
    for path, headers, method, status in (
        (DECODE, {}, "GET", 401),
        ("/detran/v1/decode/X", AUTH, "GET", 400),
        (DECODE, AUTH, "DELETE", 405),
        (DECODE, {}, "OPTIONS", 204),
    ):
        response = here.client.open(path, method=method, headers=headers)
        assert response.status_code == status
        assert "RateLimit" not in response.headers
    assert left(here.get(DECODE)) == {"token-60": 2}


def test_pages_have_no_header(portal: PortalFactory) -> None:
    here = portal({"PORTAL_RATE_LIMIT_ADDRESS": "9/minute"})
    assert "RateLimit" not in here.client.get(f"/placa/{PLATE}").headers


def test_daily_calls_of_a_token(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    token = issue(here, "small", daily_limit=2)
    first = here.get(DECODE, token)
    assert first.headers["RateLimit-Policy"] == '"daily-calls";q=2;w=86400'
    assert left(first) == {"daily-calls": 1}
    second = here.get(f"/detran/v1/restrictions/renainf/{PLATE}", token)
    assert left(second) == {"daily-calls": 0}
    spent = here.get(f"/detran/v1/restrictions/renajud/{PLATE}", token)
    assert spent.status_code == 429
    assert left(spent) == {"daily-calls": 0}
    reset = int(ITEM.findall(spent.headers["RateLimit"])[0][2])
    assert abs(reset - int(spent.headers["Retry-After"])) <= 2
    assert left(here.get(VEHICLE, token)) == {"daily-calls": 0}
    assert "RateLimit" not in here.get(DECODE).headers


def test_hits_of_a_limited_token_have_the_header_without_flask(portal: PortalFactory) -> None:
    here: InProcessPortal = portal()
    token = issue(here, "small", daily_limit=5)
    here.get(DECODE, token)
    with flask_disabled(here):
        for _ in range(3):
            hit = here.get(DECODE, token)
            assert left(hit) == {"daily-calls": 4}
        assert "RateLimit" not in here.get(DECODE).headers


def test_hits_without_a_limit_never_read_the_ledger(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal()
    here.get(DECODE)

    def fail(*_: object) -> None:
        raise AssertionError("the ledger was read")

    monkeypatch.setattr(DailyQuotas, "read", fail)
    monkeypatch.setattr(DailyQuotas, "recent", fail)
    with flask_disabled(here):
        assert here.get(DECODE).status_code == 200


LIMITED = Identity("ana", "digest", "owner", frozenset({"decode"}), daily_limit=9)


def test_hits_read_the_ledger_once_a_second() -> None:
    now, reads = [0.0], [0]

    def allowance(_: object) -> Allowance:
        reads[0] += 1
        return Allowance(None, 9 - reads[0], 100.2)

    daily = DailyQuotas(allowance, lambda: now[0])
    assert [daily.recent(LIMITED) for _ in range(50)] == [
        Quota("daily-calls", 9, 86_400, 8, 101)
    ] * 50
    now[0] += 1.0
    assert daily.recent(LIMITED) == Quota("daily-calls", 9, 86_400, 7, 101)
    assert daily.read(LIMITED) == Quota("daily-calls", 9, 86_400, 6, 101)
    assert reads == [3]


def test_a_hit_does_not_wait_while_another_reads() -> None:
    now = [0.0]
    daily: DailyQuotas

    def allowance(_: object) -> Allowance:
        if now[0]:  # simulate a hit during the second call of ``recent``
            nested.append(daily.recent(LIMITED))
        return Allowance(None, 3, 10.0)

    nested: list[Quota | None] = []
    daily = DailyQuotas(allowance, lambda: now[0])
    first = daily.recent(LIMITED)
    now[0] = 5.0
    daily.recent(LIMITED)
    assert nested == [first]


def test_an_unreadable_ledger_costs_the_header_alone(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal()
    token = issue(here, "small", daily_limit=5)
    here.get(DECODE, token)

    def unavailable(*_: object) -> Any:
        raise OperationalError("select", {}, Exception())

    monkeypatch.setattr(here.parts.ledger._database, "reading", unavailable)
    monkeypatch.setattr("portal.web.http.rate_limits._RECENT_S", 0.0)
    response = here.get(DECODE, token)
    assert response.status_code == 200
    assert "RateLimit" not in response.headers
