"""Server processes: the portal, Redis, and the portal's fake upstream (sandbox).

Each listens on a free loopback port, writes into its own directory and inherits no PORTAL_ setting.
The portal and the sandbox are forked from an interpreter that has imported them. The classes end
only processes that they started, by their ids. A restart keeps the port and the directory.
"""

import http.client
import math
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
from typing import IO, Any, Self

import pytest
import requests

from tests.fakes import tiers
from tests.fakes.ports import accepts_connections, free_port, wait_until
from tests.fakes.preloaded import CHECKOUT, PreloadedProcess

_STOP_WITHIN_S = 30


def clean_environment(**additions: str) -> dict[str, str]:
    """Return ``os.environ`` without portal and proxy variables, plus the additions."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PORTAL_", "FLASK_"))
        and name.upper() not in ("HOST", "PORT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    }
    return {**kept, "PYTHONUNBUFFERED": "1", **additions}


class ServerProcess:
    """A program that serves on a loopback port. ``close`` removes its directory."""

    preloaded = False  # whether preloaded.py forks the program

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        self.command = [part.replace("{port}", str(self.port)) for part in command]
        self.env = dict(env or {})
        self._folder = tempfile.TemporaryDirectory(prefix="server-", ignore_cleanup_errors=True)
        self.directory = Path(self._folder.name)
        self._process: subprocess.Popen[bytes] | PreloadedProcess | None = None

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
        """Whether the server is ready for requests."""
        return accepts_connections(self.port)

    def environment(self) -> dict[str, str]:
        return clean_environment(**self.env)

    def start(self) -> Self:
        """Start and wait until ready; raises AssertionError with the output on failure."""
        assert not self.is_running, "already started"
        tiers.require("slow")
        with (self.directory / "output.log").open("ab") as log:
            self._process = self._launch(log)
        try:
            wait_until(lambda: not self.is_running or self.answers(), "the start", 120)
        except AssertionError as late:
            self._end_group()
            raise AssertionError(f"{late}\n{self.output}") from None
        if not self.is_running:
            raise AssertionError(f"ended with {self._process.returncode}:\n{self.output}")
        return self

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes] | PreloadedProcess:
        """Start in a new session, so that signals to its processes do not reach the test run."""
        if self.preloaded:
            return PreloadedProcess(self.command[1:], self.environment(), log, log)
        return subprocess.Popen(
            self.command,
            cwd=CHECKOUT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def stop(self) -> int:
        """Send SIGTERM to the main process and return its exit code."""
        assert self._process is not None, "not started"
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._end_group()
            raise AssertionError(f"SIGTERM did not end it:\n{self.output}") from None

    def kill(self) -> None:
        """Send SIGKILL to the main process."""
        assert self._process is not None, "not started"
        self._process.kill()
        self._process.wait(_STOP_WITHIN_S)

    def close(self) -> None:
        """End the remaining processes and remove the directory."""
        try:
            if self.is_running:
                self.stop()
        finally:
            self._end_group()
            self._folder.cleanup()

    def _end_group(self) -> None:
        if self._process is None:
            return
        # macOS raises PermissionError for an empty process group.
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
    """An HTTP server. Requests to it use no proxy, redirect or stored cookie."""

    def environment(self) -> dict[str, str]:
        return clean_environment(**{"HOST": "127.0.0.1", "PORT": str(self.port), **self.env})

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
        """Return the ids of the worker processes, the oldest first.

        The order is by start time, because the kernel reuses low ids after ``pid_max``. Granian
        stops the whole server if a new worker ends within 5.5 s. A test that kills two workers
        must therefore kill the oldest.
        """
        leaves = _leaves(self.pid) - {self.pid}
        return sorted((pid for pid in leaves if not self._is_nicer(pid)), key=_started_at)

    def batch_pid(self) -> int | None:
        """Return the id of the process that runs batches, or None while none runs."""
        leaves = _leaves(self.pid) - {self.pid}
        return next((pid for pid in leaves if self._is_nicer(pid)), None)

    def _is_nicer(self, pid: int) -> bool:
        """Whether a process has a lower priority than the main process.

        Of all leaf processes, only the batch process runs at a lower priority.
        """
        with suppress(ProcessLookupError):
            return os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, self.pid)
        return False

    def kill_worker(self, pid: int | None = None) -> int:
        """Kill a worker with SIGKILL; return its id once the process is gone.

        Before that, other threads of a zombie worker may still hold its listening socket. A
        connection to this socket would be reset.
        """
        pid = pid or self.worker_pids()[0]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), "its death")
        return pid

    def resident_bytes(self) -> dict[int, int]:
        """Return the resident memory of each worker, by process id."""
        report = _ps("-o", "pid=,rss=", "-p", ",".join(map(str, self.worker_pids())))
        return {int(pid): int(kilobytes) * 1024 for pid, kilobytes in map(str.split, report)}


class PortalProcess(HttpProcess):
    """The portal (``python app.py``) with a new data directory.

    The keys of ``env`` are full names of settings, such as PORTAL_WORKERS.
    """

    preloaded = True

    def __init__(self, env: Mapping[str, str] | None = None, workers: int = 2) -> None:
        super().__init__([sys.executable, "app.py"], env)
        self.data_dir = self.directory / "data"
        self.env = {
            "PORTAL_DATA_DIR": str(self.data_dir),
            "PORTAL_WORKERS": str(workers),
            **self.env,
        }

    def wait_for_workers(self) -> None:
        """Wait until /proc/net/tcp shows a listening socket for every worker.

        ``start`` waits for only one worker.
        """
        here, listening, count = f":{self.port:04X}", "0A", int(self.env["PORTAL_WORKERS"])

        def open_sockets() -> int:
            lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
            words = [line.split() for line in lines]
            return sum(each[1].endswith(here) and each[3] == listening for each in words)

        wait_until(lambda: open_sockets() == count, "all workers")

    def configure(self, **settings: str) -> None:
        """Change settings, given by their full names, from the next start on."""
        self.env |= settings

    def answers(self) -> bool:
        # Polling with a ``requests`` session would take as long as the rest of a start.
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def command_line(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``flask --app app …`` with the portal's data and settings."""
        arguments = ["-m", "flask", "--app", "app", *words]
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            with PreloadedProcess(arguments, self.environment(), stdout, stderr) as command:
                code = command.wait(60)
            stdout.seek(0)
            stderr.seek(0)
            shown = stdout.read().decode(), stderr.read().decode()
        return subprocess.CompletedProcess(arguments, code, *shown)


