"""The secret key is rotated under load: nobody is signed out, nothing is paid for again."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.effort import cases
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed, pass_through
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, in_turn
from tests.outages.round_robin import RoundRobin
from tests.outages.test_dossiers import issue
from tests.outages.visitor import signed_in

HEADER = {"Authorization": PORTAL_TOKEN}
ONLY_IF_CACHED = {**HEADER, "Cache-Control": "only-if-cached"}
OLD, NEW = "the key of the past year", "the key of the coming year"
STORED = [f"DEF{at // 100}G{at % 100:02}" for at in range(cases(60, 200))]
FRESH = [f"GHJ{at // 100 % 10}{chr(65 + at // 1000)}{at % 100:02}" for at in range(2_000)]
PER_SECOND = cases(30, 200)

Keys = tuple[str, str]  # the current key, and the value of PORTAL_SECRET_KEYS_OLD


def keys(current: str, old: str) -> dict[str, str]:
    return {"PORTAL_SECRET_KEY": current, "PORTAL_SECRET_KEYS_OLD": old}


@pytest.fixture
def portals(upstream: FaultUpstream, postgres: PostgresProcess) -> Iterator[list[PortalProcess]]:
    with ExitStack() as stack, RedisProcess() as store, ThreadPoolExecutor(2) as starting:
        settings = {
            **managed(upstream.url),
            **PATIENT,
            **keys(OLD, ""),
            "PORTAL_REDIS_URL": store.url,
            "PORTAL_DATABASE_URL": postgres.new_database(),
            "PORTAL_DRAIN_SECONDS": "2",
        }
        both = [PortalProcess(settings, workers=1) for _ in range(2)]
        for portal in both:
            stack.callback(portal.close)
        yield list(starting.map(PortalProcess.start, both))


def asks(plates: list[str], headers: dict[str, str] = HEADER) -> list[Ask]:
    return [Ask(path_of("decode", plate), headers) for plate in plates]


def statuses(portal: PortalProcess, some: list[Ask]) -> Counter[int]:
    return Counter(answer.status for answer in in_turn(portal.port, some, 8))


@pytest.mark.long
def test_rotation_under_load(portals: list[PortalProcess], upstream: FaultUpstream) -> None:
    here, there = portals
    assert statuses(here, asks(STORED)) == {200: len(STORED)}
    cookie = signed_in(here)
    link = issue(here)
    batch = here.post("/api/v1/batches", json={"plates": STORED[:3]}, headers=HEADER).json()["id"]
    paid = upstream.count()

    def ask(number: int) -> Ask:
        if number % 20 == 0:
            return Ask("/lote", cookie)  # 303 would mean that the visitor was signed out
        if number % 20 == 1:
            return Ask(f"/api/v1/batches/{batch}", HEADER)
        plates = FRESH if number % 4 == 2 else STORED
        return asks([plates[number // 4 % len(plates)]])[0]

    with RoundRobin([here.port, there.port], ask, PER_SECOND) as proxy:
        for step in (keys(OLD, NEW), keys(NEW, OLD), keys(NEW, "")):
            for portal in portals:
                wait_until(lambda: all(map(proxy.is_ready, proxy.ports)), "both portals", 120)
                portal.configure(**step)
                assert portal.stop() == 0
                portal.start()
        wait_until(lambda: proxy.sent >= PER_SECOND * 10, "the requests", 300)
    assert proxy.failures == []
    assert "unexpected" not in here.output + there.output
    assert Counter(answer.status for answer in proxy.answers) == {200: proxy.sent}
    fresh = {call.path for call in upstream.calls[paid:]}
    assert upstream.count() == paid + len(fresh)
    assert not any(path_of("decode", plate) in fresh for plate in STORED)

    for portal in portals:
        assert statuses(portal, asks(STORED, ONLY_IF_CACHED)) == {200: len(STORED)}
        assert portal.get("/lote", headers=cookie).status_code == 200
        assert portal.get(link).status_code == 200
        assert portal.get(f"/api/v1/batches/{batch}/results.csv", headers=HEADER).ok
    assert here.command_line("purge", STORED[0]).stdout.startswith("Purged 1 ")
    assert statuses(there, asks(STORED[:1], ONLY_IF_CACHED)) == {504: 1}

    # The old key is retired: nothing can be read with it alone, and nothing depends on it.
    there.stop()
    there.configure(**keys(OLD, ""))
    with pytest.raises(AssertionError, match="another secret key"):
        there.start()
    done = here.command_line("key", "forget", "--yes")
    assert (done.returncode, "nothing to forget" in done.stdout) == (0, True), done
    assert here.get("/lote", headers=cookie).status_code == 200


@pytest.mark.parametrize("mode", [managed, pass_through])
def test_embedded_key_is_rotated_by_a_new_file(
    upstream: FaultUpstream, tmp_path: Path, mode: object
) -> None:
    data = tmp_path / "data"
    settings = mode(upstream.url) | {"PORTAL_DATA_DIR": str(data)}  # type: ignore[operator]
    with PortalProcess(settings, workers=1) as portal:
        assert statuses(portal, asks(STORED[:20])) == {200: 20}
        cookie = signed_in(portal)
        assert portal.get(f"/placa/{STORED[0]}?completo=1", headers=cookie).ok
        paid = upstream.count()
        portal.stop()
        (data / "secret_key").rename(data / "secret_key.old")
        portal.configure(PORTAL_SECRET_KEYS_OLD_FILE=str(data / "secret_key.old"))
        portal.start()
        portal.stop()
        (data / "secret_key.old").unlink()
        portal.configure(PORTAL_SECRET_KEYS_OLD_FILE="")
        portal.start()
        assert statuses(portal, asks(STORED[:20])) == {200: 20}
        home = portal.get("/", headers=cookie)
        assert STORED[0] in home.text
        assert portal.get("/lote", headers=cookie).status_code == 200
        assert upstream.count() == paid
