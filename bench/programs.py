"""Starts the servers for a measurement in this process's session, and stops them.

The kernel's scheduler groups processes by session (see setsid). A server in a session of its own
would get its own share of the processor and distort the ratio.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
STARTS_WITHIN_S = 20
OPERATOR_TOKEN = "operator"
PORTAL_TOKEN = "0123456789abcdef0123456789abcdef"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**additions: str) -> dict[str, str]:
    """Return this process's environment without portal settings, plus the additions.

    PYTHONDONTWRITEBYTECODE is left out, too, so that Python stores bytecode as in production.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PORTAL_", "FLASK_", "PROMETHEUS_"))
        and name not in ("HOST", "PORT", "PYTHONDONTWRITEBYTECODE")
    }
    return {**kept, **additions}


class Program:
    """A server on a port of this machine. Its output is written to a file in ``directory``."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        directory: Path,
        port: int,
        env: Mapping[str, str] | None = None,
        host: str = "127.0.0.1",
        checkout: Path = CHECKOUT,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.directory = directory
        self.log = directory / f"{name}.log"
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                cwd=checkout,
                env=environment(**(env or {})),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.started_at = time.monotonic()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def wait(self) -> "Program":
        """Wait for the port to accept connections.

        Raises RuntimeError with the end of the log if the program exits, or does not listen within
        ``STARTS_WITHIN_S``.
        """
        while time.monotonic() - self.started_at < STARTS_WITHIN_S:
            if self.process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection((self.host, self.port), 1):
                return self
            time.sleep(0.005)
        tail = self.log.read_text(errors="replace")[-600:]
        self.stop()
        raise RuntimeError(f"{self.name} did not start: {tail}")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                for pid in [*self.family(), self.process.pid]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                self.process.wait(5)

    def family(self) -> list[int]:
        """Return the ids of the worker processes."""
        try:
            text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return [int(part) for part in text.split()]

    def cpu_s(self) -> float:
        """Return the processor time of the program and its workers so far."""
        return processor_s(self.process.pid, *self.family())

    def rss_mib(self) -> list[float]:
        """Return the resident memory of each worker in MiB."""
        sizes = []
        for pid in self.family():
            with suppress(OSError):
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                sizes.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
        # Smaller children, such as a resource tracker, are not workers.
        return [size for size in sizes if size > 20]


def family_of(pid: int) -> list[int]:
    """Return a process's id and those of its descendants, whichever thread started them."""
    family = [pid]
    for member in family:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            with suppress(OSError):
                family += map(int, children.read_text().split())
    return family


def processor_s(*pids: int) -> float:
    """Return the processor time of processes so far, with that of their children that have ended.

    A server process of PostgreSQL ends with its connection.
    """
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def running_s(*pids: int) -> float:
    """Return the time of the processes' threads, exactly enough for a single request."""
    files = (file for pid in pids for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


class Stage:
    """The programs of one scenario.

    At its end, or after a failure, they are stopped in reverse order.
    """

    def __init__(self, stack: ExitStack, directory: Path) -> None:
        self._stack = stack
        self.directory = directory

    def folder(self, name: str) -> Path:
        path = self.directory / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def run(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        port: int | None = None,
        host: str = "127.0.0.1",
        checkout: Path = CHECKOUT,
    ) -> Program:
        """Start a program and wait until it listens. ``{port}`` in ``command`` becomes its port."""
        port = port or free_port()
        filled = [part.replace("{port}", str(port)) for part in command]
        program = Program(name, filled, self.folder(name), port, env, host, checkout)
        self._stack.callback(program.stop)
        return program.wait()

    def run_beside(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Start a program that listens on no port."""
        program = Program(name, command, self.folder(name), 0, env)
        self._stack.callback(program.stop)

    def upstream(self) -> Program:
        return self.run("upstream", [sys.executable, "-m", "bench.serve", "upstream", "{port}"])

    def plain(self, upstream: str) -> Program:
        """Start the plain app on Granian, the portal's server, with the portal's options."""
        command = [sys.executable, "-m", "bench.serve", "plain", "{port}"]
        return self._plain("plain", upstream, command)

    def plain_on_gunicorn(self, upstream: str) -> Program:
        """Start the plain app on gunicorn, with two workers and otherwise gunicorn's defaults."""
        gunicorn = [sys.executable, "-m", "gunicorn", "--workers=2", "--bind=127.0.0.1:{port}"]
        return self._plain("gunicorn", upstream, [*gunicorn, "bench.plain:create()"])

    def _plain(self, name: str, upstream: str, command: Sequence[str]) -> Program:
        env = {"UPSTREAM": upstream, "UPSTREAM_TOKEN": OPERATOR_TOKEN, "TOKEN": PORTAL_TOKEN}
        return self.run(name, command, {**env, "CACHE_DIR": str(self.folder(name) / "cache")})

    def portal(self, upstream: str, name: str = "portal", **settings: str) -> Program:
        """Start a portal in managed mode. ``settings`` are named without the prefix PORTAL_."""
        return self.portal_of(CHECKOUT, upstream, name, **settings)

    def portal_of(self, checkout: Path, /, upstream: str, name: str, **settings: str) -> Program:
        """Start the portal of a checkout in managed mode."""
        port = free_port()
        chosen = {
            "UPSTREAM_URL": upstream,
            "UPSTREAM_TOKEN": OPERATOR_TOKEN,
            "ACCESS_TOKENS": PORTAL_TOKEN,
            "DATA_DIR": str(self.folder(name) / "data"),
            **settings,
        }
        env = {f"PORTAL_{key}": value for key, value in chosen.items()}
        command, env = [sys.executable, "app.py"], {**env, "PORT": str(port)}
        return self.run(name, command, env, port, checkout=checkout)


@contextmanager
def stage() -> Iterator[Stage]:
    directory = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        with ExitStack() as stack:
            yield Stage(stack, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
