"""Many programs poll lists and batches while others read pages, hits and misses."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.batch.engine import plates
from tests.batch.servers import AUTH
from tests.effort import seconds
from tests.fakes import FaultUpstream
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, one

pytestmark = pytest.mark.long

POLLERS, EVERY_S = 64, 1.0
SECONDS = seconds(short=3.0, full=30.0)


def created(portal: PortalProcess, texts: Sequence[str]) -> str:
    body: dict[str, Any] = {"plates": list(texts), "ask": ["decode"]}
    return str(portal.post("/api/v1/batches", json=body, headers=AUTH).json()["id"])


def test_sixty_four_pollers_stall_nobody(upstream: FaultUpstream) -> None:
    with PortalProcess(managed(upstream.url) | {"PORTAL_PRICE_DECODE": "0.85"}) as portal:
        lists = [created(portal, plates(500)), *(created(portal, plates(20)) for _ in range(12))]
        for batch in lists[1:4]:
            portal.post(f"/api/v1/batches/{batch}/start", headers=AUTH)
        portal.get("/detran/v1/decode/ABC1D23", headers=AUTH)
        unknown = plates(9_000)
        kinds: dict[str, Callable[[int], str]] = {
            "list": lambda _: "/api/v1/batches",
            "batch": lambda number: f"/api/v1/batches/{lists[number % len(lists)]}",
            "hit": lambda _: "/detran/v1/decode/ABC1D23",
            "miss": lambda number: f"/detran/v1/decode/{unknown[number]}",
            "page": lambda _: "/",
        }
        answers: dict[str, list[Answer]] = {kind: [] for kind in kinds}
        until = time.monotonic() + SECONDS
        numbers = iter(range(1_000, 9_000))

        def poll(kind: str) -> None:
            while time.monotonic() < until:
                answer = one(portal.port, Ask(kinds[kind](next(numbers)), AUTH))
                answers[kind].append(answer)
                time.sleep(max(0.0, EVERY_S - answer.seconds))

        threads = [
            threading.Thread(target=poll, args=(("list", "batch")[number % 2],))
            for number in range(POLLERS)
        ]
        threads += [threading.Thread(target=poll, args=(kind,)) for kind in ("hit", "miss", "page")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for kind, given in answers.items():
        assert Counter(answer.status for answer in given) == {200: len(given)}, kind