class SandboxProcess(HttpProcess):
    """The sandbox, the portal's fake upstream (``python -m portal.sandbox``)."""

    preloaded = True

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        super().__init__([sys.executable, "-m", "portal.sandbox"], env)


class RedisProcess(ServerProcess):
    """A redis-server, by default without persistence.

    Skips the test where redis-server is not installed.
    """

    def __init__(self, save: str = "", appendonly: str = "no") -> None:
        """Take ``save`` and ``appendonly`` as in redis.conf, such as "3600 1" and "yes"."""
        binary = shutil.which("redis-server")
        if binary is None:
            pytest.skip("redis-server is not installed")
        super().__init__(
            [
                binary,
                "--port",
                "{port}",
                "--bind",
                "127.0.0.1",
                "--save",
                save,
                "--appendonly",
                appendonly,
            ]
        )
        self.command += ["--dir", str(self.directory)]

    @property
    def default_url(self) -> str:
        """The URL without time-outs, so that the portal's own time-outs apply."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def url(self) -> str:
        """The URL with time-outs of 60 s, for busy machines that stall for seconds."""
        return f"{self.default_url}?socket_timeout=60&socket_connect_timeout=60"

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as client:
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def pause(self) -> None:
        """Suspend Redis: every command hangs until ``resume``."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        if self.is_running:
            self.resume()  # a suspended process does not handle SIGTERM
        super().close()


def _ps(*options: str) -> list[str]:
    done = subprocess.run(["ps", *options], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _started_at(pid: int) -> float:
    """Return a process's start in clock ticks since boot, or infinity if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return math.inf
    return int(stat.rpartition(")")[2].split()[19])  # ``starttime``, field 22


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _leaves(root: int) -> set[int]:
    """Return the childless descendants, without processes of multiprocessing and PDFs."""
    children: dict[int, list[int]] = {}
    for line in _ps("-A", "-o", "pid=,ppid=,command="):
        pid, parent, command = line.split(None, 2)
        if not any(
            word in command
            for word in ("resource_tracker", "forkserver", "portal.pdf", "<defunct>")
        ):
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
