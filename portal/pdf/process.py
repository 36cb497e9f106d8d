"""Renders the PDFs of a ZIP archive of dossiers in a child process.

In a worker process, WeasyPrint would occupy 47 MiB of memory, and other requests would wait for the
GIL during each layout. The child is started as a new program, because a process with threads, such
as a worker, must not fork. The child ends when the worker has closed its last open archive, or when
the worker ends.
"""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec

from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable, is_evidently_installed
from portal.system.error_kind import error_kind
from portal.system.process import lower_priority

log = logging.getLogger(__name__)

NICENESS: Final = 5  # workers have 0, and the batch process has 15
_STARTS_WITHIN_S: Final = 30.0
_RENDERS_WITHIN_S: Final = 120.0  # per PDF; a dossier with 45 fines takes 2 s on an idle machine
_ENDS_WITHIN_S: Final = 5.0
_PROJECT_ROOT: Final = Path(__file__).resolve().parents[2]
_READY, _UNAVAILABLE = b"ready", b"unavailable"
_PDF, _FAILURE = b"+", b"-"  # first byte of the child's answer


class RenderingFailed(Exception):
    """The child could not render a page, or has ended."""


class PdfProcess:
    """Renders PDFs in a child process, which runs only while an archive is open.

    ``files`` returns a mapping from the paths below ``/static/`` to the files. ``here`` renders a
    page in this process, and is called if no child can be started. ``is_available_here`` imports
    WeasyPrint to find out whether its libraries are installed. To avoid this import, ``open`` calls
    ``is_available_here`` only if ``is_evidently_installed`` returns False.
    """

    def __init__(
        self,
        files: Callable[[], Mapping[str, File]],
        here: Callable[[str], bytes],
        is_available_here: Callable[[], bool],
    ) -> None:
        self._files = files
        self._here = here
        self._is_available_here = is_available_here
        self._users_lock = threading.Lock()
        self._users = 0
        self._lock = threading.Lock()  # guards _child and _has_failed; held while rendering
        self._child: _Child | None = None
        self._has_failed = False  # no child could be started; reset when the last archive closes

    def open(self) -> None:
        """Register an archive as a user of the child. ``render`` starts the child.

        Raises PDFUnavailable if WeasyPrint or a library that it loads is not installed.
        """
        if not is_evidently_installed() and not self._is_available_here():
            raise PDFUnavailable("here")
        with self._users_lock:
            self._users += 1

    def render(self, html: str) -> bytes:
        """Return the page as PDF. Raises RenderingFailed or PDFUnavailable."""
        with self._lock:
            child = self._started()
            if child is not None:
                try:
                    return child.render(html)
                except (EOFError, OSError):
                    self._end_child()  # the next page starts a new child
                    raise RenderingFailed("the child ended") from None
        return self._here(html)

    def close(self) -> None:
        """Unregister an archive. The child ends if no other archive is open."""
        with self._users_lock:
            self._users -= 1
            if self._users:
                return
        with self._lock:
            if not self._users:  # unless another thread has called ``open`` meanwhile
                self._end_child()
                self._has_failed = False

    def _started(self) -> "_Child | None":
        """Start the child if necessary. Return the child, or None if the start fails."""
        if self._child is None and not self._has_failed:
            try:
                self._child = _Child()
                self._child.prepare(self._files())
            except PDFUnavailable:
                self._end_child()
                raise
            except (EOFError, OSError) as error:
                log.warning("PDFs are rendered in the worker: %s", error_kind(error))
                self._end_child()
                self._has_failed = True
        return self._child

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


class _Child:
    """A running child process.

    ``prepare`` and ``render`` raise EOFError or OSError if the child ends or takes too long.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            # The environment omits the portal's settings, because the child does not need the
            # secrets among them.
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")
            }
            self._process = subprocess.Popen(  # noqa: S603 our own program
                [sys.executable, "-m", "portal.pdf", str(theirs.fileno())],
                cwd=_PROJECT_ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # may contain texts of a page
                pass_fds=[theirs.fileno()],
            )
            self._connection = Connection(ours.detach())
        self._is_idle = False
        # If a client abandons the last download, nothing calls ``end``. In this case, the child
        # ends when this object is garbage-collected.
        weakref.finalize(self, _kill, self._process)

    def prepare(self, files: Mapping[str, File]) -> None:
        """Wait until the child has imported WeasyPrint, and send it the files.

        Raises PDFUnavailable if the child cannot import WeasyPrint.
        """
        if self._received(_STARTS_WITHIN_S) != _READY:
            raise PDFUnavailable("in the child")
        self._connection.send_bytes(msgspec.msgpack.encode(files))
        self._is_idle = True

    def render(self, html: str) -> bytes:
        self._is_idle = False
        self._connection.send_bytes(html.encode())
        answer = self._received(_RENDERS_WITHIN_S)
        self._is_idle = True
        if answer[:1] != _PDF:
            raise RenderingFailed(answer[1:].decode())
        return answer[1:]

    def end(self) -> None:
        """Close the connection, which ends an idle child. Kill a child that does not end."""
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN_S if self._is_idle else 0)
        _kill(self._process)

    def _received(self, within_s: float) -> bytes:
        if not self._connection.poll(within_s):
            raise TimeoutError
        return self._connection.recv_bytes()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


def serve(descriptor: int) -> None:
    """Render each page that the parent sends, until the parent closes the connection.

    ``descriptor`` is the child's end of the connection.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C, the parent ends the child
    files: dict[str, File] = {}
    with Connection(descriptor) as parent, suppress(EOFError, OSError):
        try:
            renderer = PdfRenderer(files.get)
        except PDFUnavailable:
            parent.send_bytes(_UNAVAILABLE)
            return
        parent.send_bytes(_READY)
        # The priority is lowered only after the slow import of WeasyPrint in PdfRenderer, because a
        # client may be waiting for the import.
        lower_priority(NICENESS)
        files |= msgspec.msgpack.decode(parent.recv_bytes(), type=dict[str, File])
        while True:
            html = parent.recv_bytes().decode()
            try:
                answer = _PDF + renderer.render(html)
            except Exception as error:
                answer = _FAILURE + type(error).__name__.encode()
            parent.send_bytes(answer)
