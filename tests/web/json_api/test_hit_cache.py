"""The hit cache: invalidation of entries, access to entries, and memory limits."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from portal.gateway.lookup import Served
from portal.web.json_api.hit_cache import _ENTRY_BYTES, HitCache, _valid_for_s
from portal.web.observability import request_log
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.in_process import PORTAL_TOKEN, built, managed, pass_through
from tests.web.json_api.portal_pair import (
    PATHS,
    differences,
    flask_disabled,
    hit_cache_of,
    portal_pair,
)

DECODE = PATHS[0]


def hits(portal: Any, path: str = DECODE, **options: Any) -> bool:
    status: str = portal.get(path, **options).headers.get("Cache-Status", "")
    return status.startswith("portal; hit")


def test_purge_by_another_process_ends_hits(portal: PortalFactory) -> None:
    pair = portal_pair(portal)
    assert hits(pair.cached)
    purged = pair.flask.app.test_cli_runner().invoke(args=["purge", "ABC1D23"])
    assert purged.exit_code == 0, purged.output
    # HEAD reads only stored answers; a GET would store the answer again.
    wait_until(
        lambda: pair.cached.client.head(DECODE, headers=auth()).status_code == 504,
        "the purge at the hit cache",
    )


def test_hit_after_refresh_returns_the_new_answer(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal_pair(portal).cached
    before = here.get(DECODE)
    refreshed = here.get(DECODE, headers={"Cache-Control": "no-cache"})
    assert refreshed.headers["Cache-Status"] == "portal; fwd=request; stored"
    with flask_disabled(here):
        after = here.get(DECODE)
    assert int(after.headers["Age"]) <= int(before.headers["Age"]) + 1
    store = hit_cache_of(here)._gateway
    entry = next(each for name, each in hit_cache_of(here)._entries.items() if name[0] == DECODE)
    assert store.get_if_unchanged(entry.key, entry.fetched_at) == after.data
    assert upstream.count("/detran/v1/decode") == 2


def test_stale_answer_is_left_to_flask(portal: PortalFactory, upstream: FaultUpstream) -> None:
    pair = portal_pair(portal, FRESH_DECODE="1")
    upstream.default(faults.status(500))
    wait_until(lambda: not hits(pair.cached), "the expiry of the fresh answer")
    first, second = pair.ask(DECODE, headers=auth())
    assert first.status_code == 200
    assert first.headers["Cache-Status"] == "portal; fwd=stale"
    assert differences(first, second) == []


def test_pass_through_credentials_do_not_share_hits(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(pass_through(upstream.url))
    for token in ("first-caller", "second-caller"):
        for expected in ("fwd=miss", "hit", "hit"):
            answer = here.get(DECODE, token)
            assert expected in answer.headers["Cache-Status"], token
    asked = [call.header("authorization") for call in upstream.calls]
    assert asked == ["first-caller", "second-caller"]


def test_exception_in_the_hit_cache_falls_through_to_flask(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal_pair(portal).cached

    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(hit_cache_of(here), "_hit", broken)
    assert here.get(DECODE).status_code == 200


def test_rate_limit_counts_hits(portal: PortalFactory) -> None:
    here = portal(RATE_LIMIT_TOKEN="3/minute")
    assert [here.get(DECODE).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_hit_cache_is_disabled_without_memory(portal: PortalFactory) -> None:
    here = portal(EDGE_MEMORY_MB="0")
    assert not isinstance(here.app.wsgi_app, HitCache)
    assert here.get(DECODE).status_code == 200
    assert hits(here)


def test_entries_are_bounded(portal: PortalFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    here = portal_pair(portal).cached
    hit_cache = hit_cache_of(here)
    assert hit_cache._max_entries == 64 * 2**20 // 8 // _ENTRY_BYTES
    monkeypatch.setattr(hit_cache, "_max_entries", 3)
    for path in PATHS:
        assert hits(here, path)
    assert [name[0] for name in hit_cache._entries] == list(PATHS[-3:])


def test_long_request_is_not_cached(portal: PortalFactory) -> None:
    here = portal_pair(portal).cached
    hit_cache = hit_cache_of(here)
    for _ in range(2):
        assert hits(here, f"{DECODE}?x={'y' * 2000}")
    assert len(hit_cache._entries) == 0


def test_unused_entry_is_dropped_after_a_minute(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal_pair(portal).cached
    hit_cache = hit_cache_of(here)
    assert hits(here, PATHS[0])
    monkeypatch.setattr(hit_cache, "_monotonic", lambda: time.monotonic() + 30)
    assert hits(here, PATHS[1])
    monkeypatch.setattr(hit_cache, "_monotonic", lambda: time.monotonic() + 75)
    assert hits(here, PATHS[2])
    assert [name[0] for name in hit_cache._entries] == [PATHS[1], PATHS[2]]


def test_slow_log_reader_blocks_hits_above_twice_the_limit(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = hit_cache_of(portal_pair(portal).cached)._log
    monkeypatch.setattr(request_log, "MAX_PENDING", 5)
    labels = request_log.HitLabels.of("decode", "GET", "/rule", "ana", "portal; hit")
    hit = request_log.Hit(time.time(), 0.001, "id", labels)
    log_read = threading.Event()
    monkeypatch.setattr(log, "_write", lambda _hits: log_read.wait(10))

    def write() -> None:
        for _ in range(6):
            log.add(hit)

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: log._write_lock.locked(), "the acquisition of the write lock")
    for _ in range(10):
        log.add(hit)
    blocked = threading.Thread(target=log.add, args=(hit,))
    blocked.start()
    blocked.join(0.2)
    assert blocked.is_alive()
    log_read.set()
    for thread in (blocked, writer):
        thread.join(5)
        assert not thread.is_alive()


def test_entries_hold_no_bodies(portal: PortalFactory) -> None:
    here = portal_pair(portal).cached
    body = here.get(DECODE).data
    for entry in hit_cache_of(here)._entries.values():
        assert body not in [getattr(entry, name) for name in entry.__struct_fields__]


def test_entry_is_valid_until_the_age_changes() -> None:
    served = Served(
        200, b"{}", "hit", True, fetched_at=100.0, age_s=7, ttl_s=50, origin="", delete_at=200.0
    )
    assert _valid_for_s(served, now=107.25) == pytest.approx(0.75)
    assert _valid_for_s(served, now=109.0) == 0
    assert _valid_for_s(served, now=90.0) == 1.0  # with a clock that is 10 s slow


def test_entry_is_not_reused_in_the_last_fresh_second() -> None:
    served = Served(
        200, b"{}", "hit", True, fetched_at=100.0, age_s=7, ttl_s=0, origin="", delete_at=200.0
    )
    assert _valid_for_s(served, now=107.0) == 0


def test_applications_share_no_entries(tmp_path: Path, upstream: FaultUpstream) -> None:
    """The hit cache's entries belong to one application, not to the process."""
    with (
        built(tmp_path / "one", managed(upstream.url)) as one,
        built(tmp_path / "two", managed(upstream.url)) as two,
    ):
        for each in (one, two):
            assert "fwd=miss" in each.get(DECODE).headers["Cache-Status"]
            assert hits(each)


def auth() -> dict[str, str]:
    return {"Authorization": PORTAL_TOKEN}
