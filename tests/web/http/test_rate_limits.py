"""Rate limits. By default only sign-ins are limited. A 429 has Retry-After."""

import itertools
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from portal.system.shared_counters import SharedCounters
from portal.web.http import rate_limits
from portal.web.http.rate_limits import LIMIT_COUNTERS, RateLimits, network
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, refused_url, wait_until
from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.web.json_paths import PLATE, QUESTIONS, ask, expect_message, issue, no_upstream_call
from tests.web.page_client import PageClient
from tests.web.person import Person

AUTH = {"Authorization": PORTAL_TOKEN}
FAR = {"X-Forwarded-For": "192.0.2.7"}


def test_requests_are_unlimited_by_default(portal: PortalFactory) -> None:
    here = portal()
    for _ in range(200):
        assert ask(here, QUESTIONS[0], headers=AUTH).status_code == 200


def test_token_over_limit_is_429_with_retry_after_even_for_hits(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(RATE_LIMIT_TOKEN="3/hour")
    for _ in range(3):
        assert ask(here, QUESTIONS[0], headers=AUTH).status_code == 200
    with no_upstream_call(upstream):
        for question in QUESTIONS[:3]:
            response = ask(here, question, headers=AUTH)
            expect_message(response, 429)
            assert 1 <= int(response.headers["Retry-After"]) <= 3600
    other = {"Authorization": issue(here, "other")}
    assert ask(here, QUESTIONS[0], headers=other).status_code == 200


def test_address_over_limit_is_429_with_any_token(portal: PortalFactory) -> None:
    here = portal(RATE_LIMIT_ADDRESS="2/hour", TRUSTED_PROXIES="1")
    tokens = [issue(here, f"token-{number}") for number in range(3)]
    for token, status in zip(tokens, (200, 200, 429), strict=True):
        response = ask(here, QUESTIONS[0], headers={"Authorization": token, **FAR})
        assert response.status_code == status
    near = {**AUTH, "X-Forwarded-For": "192.0.2.8"}
    assert ask(here, QUESTIONS[0], headers=near).status_code == 200


def test_invalid_request_over_limit_keeps_its_own_status(
    portal: PortalFactory,
) -> None:
    here = portal(RATE_LIMIT_TOKEN="1/hour", RATE_LIMIT_ADDRESS="1/hour")
    narrow = {"Authorization": issue(here, "narrow", frozenset({"renajud"}))}
    assert ask(here, QUESTIONS[0], headers=AUTH).status_code == 200
    expect_message(ask(here, QUESTIONS[0], headers=AUTH), 429)
    expect_message(here.get("/detran/v1/decode"), 404)
    expect_message(ask(here, QUESTIONS[0], method="DELETE", headers=AUTH), 405)
    expect_message(ask(here, QUESTIONS[0]), 401)
    expect_message(ask(here, QUESTIONS[0], headers=narrow), 403)
    expect_message(here.get("/detran/v1/decode/X"), 400)
    assert ask(here, QUESTIONS[0], method="OPTIONS").status_code == 204


def test_limit_counts_vehicle_pages_and_not_public_pages(portal: PortalFactory) -> None:
    here = portal(RATE_LIMIT_TOKEN="2/hour")
    ana = Person.at(here).signed_in()
    for _ in range(2):
        assert ana.client.get(f"/placa/{PLATE}").status_code == 200
    page = ana.client.get(f"/placa/{PLATE}")
    assert page.status_code == 429
    assert int(page.headers["Retry-After"]) >= 1
    assert "Pedidos demais" in page.get_data(as_text=True)
    for path in ("/", "/glossario", "/healthz", "/api"):
        assert ana.client.get(path).status_code == 200


def test_wrong_sign_ins_limit_only_their_own_address(portal: PortalFactory) -> None:
    here = portal(TRUSTED_PROXIES="1")
    eve = Person.at(here)
    for _ in range(5):
        assert eve.sign_in("wrong", headers=FAR).status_code == 401
    for token in ("wrong", PORTAL_TOKEN):
        response = eve.sign_in(token, headers=FAR)
        assert response.status_code == 429
        assert 1 <= int(response.headers["Retry-After"]) <= 60
        assert "Espere" in response.get_data(as_text=True)
    assert Person.at(here).sign_in(headers={"X-Forwarded-For": "192.0.2.8"}).status_code == 303


def test_sign_in_says_the_wait_in_the_words_of_other_pages(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RateLimits, "sign_in", lambda *_: 90)
    refused = Person.at(portal()).sign_in("wrong")
    assert refused.headers["Retry-After"] == "90"
    assert "Espere 1 minuto e 30 segundos e tente de novo." in refused.get_data(as_text=True)


def test_valid_sign_in_resets_the_counter(portal: PortalFactory) -> None:
    here = portal()
    for _ in range(4):
        ana = Person.at(here)
        for _ in range(4):
            assert ana.sign_in("slip").status_code == 401
        assert ana.sign_in().status_code == 303


def test_concurrent_sign_ins_are_all_counted() -> None:
    limits = RateLimits()
    with ThreadPoolExecutor(16) as pool:
        waits = list(pool.map(lambda _: limits.sign_in("192.0.2.1"), range(200)))
    assert waits.count(None) == 5


def test_first_sign_ins_of_a_process_share_one_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: without a lock each thread made counters of its own."""
    strategy = rate_limits._strategy

    def slow_strategy(storage: Any) -> Any:
        time.sleep(0.1)
        return strategy(storage)

    monkeypatch.setattr(rate_limits, "_strategy", slow_strategy)
    limits, start = RateLimits(), threading.Barrier(60)

    def sign_in(_number: int) -> int | None:
        start.wait()
        return limits.sign_in("192.0.2.7")

    with ThreadPoolExecutor(60) as pool:
        waits = list(pool.map(sign_in, range(60)))
    assert waits.count(None) == 5


def test_requests_rejected_by_the_minute_do_not_count_for_the_hour() -> None:
    limits = RateLimits(address="100/hour;2/minute")
    waits = [limits.request("192.0.2.1") for _ in range(150)]
    assert waits[:2] == [None, None]
    assert all(wait is not None and wait <= 60 for wait in waits[2:])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        (None, "unknown"),
        ("unix:", "unknown"),
    ],
)
def test_network_groups_ipv6_by_64_prefix(address: str | None, expected: str) -> None:
    assert network(address) == expected


def test_limits_apply_per_process_while_redis_is_down() -> None:
    limits = RateLimits(address="2/hour", redis_url=refused_url().replace("http", "redis"))
    assert [limits.request("192.0.2.1") is None for _ in range(3)] == [True, True, False]


def test_processes_share_the_count_in_a_file(tmp_path: Path) -> None:
    both = [
        RateLimits(token="3/hour", counters=SharedCounters(LIMIT_COUNTERS, tmp_path / "limits"))
        for _ in range(2)
    ]
    waits = [both[turn % 2].request("192.0.2.1", "digest") for turn in range(5)]
    assert [wait is None for wait in waits] == [True, True, True, False, False]
    (quota,) = both[0].windows(None, "digest")
    assert quota.left == 0
    assert both[1].request("192.0.2.1", "other") is None


def test_counts_of_many_addresses_stay_apart() -> None:
    limits = RateLimits(address="2/hour")
    addresses = [f"192.0.{number // 250}.{number % 250}" for number in range(2000)]
    for expected in (True, True, False):
        assert {limits.request(each) is None for each in addresses} == {expected}


@pytest.mark.slow
def test_workers_together_let_exactly_the_limit_pass() -> None:
    """Each request has a connection of its own, so that both workers get some."""
    limit = {"PORTAL_RATE_LIMIT_TOKEN": "30/hour"}
    left: list[int] = []
    with PortalProcess(limit) as portal:
        statuses: Counter[int] = Counter()
        for _ in range(70):
            answer = portal.get(f"/detran/v1/decode/{PLATE}", headers={"Authorization": "demo"})
            statuses[answer.status_code] += 1
            left.append(int(answer.headers["RateLimit"].split("r=")[1].split(";")[0]))
    assert statuses == {200: 30, 429: 40}
    assert left == sorted(left, reverse=True)


@pytest.mark.long
@pytest.mark.slow
def test_processes_share_the_count_in_redis() -> None:
    with RedisProcess() as redis:
        both = [RateLimits(token="3/hour", redis_url=redis.url) for _ in range(2)]
        waits = [both[turn % 2].request("192.0.2.1", "digest") for turn in range(5)]
        assert [wait is None for wait in waits] == [True, True, True, False, False]
        redis.kill()
        assert both[0].request("192.0.2.1", "digest") is None
        redis.start()
        tokens = itertools.count()

        def share_again() -> bool:
            token = f"digest {next(tokens)}"
            return None not in [both[turn % 2].request(None, token) for turn in range(4)][3:]

        wait_until(share_again, "the shared count")


def test_page_429_links_back_to_itself_only_if_the_wait_is_short(
    portal: PortalFactory,
) -> None:
    address = "/comparar?placas=ABC1D23,XYZ9K99"
    pages = PageClient(portal({"PORTAL_RATE_LIMIT_ADDRESS": "1 per 5 second"}).client)
    pages.get(address)
    refused = pages.get(address, 429)
    assert refused.all("a", href=address)
    assert "Tentar de novo" in refused.text
    pages = PageClient(portal({"PORTAL_RATE_LIMIT_ADDRESS": "1/hour"}).client)
    pages.get(address)
    refused = pages.get(address, 429)
    assert not refused.all("a", href=address)
    assert re.search("Espere .*(hora|minutos).* e tente de novo", refused.text)
    missing = PageClient(portal({}).client).get("/nada", 404)
    assert "Tentar de novo" not in missing.text
