"""Renders and signs PDFs in a child process.

In a worker process, WeasyPrint would occupy 47 MiB of memory, other requests would wait for the GIL
during each layout, and nothing could end a layout that takes minutes. The first PDF starts the
child. The child ends when it has been idle for _IDLE_S, or when the worker ends.

The child gets the signing key over its connection, and has no other secret.
"""

import logging
import resource
import signal
import threading
from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, Final

from portal.pdf.archival import Embedded
from portal.pdf.child import start_child
from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable
from portal.pdf.signing import SignedPdf, Signer, SigningKey
from portal.system.error_kind import error_kind
from portal.system.process import lower_priority

log = logging.getLogger(__name__)

NICENESS: Final = 5  # workers have 0, and the batch process has 15
# The largest supported dossiers, with 200 court orders or 300 fines, take 5 to 10 s.
PAGE_WITHIN_S: Final = 25.0
# The longest wait for a turn of a PDF of an archive. A PDF that a person waits for goes first.
ARCHIVE_WITHIN_S: Final = 120.0
# The largest number of requests that render or wait. Each holds a thread.
MOST_WAITING: Final = 8
_IDLE_S: Final = 600.0
_STARTS_WITHIN_S: Final = 30.0
_PROGRAM: Final = "import sys; from portal.pdf.process import serve; serve(int(sys.argv[1]))"


class RenderingFailed(Exception):
    """The child could not render a page."""


class RenderingInterrupted(RenderingFailed):
    """The rendering took too long, too many others wait, or the child ended or did not start."""


@dataclass(frozen=True, slots=True)
class _Setup:
    """What the child gets first."""

    files: Mapping[str, File]
    key: SigningKey | None


@dataclass(frozen=True, slots=True)
class _Page:
    html: str
    embedded: Embedded | None
    is_signed: bool


class PdfProcess:
    """Renders PDFs in a child process, one at a time.

    ``files`` returns a mapping from the paths below ``/static/`` to the files. ``key`` signs issued
    PDFs. All methods raise PDFUnavailable if WeasyPrint or a library
    that it loads is not installed, and RenderingInterrupted if the child does not start.
    """

    def __init__(
        self,
        files: Callable[[], Mapping[str, File]],
        key: SigningKey | None = None,
    ) -> None:
        self._files = files
        self._key = key
        self._slots = threading.BoundedSemaphore(MOST_WAITING)
        self._turns = _Turns()  # guards _child; a turn lasts while a PDF is rendered
        self._child: _Child | None = None
        self._has_rendered = False

    def check(self) -> None:
        """Start the child, unless a child has rendered before."""
        if not self._has_rendered:
            with self._turns.take(_Rank.ARCHIVE, ARCHIVE_WITHIN_S):
                self._started()

    def render(self, html: str, embedded: Embedded | None = None) -> bytes:
        """Return a page as PDF, for a request that a person waits for. Raises RenderingFailed."""
        return self._for_person(_Page(html, embedded, is_signed=False)).content

    def render_signed(self, html: str, embedded: Embedded) -> SignedPdf:
        """Return a page as PDF, signed if there is a key. Raises RenderingFailed.

        No signature is made with a certificate that has ended since the start.
        """
        key = self._key
        is_signed = key is not None and key.is_valid_at(datetime.now(UTC))
        if key is not None and not is_signed:
            log.error("the certificate of the signing key has ended: a dossier is not signed")
        pdf = self._for_person(_Page(html, embedded, is_signed))
        if is_signed and pdf.signature is None:
            log.error("a dossier is not signed: the signing key does not work")
        elif key is not None and key.tsa_url and pdf.signature and not pdf.signature.stamped_at:
            log.warning("a dossier has no time stamp: the authority gave none in time")
        return pdf

    def render_for_archive(
        self, html: str, embedded: Embedded | None = None, within_s: float = PAGE_WITHIN_S
    ) -> bytes:
        """Return a page as PDF when no person waits for a PDF. Raises RenderingFailed."""
        page = _Page(html, embedded, is_signed=False)
        return self._rendered(page, _Rank.ARCHIVE, ARCHIVE_WITHIN_S, within_s).content

    def _for_person(self, page: _Page) -> SignedPdf:
        if not self._slots.acquire(blocking=False):
            raise RenderingInterrupted("too many wait")
        try:
            return self._rendered(page, _Rank.PERSON, PAGE_WITHIN_S)
        finally:
            self._slots.release()

    def _rendered(
        self, page: _Page, rank: "_Rank", turn_within_s: float, within_s: float = PAGE_WITHIN_S
    ) -> SignedPdf:
        with self._turns.take(rank, turn_within_s):
            child = self._started()
            try:
                pdf: SignedPdf = child.ask(page, within_s)
            except (EOFError, OSError) as error:
                log.warning("a PDF was not rendered: %s", error_kind(error))
                self._end_child()  # the next page starts a new child
                raise RenderingInterrupted(error_kind(error)) from None
            self._has_rendered = True
            return pdf

    def _started(self) -> "_Child":
        if self._child is not None and self._child.has_ended:
            self._end_child()
        if self._child is None:
            try:
                self._child = _Child()
                self._child.ask(_Setup(self._files(), self._key), _STARTS_WITHIN_S)
            except PDFUnavailable:
                self._end_child()
                raise
            except (EOFError, OSError) as error:
                log.warning("the PDF process does not start: %s", error_kind(error))
                self._end_child()
                raise RenderingInterrupted(error_kind(error)) from None
        return self._child

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


