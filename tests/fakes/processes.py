"""The real programs, started as an operator starts them: the portal, its sandbox, Redis.

Each listens on a free loopback port, writes into a directory of its own, inherits no PORTAL_
setting, and is ended by the ids that were started here. ``stop`` and ``start`` again keep the
port and the data, for restarts.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import requests

from tests.fakes.ports import accepts_connections, free_port, wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
_STOP_WITHIN_S = 30


def clean_environment(**additions: str) -> dict[str, str]:
    """This environment without anything that sets up a portal or a proxy, plus the additions."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PORTAL_", "FLASK_"))
        and name.upper() not in ("HOST", "PORT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    }
    return {**kept, "PYTHONUNBUFFERED": "1", **additions}


class ServerProcess:
    """A program that serves on a loopback port; its directory goes when ``close`` is called."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        self.command = [part.replace("{port}", str(self.port)) for part in command]
        self._env = dict(env or {})
        self._folder = tempfile.TemporaryDirectory(prefix="server-", ignore_cleanup_errors=True)
        self.directory = Path(self._folder.name)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything written to standard output and error so far."""
        log = self.directory / "output.log"
        return log.read_text("utf-8", "replace") if log.exists() else ""

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def answers(self) -> bool:
        """Whether it is ready for requests."""
        return accepts_connections(self.port)

    def environment(self) -> dict[str, str]:
        return clean_environment(**self._env)

    def start(self) -> Self:
        """Start, and return when it is ready; AssertionError with its output when it is not."""
        assert not self.is_running, "already started"
        with (self.directory / "output.log").open("ab") as log:
            # A session of its own: a signal meant for it never reaches the test run.
            self._process = subprocess.Popen(
                self.command,
                cwd=CHECKOUT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            wait_until(lambda: not self.is_running or self.answers(), "the start", 120)
        except AssertionError as late:
            self._end_group()
            raise AssertionError(f"{late}\n{self.output}") from None
        if not self.is_running:
            raise AssertionError(f"ended with {self._process.returncode}:\n{self.output}")
        return self

    def stop(self) -> int:
        """SIGTERM to the main process alone; its exit code once it has ended."""
        assert self._process is not None, "not started"
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._end_group()
            raise AssertionError(f"SIGTERM did not end it:\n{self.output}") from None

    def kill(self) -> None:
        """SIGKILL to the main process alone."""
        assert self._process is not None, "not started"
        self._process.kill()
        self._process.wait(_STOP_WITHIN_S)

    def close(self) -> None:
        """End whatever is left, and remove the directory."""
        try:
            if self.is_running:
                self.stop()
        finally:
            self._end_group()
            self._folder.cleanup()

    def _end_group(self) -> None:
        if self._process is None:
            return
        # macOS says PermissionError for a group of which nobody is left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_STOP_WITHIN_S)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class HttpProcess(ServerProcess):
    """A server of ours, asked by plain requests: no proxy, no redirect followed, no cookie."""

    def environment(self) -> dict[str, str]:
        return clean_environment(**{"HOST": "127.0.0.1", "PORT": str(self.port), **self._env})

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            options = {"timeout": 60, "allow_redirects": False, **options}
            return session.request(method, self.url + path, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> requests.Response:
        return self.request("POST", path, **options)

    def worker_pids(self) -> list[int]:
        """The processes that serve, lowest id first."""
        return sorted(_leaves(self.pid) - {self.pid})

    def kill_worker(self, pid: int | None = None) -> int:
        """SIGKILL to a worker; its id, once it takes no more connections to its death."""
        pid = pid or self.worker_pids()[0]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in self.worker_pids(), "its death")
        return pid

    def resident_bytes(self) -> dict[int, int]:
        """Memory of each worker, by its id."""
        report = _ps("-o", "pid=,rss=", "-p", ",".join(map(str, self.worker_pids())))
        return {int(pid): int(kilobytes) * 1024 for pid, kilobytes in map(str.split, report)}


class PortalProcess(HttpProcess):
    """``python app.py`` with a fresh data directory; ``env`` takes the full PORTAL_ names."""

    def __init__(self, env: Mapping[str, str] | None = None, workers: int = 2) -> None:
        super().__init__([sys.executable, "app.py"], env)
        self.data_dir = self.directory / "data"
        self._env = {
            "PORTAL_DATA_DIR": str(self.data_dir),
            "PORTAL_WORKERS": str(workers),
            **self._env,
        }

    def answers(self) -> bool:
        try:
            return self.get("/healthz", timeout=2).status_code == 200
        except requests.RequestException:
            return False

    def command_line(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``flask --app app …`` beside the server, on the same data and settings."""
        return subprocess.run(
            [sys.executable, "-m", "flask", "--app", "app", *words],
            cwd=CHECKOUT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


class SandboxProcess(HttpProcess):
    """``python -m portal.sandbox``, the upstream that the portal carries along."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        super().__init__([sys.executable, "-m", "portal.sandbox"], env)


class RedisProcess(ServerProcess):
    """A redis-server that keeps nothing on disk; skips the test where there is none."""

    def __init__(self) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            pytest.skip("redis-server is not installed")
        super().__init__(
            [binary, "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        )
        self.command += ["--dir", str(self.directory)]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as client:
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def pause(self) -> None:
        """Connected and silent: every command hangs until ``resume``."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        if self.is_running:
            self.resume()  # a stopped process would not see SIGTERM
        super().close()


def _ps(*options: str) -> list[str]:
    done = subprocess.run(["ps", *options], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _leaves(root: int) -> set[int]:
    """The descendants of a process that have no children, multiprocessing's own ones aside."""
    children: dict[int, list[int]] = {}
    for line in _ps("-A", "-o", "pid=,ppid=,command="):
        pid, parent, command = line.split(None, 2)
        if not any(word in command for word in ("resource_tracker", "forkserver", "<defunct>")):
            children.setdefault(int(parent), []).append(int(pid))
    leaves: set[int] = set()
    unseen = [root]
    while unseen:
        process = unseen.pop()
        below = children.get(process, [])
        unseen += below
        if not below:
            leaves.add(process)
    return leaves
