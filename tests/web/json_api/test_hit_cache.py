"""The edge's own promises: what ends a hit, whose answers they are, how much it remembers."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from portal.gateway import Served
from portal.web.json_api import access_log_buffer
from portal.web.json_api.hit_cache import _ENTRY_BYTES, Edge, _valid_for_s
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.in_process import PORTAL_TOKEN, built, managed, pass_through
from tests.web.json_api.both_ways import PATHS, both_ways, edge_of, flask_asleep, tell_apart

DECODE = PATHS[0]


def hits(portal: Any, path: str = DECODE, **options: Any) -> bool:
    return portal.get(path, **options).headers.get("Cache-Status", "").startswith("portal; hit")


def test_a_purge_by_another_process_ends_the_hits(portal: PortalFactory) -> None:
    pair = both_ways(portal)
    assert hits(pair.edge)
    purged = pair.long.app.test_cli_runner().invoke(args=["purge", "ABC1D23"])
    assert purged.exit_code == 0, purged.output
    # HEAD asks for what is stored alone: an upstream call would store it anew.
    wait_until(
        lambda: pair.edge.client.head(DECODE, headers=auth()).status_code == 504,
        "the purge was not seen by the edge",
    )


def test_a_refresh_is_what_the_next_hit_brings(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = both_ways(portal).edge
    before = here.get(DECODE)
    refreshed = here.get(DECODE, headers={"Cache-Control": "no-cache"})
    assert refreshed.headers["Cache-Status"] == "portal; fwd=request; stored"
    with flask_asleep(here):
        after = here.get(DECODE)
    assert int(after.headers["Age"]) <= int(before.headers["Age"]) + 1
    store = edge_of(here)._gateway
    entry = next(each for name, each in edge_of(here)._entries.items() if name[0] == DECODE)
    assert store.get_if_unchanged(entry.key, entry.fetched_at) == after.data
    assert upstream.count("/detran/v1/decode") == 2


def test_a_stale_answer_is_the_long_ways(portal: PortalFactory, upstream: FaultUpstream) -> None:
    pair = both_ways(portal, FRESH_DECODE="1")
    upstream.default(faults.status(500))
    wait_until(lambda: not hits(pair.edge), "the answer went stale")
    first, second = pair.ask(DECODE, headers=auth())
    assert first.status_code == 200
    assert first.headers["Cache-Status"] == "portal; fwd=stale"
    assert tell_apart(first, second) == []


def test_callers_with_credentials_of_their_own_never_share_a_hit(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(pass_through(upstream.url))
    for token in ("first-caller", "second-caller"):
        for expected in ("fwd=miss", "hit", "hit"):
            answer = here.get(DECODE, token)
            assert expected in answer.headers["Cache-Status"], token
    asked = [call.header("authorization") for call in upstream.calls]
    assert asked == ["first-caller", "second-caller"]


def test_a_hit_that_breaks_takes_the_long_way(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = both_ways(portal).edge

    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(edge_of(here), "_hit", broken)
    assert here.get(DECODE).status_code == 200


def test_limited_requests_are_counted_one_by_one(portal: PortalFactory) -> None:
    here = portal(RATE_LIMIT_TOKEN="3/minute")
    assert [here.get(DECODE).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_without_memory_there_is_no_edge(portal: PortalFactory) -> None:
    here = portal(EDGE_MEMORY_MB="0")
    assert not isinstance(here.app.wsgi_app, Edge)
    assert here.get(DECODE).status_code == 200
    assert hits(here)


def test_what_the_edge_remembers_is_bounded(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = both_ways(portal).edge
    edge = edge_of(here)
    assert edge._max_entries == 64 * 2**20 // 8 // _ENTRY_BYTES
    monkeypatch.setattr(edge, "_max_entries", 3)
    for path in PATHS:
        assert hits(here, path)
    assert [name[0] for name in edge._entries] == list(PATHS[-3:])


def test_a_request_that_is_spelt_at_length_is_not_remembered(portal: PortalFactory) -> None:
    here = both_ways(portal).edge
    edge = edge_of(here)
    for _ in range(2):
        assert hits(here, f"{DECODE}?x={'y' * 2000}")
    assert len(edge._entries) == 0


def test_a_request_that_nobody_repeats_is_forgotten(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = both_ways(portal).edge
    edge = edge_of(here)
    assert hits(here, PATHS[0])
    monkeypatch.setattr(edge, "_monotonic", lambda: time.monotonic() + 30)
    assert hits(here, PATHS[1])
    monkeypatch.setattr(edge, "_monotonic", lambda: time.monotonic() + 75)
    assert hits(here, PATHS[2])
    assert [name[0] for name in edge._entries] == [PATHS[1], PATHS[2]]


def test_a_log_that_nobody_reads_holds_hits_up_before_it_fills_the_memory(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = edge_of(both_ways(portal).edge)._log
    monkeypatch.setattr(access_log_buffer, "MAX_PENDING", 5)
    labels = access_log_buffer.HitLabels.of("decode", "GET", "/rule", "portal; hit")
    hit = access_log_buffer.Hit(time.time(), 0.001, "id", labels)
    read = threading.Event()
    monkeypatch.setattr(log, "_write", lambda _hits: read.wait(10))
    writer = threading.Thread(target=lambda: [log.add(hit) for _ in range(6)])
    writer.start()
    wait_until(lambda: log._write_lock.locked(), "nobody writes")
    for _ in range(10):
        log.add(hit)
    held_up = threading.Thread(target=log.add, args=(hit,))
    held_up.start()
    held_up.join(0.2)
    assert held_up.is_alive()
    read.set()
    for thread in (held_up, writer):
        thread.join(5)
        assert not thread.is_alive()


def test_it_remembers_judgements_and_no_bodies(portal: PortalFactory) -> None:
    here = both_ways(portal).edge
    body = here.get(DECODE).data
    for entry in edge_of(here)._entries.values():
        assert body not in [getattr(entry, name) for name in entry.__slots__]


def test_a_judgement_holds_until_the_age_changes() -> None:
    served = Served(200, b"{}", "hit", True, fetched_at=100.0, age_s=7, ttl_s=50, origin="")
    assert _valid_for_s(served, now=107.25) == pytest.approx(0.75)
    assert _valid_for_s(served, now=109.0) == 0
    assert _valid_for_s(served, now=90.0) == 1.0  # another machine's clock: a second at most


def test_in_its_last_second_an_answer_is_judged_each_time() -> None:
    served = Served(200, b"{}", "hit", True, fetched_at=100.0, age_s=7, ttl_s=0, origin="")
    assert _valid_for_s(served, now=107.0) == 0


def test_another_data_directory_is_another_portal(tmp_path: Path, upstream: FaultUpstream) -> None:
    """What the edge remembers belongs to its own application, not to the process."""
    with (
        built(tmp_path / "one", managed(upstream.url)) as one,
        built(tmp_path / "two", managed(upstream.url)) as two,
    ):
        for each in (one, two):
            assert "fwd=miss" in each.get(DECODE).headers["Cache-Status"]
            assert hits(each)


def auth() -> dict[str, str]:
    return {"Authorization": PORTAL_TOKEN}
