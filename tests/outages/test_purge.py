"""A purge on a running server clears every file and covers lookups in flight."""

import os
import re
import shutil
import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, one, together
from tests.outages.stored import (
    HEADER,
    OTHER,
    PLATE,
    is_stored,
    lookup,
    serving,
    submit_lookup,
    tag_of,
)
from tests.outages.visitor import signed_in


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with serving(upstream) as running:
        yield running


@pytest.fixture
def store() -> Iterator[RedisProcess]:
    pytest.importorskip("redis", reason="redis-py is not installed")
    with RedisProcess() as running:
        yield running


def test_purge_ends_the_lookups_of_a_running_batch(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    """The answer in flight is not stored, and the plate's other lookups are not sent."""
    gate = threading.Event()
    upstream.script(path_of("decode", PLATE), faults.held(gate))
    body = {"plates": [PLATE, OTHER]}
    created = server.post("/api/v1/batches", json=body, headers=HEADER).json()
    batch = f"/api/v1/batches/{created['id']}"
    try:
        assert server.post(f"{batch}/start", headers=HEADER).status_code == 200
        wait_until(lambda: upstream.count(path_of("decode", PLATE)), "the first lookup")
        assert server.command_line("purge", PLATE).returncode == 0
    finally:
        gate.set()
    wait_until(
        lambda: server.get(batch, headers=HEADER).json()["state"] == "done", "the batch's end"
    )
    for operation in ("decode", "renainf", "renajud"):
        only_stored = {**HEADER, "Cache-Control": "only-if-cached"}
        assert server.get(path_of(operation, PLATE), headers=only_stored).status_code == 504
        assert server.get(path_of(operation, OTHER), headers=only_stored).status_code == 200
    assert upstream.count() == 4


def files_holding(folder: Path, *traces: bytes) -> set[str]:
    """Return the files with any of the byte strings in their contents or names."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.name.encode() + path.read_bytes()
            found |= {path.name for trace in traces if trace in text}
    return found


def sealed_cells(server: PortalProcess, plate: str) -> list[bytes]:
    with closing(sqlite3.connect(server.data_dir / "portal.sqlite")) as database:
        rows = database.execute(
            "SELECT sealed FROM history WHERE subject = ?", (tag_of(plate).decode(),)
        ).fetchall()
    return [sealed for (sealed,) in rows]


def visit(server: PortalProcess, cookie: dict[str, str], plate: str) -> None:
    assert one(server.port, Ask(f"/placa/{plate}?completo=1", cookie)).status == 200


# Bytes in files


@contextmanager
def traffic(server: PortalProcess) -> Iterator[None]:
    """Send lookups and page visits of other plates until the block ends."""
    ended, cookie = threading.Event(), signed_in(server)

    def send_requests(letter: str) -> None:
        number = 0
        while not ended.is_set():
            number += 1
            plate = f"AB{letter}{number // 100 % 10}D{number % 100:02}"
            lookup(server, plate)
            one(server.port, Ask(f"/placa/{plate}?completo=1", cookie))

    clients = [threading.Thread(target=send_requests, args=(letter,)) for letter in "ABC"]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        ended.set()
        for client in clients:
            client.join(60)


def test_purge_under_traffic_leaves_no_byte_in_any_file(server: PortalProcess) -> None:
    visit(server, signed_in(server), PLATE)
    with traffic(server):
        wait_until(lambda: sealed_cells(server, PLATE), "the visit in the history")
        sealed = sealed_cells(server, PLATE)
        assert files_holding(server.data_dir, *sealed)
        done = server.command_line("purge", PLATE)
        assert done.returncode == 0, done.stderr
        assert files_holding(server.data_dir, *sealed, tag_of(PLATE)) == set()
        assert is_stored(server, PLATE) == {False}


def test_erased_history_leaves_no_byte_in_any_file(server: PortalProcess) -> None:
    cookie = signed_in(server)
    visit(server, cookie, PLATE)
    sealed = sealed_cells(server, PLATE)
    assert sealed
    page = server.get("/", headers=cookie)
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)
    assert token is not None
    if "portal" in page.cookies:  # the response set a session with a new CSRF token
        cookie = {"Cookie": f"portal={page.cookies['portal']}"}
    done = server.post("/historico/apagar", data={"csrf_token": token[1]}, headers=cookie)
    assert done.status_code == 303
    assert files_holding(server.data_dir, *sealed) == set()


# Lookups in flight


def test_lookup_in_flight_is_answered_but_not_stored(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    _purge_during_a_lookup(server, upstream)


@pytest.mark.long
def test_lookup_in_flight_is_not_stored_in_redis(
    upstream: FaultUpstream, store: RedisProcess
) -> None:
    with serving(upstream, REDIS_URL=store.url) as server:
        _purge_during_a_lookup(server, upstream)


def _purge_during_a_lookup(server: PortalProcess, upstream: FaultUpstream) -> None:
    gate = threading.Event()
    upstream.default(faults.held(gate))
    with ThreadPoolExecutor(2) as pool:
        purged, kept = (submit_lookup(pool, server, plate) for plate in (PLATE, OTHER))
        try:
            upstream.wait_for_calls(2)
            done = server.command_line("purge", PLATE)
        finally:
            gate.set()
        assert (done.returncode, done.stdout) == (0, "Purged 0 stored answers.\n")
        assert (purged.result().status, kept.result().status) == (200, 200)
    assert purged.result().headers["cache-status"] == "portal; fwd=miss"
    assert is_stored(server, PLATE) == {False}
    assert is_stored(server, OTHER) == {True}
    assert upstream.count() == 2
    assert lookup(server, PLATE).headers["cache-status"] == "portal; fwd=miss; stored"
    assert is_stored(server, PLATE) == {True}


def test_purge_removes_only_the_lease_of_a_killed_worker(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    gate, leases = threading.Event(), server.data_dir / "leases"
    upstream.default(faults.held(gate))
    with ThreadPoolExecutor(2) as pool:
        try:
            submit_lookup(pool, server, PLATE)
            upstream.wait_for_calls(1)
            for worker in server.worker_pids():
                server.kill_worker(worker)
            wait_until(lambda: server.answers(), "the replacement")
            left = {path.name for path in leases.iterdir()}
            assert files_holding(leases, tag_of(PLATE)) == left != set()
            submit_lookup(pool, server, OTHER)
            upstream.wait_for_calls(2)
            for plate in (PLATE, OTHER):
                assert server.command_line("purge", plate).returncode == 0
            assert files_holding(leases, tag_of(PLATE)) == set()
            assert files_holding(leases, tag_of(OTHER)) != set()  # a held lease is not removed
        finally:
            gate.set()
    wait_until(lambda: list(leases.iterdir()) == [], "the end of the held lease")


def test_removed_lease_directory_is_recreated(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    lookup(server, OTHER)
    shutil.rmtree(server.data_dir / "leases")
    upstream.default(faults.slow_first_byte(0.5))
    answers = together(server.port, [Ask(path_of("decode"), HEADER)] * 60)
    assert {answer.status for answer in answers} == {200}
    assert upstream.count(path_of("decode")) == 1


# Redis


@pytest.mark.long
def test_purge_deletes_a_vehicles_keys_from_redis(
    upstream: FaultUpstream, store: RedisProcess
) -> None:
    from redis import Redis

    with serving(upstream, REDIS_URL=store.url) as server, Redis.from_url(store.url) as client:
        for plate in (PLATE, OTHER):
            lookup(server, plate)
        done = server.command_line("purge", PLATE)
        assert (done.returncode, done.stdout) == (0, "Purged 1 stored answers.\n")
        assert [key for key in client.keys("*") if tag_of(PLATE) in key] == []
        wait_until(lambda: is_stored(server, PLATE) == {False}, "the purge in every worker", 2)
        assert is_stored(server, OTHER) == {True}


@pytest.mark.long
def test_stalled_worker_does_not_restore_a_purged_answer(
    upstream: FaultUpstream, store: RedisProcess
) -> None:
    with serving(upstream, workers=1, REDIS_URL=store.url) as server:
        for plate in (PLATE, OTHER):
            assert lookup(server, plate).status == 200
        (worker,) = server.worker_pids()
        os.kill(worker, signal.SIGSTOP)
        try:
            assert server.command_line("purge", PLATE).returncode == 0
            store.kill()
            store.start()
        finally:
            os.kill(worker, signal.SIGCONT)
        wait_until(lambda: is_stored(server, OTHER) == {True}, "the other plate restored")
        assert is_stored(server, PLATE) == {False}
        assert upstream.count() == 2


@pytest.mark.long
def test_purge_leaves_no_bytes_in_redis_files(upstream: FaultUpstream) -> None:
    """Redis has an append-only file, and is writing another client's snapshot."""
    from redis import Redis

    with (
        RedisProcess(save="3600 1", appendonly="yes") as store,
        serving(upstream, REDIS_URL=store.url) as server,
        Redis.from_url(store.url) as client,
    ):
        for plate in (PLATE, OTHER):
            lookup(server, plate)
        client.save()
        assert any(name.endswith(".rdb") for name in files_holding(store.directory, tag_of(PLATE)))
        assert any(name.endswith(".aof") for name in files_holding(store.directory, tag_of(PLATE)))
        client.config_set("rdb-key-save-delay", 200_000)  # 0.2 s a key, for a slow snapshot
        client.bgsave()
        assert server.command_line("purge", PLATE).returncode == 0
        assert "dump.rdb" not in files_holding(store.directory, tag_of(PLATE))
        info = client.info("persistence")
        assert not (info["rdb_bgsave_in_progress"] or info["aof_rewrite_in_progress"])
        # Redis unlinks the former append-only file in a background thread.
        wait_until(
            lambda: not files_holding(store.directory, tag_of(PLATE), PLATE.encode()),
            "the removal of the former file",
        )
        assert files_holding(store.directory, tag_of(OTHER))
        assert is_stored(server, OTHER) == {True}


# Lifetimes


def test_lowered_lifetimes_expire_entries_in_the_file(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    for plate in (PLATE, OTHER):
        lookup(server, plate)
    one(server.port, Ask(path_of("renajud", PLATE), HEADER))
    server.stop()
    server.configure(PORTAL_FRESH_DECODE="1", PORTAL_STALE_DECODE="0")
    server.start()

    def entries() -> int:
        with closing(sqlite3.connect(server.data_dir / "cache.sqlite")) as database:
            rows = database.execute("SELECT key FROM entries").fetchall()
        return sum(not key.startswith("lifetimes:") for (key,) in rows)

    wait_until(lambda: entries() == 1, "the expiry of two entries")


@pytest.mark.long
def test_lowered_lifetimes_expire_entries_in_redis(
    upstream: FaultUpstream, store: RedisProcess
) -> None:
    from redis import Redis

    with serving(upstream, REDIS_URL=store.url) as server, Redis.from_url(store.url) as client:
        for plate in (PLATE, OTHER):
            lookup(server, plate)
        one(server.port, Ask(path_of("renajud", PLATE), HEADER))

        def entries() -> int:
            tags = (tag_of(PLATE), tag_of(OTHER))
            return sum(key.split(b":")[1] in tags for key in client.keys("portal:*:*"))

        assert entries() == 3
        server.stop()
        server.configure(PORTAL_FRESH_DECODE="1", PORTAL_STALE_DECODE="0")
        server.start()
        wait_until(lambda: entries() == 1, "the expiry of two entries")
