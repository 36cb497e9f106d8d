"""The child process that renders PDFs: its life, failures and environment."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from pypdf import PdfReader

from portal.pdf import process
from portal.pdf.process import PdfProcess, RenderingFailed, RenderingInterrupted
from portal.pdf.renderer import PDFUnavailable
from tests.fakes import pdf_children
from tests.fakes.ports import wait_until

pytestmark = pytest.mark.long

PAGE = '<!doctype html><html lang="pt-BR"><head><title>t</title>{}</head><body>{}</body></html>'
STYLED = PAGE.format('<link rel="stylesheet" href="/static/page.css">', "texto")
FILES = {"page.css": ("text/css", b"@page { size: 150pt 300pt }")}


@pytest.fixture(scope="module", autouse=True)
def executed_children() -> Iterator[None]:
    with pdf_children.executed():
        yield


@pytest.fixture(scope="module")
def running() -> Iterator[PdfProcess]:
    """One process for all tests, because its start takes as long as all that they do."""
    pytest.importorskip("weasyprint")
    pdfs = PdfProcess(lambda: FILES)
    try:
        pdfs.check()
    except PDFUnavailable:
        pytest.skip("a library of WeasyPrint is not installed")
    yield pdfs
    pdfs._end_child()


@pytest.fixture
def pdfs(running: PdfProcess) -> PdfProcess:
    """A process with a child that waits for a page."""
    running.render(STYLED)
    return running


def child(pdfs: PdfProcess) -> int | None:
    return pdfs._child._process.pid if pdfs._child else None


def test_child_renders_with_the_portals_files_and_lives_on(pdfs: PdfProcess) -> None:
    pid = child(pdfs)
    pdf = pdfs.render(STYLED)
    assert [float(side) for side in PdfReader(BytesIO(pdf)).pages[0].mediabox] == [0, 0, 150, 300]
    assert pdfs.render_for_archive(STYLED) == pdf
    assert child(pdfs) == pid is not None


def test_failed_page_does_not_end_the_child(pdfs: PdfProcess) -> None:
    pid = child(pdfs)
    missing = PAGE.format('<link rel="stylesheet" href="/static/other.css">', "")
    with pytest.raises(RenderingFailed, match="UnknownFile"):
        pdfs.render(missing)
    assert pdfs.render(STYLED).startswith(b"%PDF")
    assert child(pdfs) == pid


def test_child_that_ended_is_replaced(pdfs: PdfProcess) -> None:
    running = pdfs._child
    assert running is not None
    running._process.kill()
    wait_until(lambda: running.has_ended, "the end of the child", 30)
    assert pdfs.render(STYLED).startswith(b"%PDF")
    assert child(pdfs) not in (None, running._process.pid)


def test_page_that_takes_too_long_fails_alone(
    pdfs: PdfProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = child(pdfs)
    assert pid is not None
    monkeypatch.setattr(process, "PAGE_WITHIN_S", 0.2)
    cells = "<td style='overflow-wrap: anywhere'>" + "W " * 4_000
    with pytest.raises(RenderingInterrupted):
        pdfs.render(PAGE.format("", f"<table><tr>{cells * 4}</table>"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    monkeypatch.undo()
    assert pdfs.render(STYLED).startswith(b"%PDF")


def test_waiting_is_limited_in_time_and_in_threads(
    pdfs: PdfProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PAGE_WITHIN_S", 2.0)
    reasons = []

    def wait() -> None:
        with pytest.raises(RenderingInterrupted) as raised:
            pdfs.render(STYLED)
        reasons.append(str(raised.value))

    with pdfs._turns.take(process._Rank.PERSON, 1):  # as a rendering does
        threads = [threading.Thread(target=wait) for _ in range(process.MOST_WAITING + 2)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(reasons) == 2, "the refusals", 30)
        assert set(reasons) == {"too many wait"}
        for thread in threads:
            thread.join(30)
    assert len(reasons) == process.MOST_WAITING + 2
    assert pdfs.render(STYLED).startswith(b"%PDF")


def test_a_persons_pdf_precedes_those_of_archives() -> None:
    turns, order = process._Turns(), []
    threads = []

    def take(rank: process._Rank, name: str) -> None:
        with turns.take(rank, 30):
            order.append(name)

    with turns.take(process._Rank.ARCHIVE, 1):
        for rank, name in (
            *((process._Rank.ARCHIVE, f"archive {number}") for number in range(3)),
            *((process._Rank.PERSON, f"person {number}") for number in range(2)),
        ):
            threads.append(threading.Thread(target=take, args=(rank, name)))
            threads[-1].start()
            wait_until(lambda: len(turns._waiting) == len(threads), "the wait", 30)
    for thread in threads:
        thread.join(30)
    assert order == ["person 0", "person 1", "archive 0", "archive 1", "archive 2"]


def test_a_turn_that_comes_too_late_is_given_up() -> None:
    turns = process._Turns()
    with turns.take(process._Rank.PERSON, 1):
        with pytest.raises(RenderingInterrupted), turns.take(process._Rank.PERSON, 0.01):
            pass
        assert not turns._waiting
    with turns.take(process._Rank.ARCHIVE, 1):
        pass


def test_check_waits_for_no_other_page(pdfs: PdfProcess) -> None:
    """An archive's download starts while another page is rendered."""
    pdfs.render(STYLED)
    with pdfs._turns.take(process._Rank.PERSON, 1):  # as a rendering does
        second = threading.Thread(target=pdfs.check)
        second.start()
        second.join(30)
        assert not second.is_alive()


def test_child_has_a_lower_priority_and_no_settings(
    pdfs: PdfProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdfs._end_child()
    monkeypatch.setenv("PORTAL_UPSTREAM_TOKEN", "secret")
    pdfs.render(STYLED)
    pid = child(pdfs)
    assert pid is not None
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, mine + process.NICENESS)
    environment = Path(f"/proc/{pid}/environ")
    if environment.exists():
        assert b"PORTAL_" not in environment.read_bytes()


def test_child_ends_with_its_parent(pdfs: PdfProcess) -> None:
    running = pdfs._child
    assert running is not None
    running._connection.close()  # as the system does at the end of the parent
    wait_until(lambda: running.has_ended, "the end of the child", 30)
    assert running._process.returncode == 0


@pytest.mark.slow
def test_child_ends_when_idle() -> None:
    pytest.importorskip("weasyprint")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        code = "import sys; from portal.pdf import process; process._IDLE_S = 0.1; "
        code += "process.serve(int(sys.argv[1]))"
        number = theirs.fileno()
        ended = subprocess.Popen([sys.executable, "-c", code, str(number)], pass_fds=[number])
        parent = Connection(ours.detach())
    parent.send(process._Setup({}, None))
    assert ended.wait(60) == 0
    parent.close()


@pytest.mark.slow
def test_child_that_cannot_start_interrupts_the_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(RenderingInterrupted):
        PdfProcess(lambda: FILES).render(STYLED)
    assert "EAGAIN" in caplog.text


def test_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that lacks the PDF library reports this and ends."""
    program = "import sys; sys.modules['weasyprint'] = None; "
    monkeypatch.setattr(process, "_PROGRAM", program + process._PROGRAM)
    pdfs = PdfProcess(lambda: FILES)
    for use in (pdfs.check, lambda: pdfs.render(STYLED)):
        with pytest.raises(PDFUnavailable):
            use()
    assert child(pdfs) is None
