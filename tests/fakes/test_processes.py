"""Tests of the process classes, which must leave no process or file behind."""

import sys

import pytest

from tests.fakes import wait_until
from tests.fakes.processes import HttpProcess, PortalProcess, RedisProcess, ServerProcess, is_alive
from tests.fakes.processes import clean_environment as environment

pytestmark = [pytest.mark.slow, pytest.mark.long]  # tests of what the tests use


def two_workers() -> HttpProcess:
    """A Granian server with two worker processes and a small WSGI application."""
    return HttpProcess(
        [
            *(sys.executable, "-m", "granian", "--interface", "wsgi", "--workers", "2"),
            *("--respawn-failed-workers", "--respawn-interval", "0.1"),
            *("--host", "127.0.0.1", "--port", "{port}", "werkzeug.testapp:test_app"),
        ]
    )


def expect_serving_workers(server: HttpProcess, started: int) -> None:
    """Wait until ``started`` workers have started, including those before a restart.

    Granian hangs if a SIGTERM arrives before all its workers serve.
    """
    wait_until(lambda: server.output.count("Started worker-") == started, "the workers")


def test_server_is_ready_after_start_and_gone_after_stop() -> None:
    with two_workers() as server:
        assert server.get("/").status_code == 200
        main, workers = server.pid, server.worker_pids()
        assert len(workers) == 2
        assert main not in workers
        assert set(server.resident_bytes()) == set(workers)
        assert min(server.resident_bytes().values()) > 1_000_000
        expect_serving_workers(server, 2)
        assert server.stop() == 0
        assert not server.answers()
        server.start()
        assert server.get("/").status_code == 200
        expect_serving_workers(server, 4)
        directory = server.directory
    assert not any(map(is_alive, [main, *workers]))
    assert not directory.exists()


def test_killed_worker_leaves_main_process_running() -> None:
    with two_workers() as server:
        expect_serving_workers(server, 2)
        before = server.worker_pids()
        victim = server.kill_worker()
        assert victim in before
        wait_until(lambda: victim not in server.worker_pids(), "the worker's end")
        assert server.is_running
        expect_serving_workers(server, 3)
        assert len(server.worker_pids()) == 2


def test_close_after_killed_main_process_ends_workers() -> None:
    with two_workers() as server:
        expect_serving_workers(server, 2)
        workers = server.worker_pids()
        server.kill()
    wait_until(lambda: not any(map(is_alive, workers)), "the workers' end")


def test_start_of_exiting_program_fails_with_its_output() -> None:
    command = [sys.executable, "-c", "raise SystemExit('a linha do erro')"]
    with pytest.raises(AssertionError, match="a linha do erro"), ServerProcess(command):
        pass


def test_processes_inherit_no_portal_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_UPSTREAM_TOKEN", "secreto")
    monkeypatch.setenv("FLASK_DEBUG", "1")
    monkeypatch.setenv("PORT", "80")
    monkeypatch.setenv("https_proxy", "http://192.0.2.1")
    assert not {"PORTAL_UPSTREAM_TOKEN", "FLASK_DEBUG", "PORT", "https_proxy"} & set(environment())
    portal = PortalProcess({"PORTAL_UPSTREAM_URL": "http://127.0.0.1:1"}, workers=3)
    given = {name for name in portal.environment() if name.startswith("PORTAL_")}
    assert given == {"PORTAL_DATA_DIR", "PORTAL_UPSTREAM_URL", "PORTAL_WORKERS"}
    assert portal.environment()["PORT"] == str(portal.port)
    portal.close()


def test_redis_restarts_empty_on_its_port() -> None:
    redis = pytest.importorskip("redis", reason="redis-py is not installed")
    with RedisProcess() as server, redis.Redis.from_url(server.url) as client:
        client.set("a", 1)
        assert client.get("a") == b"1"
        server.stop()
        with pytest.raises(redis.ConnectionError):
            client.get("a")
        server.start()
        assert client.get("a") is None


def test_paused_redis_hangs_until_resumed() -> None:
    redis = pytest.importorskip("redis", reason="redis-py is not installed")
    with (
        RedisProcess() as server,
        redis.Redis.from_url(server.url) as client,
        # The time-outs of ``server.url`` would override ``socket_timeout``.
        redis.Redis.from_url(server.default_url, socket_timeout=0.2, retry=None) as impatient,
    ):
        client.ping()
        server.pause()
        with pytest.raises(redis.TimeoutError):
            impatient.ping()
        server.resume()
        assert client.ping()
        server.pause()  # close() must end a paused server too
