"""Programs of the portal, forked from an interpreter that has imported what they import.

Imports take most of a program's start, and the tests start hundreds of programs. A forked program
has its own environment, output, process session and exit code. There is one interpreter for the
portal's servers and commands, and one for the children that render and read PDFs. An interpreter
starts with its first program and ends with the test process. The portal's programs share compiled
templates and what ``start_cache`` keeps.

``python -m tests.fakes.preloaded FD portal DIRECTORY`` starts an interpreter, and so does ``FD
pdf``. FD is its socket to the test process, and DIRECTORY holds the compiled templates.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self, TypedDict

from tests import run_folder
from tests.fakes import start_cache, template_cache

CHECKOUT = Path(__file__).resolve().parents[2]
# Runs functions of tests in processes that share nothing with the test but their arguments.
PRELOADED = multiprocessing.get_context("forkserver")
PRELOADED.set_forkserver_preload(["pytest", "portal.factory"])
# Modules that the portal imports at its start or for its first page, some only with a setting.
_IMPORTED_LATER = (
    "click.testing",
    "cryptography.fernet",
    "flask.testing",
    "flask_caching.jinja2ext",
    "portal.gateway.redis_cache",
    "portal.gateway.sqlite_cache",
    "portal.sandbox.transport",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "yaml",
)
_PDF_LIBRARIES = (
    "portal.pdf.inspection",
    "portal.pdf.process",
    "pyhanko.pdf_utils.incremental_writer",
    "pyhanko.pdf_utils.reader",
    "pyhanko.sign.fields",
    "pyhanko.sign.signers",
    "pyhanko.sign.validation.generic_cms",
    "pypdfium2.raw",
    "weasyprint",
)
_MOST_FDS = 4
_STATUS = struct.Struct("i")
_LONGEST_REQUEST = 1 << 20
_one_request = threading.Lock()


Kind = Literal["portal", "pdf"]  # of an interpreter


class Request(TypedDict):
    """A request to the forking interpreter, sent as JSON."""

    arguments: list[str]
    env: dict[str, str]


class PreloadedProcess:
    """A forked ``python`` with these arguments, with methods of ``subprocess.Popen``.

    The number of an inherited descriptor is the program's last argument.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        *,
        kind: Kind = "portal",
        inherited: Sequence[int] = (),
    ) -> None:
        asked = Request(arguments=list(arguments), env=dict(env))
        request = json.dumps(asked).encode()
        self._ended, reports_end = socket.socketpair()
        with reports_end:
            fds = [stdout.fileno(), stderr.fileno(), reports_end.fileno(), *inherited]
            with _one_request:
                socket.send_fds(_forker(kind), [request], fds)
                (self.pid,) = _STATUS.unpack(_forker(kind).recv(_STATUS.size))
        self.returncode: int | None = None
        self._reading = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the program runs."""
        if self._reading.acquire(blocking=False):  # otherwise another thread waits for the program
            try:
                self._read_status(0)
            finally:
                self._reading.release()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the program and return its exit code; raises TimeoutExpired."""
        with self._reading:
            self._read_status(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        # A process may have ended before its exit code is reported.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self, within_s: float | None) -> None:
        if self.returncode is not None or not select.select([self._ended], [], [], within_s)[0]:
            return
        report = self._ended.recv(_STATUS.size)
        # Without a report, the interpreter has ended, and with it the test process.
        status = _STATUS.unpack(report)[0] if report else signal.SIGKILL
        self.returncode = os.waitstatus_to_exitcode(status)
        self._ended.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self.wait()


@cache
def _forker(kind: Kind) -> socket.socket:
    """Start a forking interpreter, and return the socket to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_REQUEST)
    made = tempfile.TemporaryDirectory(prefix="templates-", ignore_cleanup_errors=True)
    templates = (run_folder.path() or Path(made.name)) / "templates"
    with theirs:
        interpreter = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.fakes.preloaded",
                str(theirs.fileno()),
                kind,
                str(templates),
            ],
            cwd=CHECKOUT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        interpreter.wait()
        made.cleanup()

    atexit.register(end)
    return ours


def _fork_on_request(requests: socket.socket) -> list[str] | None:
    """Fork a program for each request until the other end closes the socket.

    Returns the program's arguments in each child, and None in the parent.
    """
    reports: dict[int, int] = {}
    woken, wakes = socket.socketpair()
    woken.setblocking(False)
    wakes.setblocking(False)
    former_wakeup_fd = signal.set_wakeup_fd(wakes.fileno())
    former_handler = signal.signal(signal.SIGCHLD, lambda number, frame: None)
    while True:
        ready = select.select([requests, woken], [], [])[0]
        if woken in ready:
            woken.recv(1024)
            _report_ends(reports)
        if requests not in ready:
            continue
        message, fds, _, _ = socket.recv_fds(requests, _LONGEST_REQUEST, _MOST_FDS)
        if not message:
            return None
        stdout, stderr, report, *inherited = fds
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(former_wakeup_fd)
            signal.signal(signal.SIGCHLD, former_handler)
            for end in (requests, woken, wakes):
                end.close()
            for fd in (report, *reports.values()):
                os.close(fd)
            return [*_become(json.loads(message), stdout, stderr), *map(str, inherited)]
        reports[pid] = report
        for fd in (stdout, stderr, *inherited):
            os.close(fd)
        requests.send(_STATUS.pack(pid))


def _report_ends(reports: dict[int, int]) -> None:
    while reports:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        os.write(reports[pid], _STATUS.pack(status))
        os.close(reports.pop(pid))


def _become(request: Request, stdout: int, stderr: int) -> list[str]:
    """Set the environment and the output, start a new session, and return the arguments."""
    os.setsid()
    # A test run in the background or under nohup ignores both signals, and its forks inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    return request["arguments"]


def _run(arguments: list[str]) -> int:
    """Run ``python`` with these arguments and return the exit code."""
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        elif arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            exec(arguments[1], {"__name__": "__main__"})
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _fill_caches() -> None:
    """Create and close an application, so that the programs share what it compiles.

    It leaves no thread and no open file, which a fork would inherit. Without compiled templates, a
    hundred concurrent requests for a worker's first page compile its templates a hundred times.
    """
    from portal.factory import create_app
    from portal.settings import Settings

    with tempfile.TemporaryDirectory() as directory:
        application = create_app(Settings.from_environment({"PORTAL_DATA_DIR": directory}))
        templates = application.jinja_env
        for name in templates.list_templates():
            templates.get_template(name)
        application.extensions["portal"].close()
    assert threading.active_count() == 1, threading.enumerate()


def _prepare_portal(templates: str) -> None:
    import app  # noqa: F401 - the forked programs share the imported modules
    from portal.web.json_api.openapi import as_document

    as_document()  # parses YAML, which would take half of a worker's start
    _import(_IMPORTED_LATER)
    start_cache.install()
    template_cache.install(Path(templates))
    _fill_caches()


def _import(names: Sequence[str]) -> None:
    for name in names:
        with suppress(ImportError, OSError):  # an optional driver or library may be missing
            importlib.import_module(name)


def _main() -> None:
    if sys.argv[2] == "pdf":
        _import(_PDF_LIBRARIES)
    else:
        _prepare_portal(sys.argv[3])
    gc.collect()
    gc.freeze()
    arguments = _fork_on_request(socket.socket(fileno=int(sys.argv[1])))
    if arguments is None:
        return
    code = _run(arguments)
    # End without freeing all modules, which would take seconds. multiprocessing does the same.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _main()