class _Rank(IntEnum):
    """Who gets the next turn: a person's PDF before those of archives."""

    PERSON = 0
    ARCHIVE = 1


class _Turns:
    """One turn at a time, in the order of ranks, and within a rank in the order of arrival.

    ``threading.Lock`` has no order: with 60 archives that wait, a person's PDF would rarely get it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[tuple[_Rank, int]] = []  # sorted; the first has the next turn
        self._arrivals = count()
        self._is_taken = False

    @contextmanager
    def take(self, rank: _Rank, within_s: float) -> Iterator[None]:
        """Wait for a turn, which ends with the context. Raises RenderingInterrupted."""
        with self._changed:
            place = (rank, next(self._arrivals))
            insort(self._waiting, place)
            has_turn = self._changed.wait_for(
                lambda: not self._is_taken and self._waiting[0] == place, within_s
            )
            self._waiting.remove(place)
            if not has_turn:
                self._changed.notify_all()
                raise RenderingInterrupted("another PDF takes too long")
            self._is_taken = True
        try:
            yield
        finally:
            with self._changed:
                self._is_taken = False
                self._changed.notify_all()


class _Child:
    """A running child process, which ends with its connection."""

    def __init__(self) -> None:
        self._process, self._connection = start_child(_PROGRAM)
        # The thread reaps the child, which ends when it has been idle.
        threading.Thread(target=self._process.wait, daemon=True).start()

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, message: Any, within_s: float) -> Any:
        """Return the answer to the set-up, which comes first, or to a page.

        Raises the child's exception, or EOFError or OSError if the child ends or takes too long.
        """
        self._connection.send(message)
        if not self._connection.poll(within_s):
            raise TimeoutError
        answer = self._connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


def serve(descriptor: int) -> None:
    """Render each page that the parent sends, until the parent ends or sends none for _IDLE_S.

    ``descriptor`` is the child's end of the connection.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C, the parent ends the child
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the signing key
    with Connection(descriptor) as parent, suppress(EOFError, OSError):
        setup: _Setup = parent.recv()
        try:
            renderer = PdfRenderer(setup.files.get)
        except PDFUnavailable as error:
            parent.send(error)
            return
        parent.send(None)
        # The priority is lowered only after the slow import of WeasyPrint in PdfRenderer, because a
        # client may be waiting for the import.
        lower_priority(NICENESS)
        signer = _LazySigner(setup.key)
        while parent.poll(_IDLE_S):
            page: _Page = parent.recv()
            try:
                pdf = renderer.render(page.html, page.embedded)
                parent.send(signer.sign(pdf) if page.is_signed else SignedPdf(pdf, None))
            except Exception as error:
                parent.send(RenderingFailed(type(error).__name__))


class _LazySigner:
    """Loads the key, and pyHanko, which takes a second, for the first page that is signed."""

    def __init__(self, key: SigningKey | None) -> None:
        self._key = key
        self._signer: Signer | None = None

    def sign(self, pdf: bytes) -> SignedPdf:
        """Return a PDF signed, or without a signature if the key does not work.

        The records were paid for, so a dossier of them is issued all the same, and says so.
        """
        try:
            if self._signer is None and self._key is not None:
                self._signer = Signer(self._key)
            if self._signer is not None:
                return self._signer.sign(pdf)
        except Exception:  # noqa: S110 the parent logs that there is no signature
            pass
        return SignedPdf(pdf, None)
