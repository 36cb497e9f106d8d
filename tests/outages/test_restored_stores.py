"""The store returns with an old snapshot, another secret key or other lifetimes."""

import shutil
import time
from pathlib import Path

import pytest
import redis

from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.ports import wait_until
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import PortalProcess, RedisProcess

HEADER = {"Authorization": PORTAL_TOKEN}
CACHED_ONLY = HEADER | {"Cache-Control": "only-if-cached"}
PLATE = "ABC1234"
DECODE = path_of("decode", PLATE)
KEY = "a secret that portals share"


def shared(upstream: FaultUpstream, store: RedisProcess, data: Path) -> dict[str, str]:
    return managed(upstream.url) | {
        "PORTAL_REDIS_URL": store.url,
        "PORTAL_SECRET_KEY": KEY,
        "PORTAL_DATA_DIR": str(data),
    }


@pytest.mark.long
def test_purged_answer_does_not_return_with_redis_snapshot(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    with (
        RedisProcess(save="3600 1") as store,
        PortalProcess(shared(upstream, store, tmp_path), workers=1) as server,
    ):
        assert server.get(DECODE, headers=HEADER).status_code == 200
        client = redis.Redis(port=store.port)
        client.save()
        client.close()
        dump = store.directory / "dump.rdb"
        before = dump.read_bytes()
        purged = server.command_line("purge", PLATE)
        assert (purged.returncode, purged.stdout) == (0, "Purged 1 stored answers.\n")
        assert PLATE.encode() not in dump.read_bytes()
        store.kill()
        dump.write_bytes(before)  # a restored backup that is older than the purge
        store.start()
        wait_until(lambda: server.get("/readyz").status_code == 200, "readiness")
        assert server.get(DECODE, headers=CACHED_ONLY).status_code == 504
    assert upstream.count() == 1


@pytest.mark.long
def test_snapshot_is_restored_as_base_of_the_append_only_file(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """Follow docs/operating.md. With an append-only file Redis reads no dump.rdb."""
    with (
        RedisProcess(appendonly="yes") as store,
        PortalProcess(shared(upstream, store, tmp_path), workers=1) as server,
    ):
        assert server.get(DECODE, headers=HEADER).status_code == 200
        with redis.Redis(port=store.port) as client:
            client.save()
        snapshot = (store.directory / "dump.rdb").read_bytes()
        store.kill()
        files = store.directory / "appendonlydir"
        shutil.rmtree(files)
        files.mkdir()
        (files / "appendonly.aof.1.base.rdb").write_bytes(snapshot)
        manifest = "file appendonly.aof.1.base.rdb seq 1 type b"
        assert f"echo '{manifest}' >" in (CHECKOUT / "docs/operating.md").read_text("utf-8")
        (files / "appendonly.aof.manifest").write_text(f"{manifest}\n")
        store.start()
        server.stop()
        server.start()
        assert server.get(DECODE, headers=CACHED_ONLY).status_code == 200
    assert upstream.count() == 1


def test_cache_file_of_another_database_is_refused_and_kept(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """Under another data key, no purge would find the file's answers."""
    settings = managed(upstream.url) | {
        "PORTAL_DATA_DIR": str(tmp_path),
        "PORTAL_SECRET_KEY": KEY,
    }
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=HEADER).status_code == 200
        server.stop()
        (tmp_path / "portal.sqlite").rename(tmp_path / "lost.sqlite")
        with pytest.raises(AssertionError, match=r"cache.sqlite is of another database"):
            server.start()
        (tmp_path / "lost.sqlite").rename(tmp_path / "portal.sqlite")
        server.start()
        assert server.get(DECODE, headers=CACHED_ONLY).status_code == 200
        server.stop()
        (tmp_path / "portal.sqlite").unlink()
        (tmp_path / "cache.sqlite").unlink()
        server.start()


def test_start_under_another_key_is_refused_on_a_shared_sqlite_url(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    settings = managed(upstream.url) | {"PORTAL_DATABASE_URL": url}
    with PortalProcess(settings | {"PORTAL_DATA_DIR": str(tmp_path / "one")}, workers=1):
        second = PortalProcess(settings | {"PORTAL_DATA_DIR": str(tmp_path / "two")}, workers=1)
        try:
            with pytest.raises(AssertionError, match="another secret key"):
                second.start()
        finally:
            second.close()


def test_another_upstreams_lifetimes_leave_stored_answers_alone(
    tmp_path: Path, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    data = {"PORTAL_DATA_DIR": str(tmp_path)}
    short = {"PORTAL_FRESH_DECODE": "1", "PORTAL_STALE_DECODE": "0"}
    with PortalProcess(managed(upstream.url) | data, workers=1) as server:
        assert server.get(DECODE, headers=HEADER).status_code == 200
    with PortalProcess(managed(secondary.url) | data | short, workers=1) as server:
        assert server.get(DECODE, headers=HEADER).status_code == 200
        time.sleep(4)  # several times as long as ``short`` keeps answers
    with PortalProcess(managed(upstream.url) | data, workers=1) as server:
        kept = server.get(DECODE, headers=HEADER)
        assert kept.headers["Cache-Status"].startswith("portal; hit")
    assert upstream.count() == 1


def test_leftover_lease_files_are_removed_at_start(tmp_path: Path, upstream: FaultUpstream) -> None:
    leases = tmp_path / "leases"
    leases.mkdir()
    (leases / "0123-name").touch()
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path)}
    with PortalProcess(settings, workers=1):
        assert not list(leases.iterdir())
