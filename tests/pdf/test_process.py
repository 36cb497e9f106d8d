"""The child process that renders PDFs: its life, failures and environment."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from portal.pdf import PdfProcess, PdfRenderer, PDFUnavailable, RenderingFailed, process
from portal.pdf.renderer import is_evidently_installed
from tests.fakes.ports import wait_until

PAGE = '<!doctype html><html lang="pt-BR"><head><title>t</title>{}</head><body>{}</body></html>'
STYLED = PAGE.format('<link rel="stylesheet" href="/static/page.css">', "texto")
FILES = {"page.css": ("text/css", b"@page { size: 150pt 300pt }")}


def here(_: str) -> bytes:
    return b"rendered here"


@pytest.fixture
def pdfs() -> Iterator[PdfProcess]:
    pytest.importorskip("weasyprint")
    pdfs = PdfProcess(lambda: FILES, here, lambda: True)
    yield pdfs
    pdfs._end_child()


def opened(pdfs: PdfProcess) -> PdfProcess:
    """Open an archive and render a page. The rendering starts the child process."""
    try:
        pdfs.open()
        pdfs.render(STYLED)
    except PDFUnavailable:
        pytest.skip("a library of WeasyPrint is not installed")
    return pdfs


def child(pdfs: PdfProcess) -> int | None:
    return pdfs._child._process.pid if pdfs._child else None


def test_child_renders_with_the_portals_files_and_ends_with_the_last_user(
    pdfs: PdfProcess,
) -> None:
    opened(pdfs)
    pid = child(pdfs)
    assert pid is not None
    opened(pdfs)
    assert child(pdfs) == pid
    pdf = pdfs.render(STYLED)
    assert [float(side) for side in PdfReader(BytesIO(pdf)).pages[0].mediabox] == [0, 0, 150, 300]
    pdfs.close()
    assert pdfs.render(STYLED) == pdf
    pdfs.close()
    assert child(pdfs) is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_failed_page_does_not_end_the_child(pdfs: PdfProcess) -> None:
    opened(pdfs)
    pid = child(pdfs)
    missing = PAGE.format('<link rel="stylesheet" href="/static/other.css">', "")
    with pytest.raises(RenderingFailed, match="UnknownFile"):
        pdfs.render(missing)
    assert pdfs.render(STYLED).startswith(b"%PDF")
    assert child(pdfs) == pid
    pdfs.close()


def test_killed_child_fails_one_page_and_is_replaced(pdfs: PdfProcess) -> None:
    opened(pdfs)
    pid = child(pdfs)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RenderingFailed):
        pdfs.render(STYLED)
    assert pdfs.render(STYLED).startswith(b"%PDF")
    assert child(pdfs) not in (None, pid)
    pdfs.close()


def test_opening_again_waits_for_no_child(pdfs: PdfProcess) -> None:
    """An archive's download starts while another archive's page is rendered."""
    opened(pdfs)
    with pdfs._lock:  # held during a rendering
        second = threading.Thread(target=pdfs.open)
        second.start()
        second.join(30)
        assert not second.is_alive()
    pdfs.close()
    pdfs.close()


def test_first_byte_waits_for_no_import_where_the_libraries_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imports = []

    def import_here() -> bool:
        imports.append(1)
        return True

    pdfs = PdfProcess(lambda: FILES, here, import_here)
    for is_found in (True, False):
        monkeypatch.setattr(process, "is_evidently_installed", lambda found=is_found: found)
        pdfs.open()
        assert child(pdfs) is None
        assert len(imports) == (not is_found)
    pdfs.close()
    pdfs.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries have other names")
def test_found_libraries_are_what_weasyprint_loads() -> None:
    try:
        PdfRenderer(FILES.get)
    except PDFUnavailable:
        assert not is_evidently_installed()
    else:
        assert is_evidently_installed()


def test_child_has_a_lower_priority_and_no_settings(
    pdfs: PdfProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTAL_UPSTREAM_TOKEN", "secret")
    opened(pdfs)
    pdfs.render(STYLED)
    pid = child(pdfs)
    assert pid is not None
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, mine + process.NICENESS)
    environment = Path(f"/proc/{pid}/environ")
    if environment.exists():
        assert b"PORTAL_" not in environment.read_bytes()
    pdfs.close()


def test_child_ends_with_its_parent(pdfs: PdfProcess) -> None:
    opened(pdfs)
    running = pdfs._child
    assert running is not None
    running._connection.close()  # as the system does at the end of the parent
    wait_until(lambda: running._process.poll() is not None, "the end of the child", 30)
    assert running._process.returncode == 0


def test_renders_in_this_process_where_no_child_can_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    starts = []

    def refuse(*_: object, **__: object) -> None:
        starts.append(1)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(process, "is_evidently_installed", lambda: False)
    pdfs = PdfProcess(lambda: FILES, here, lambda: True)
    pdfs.open()
    assert pdfs.render(STYLED) == pdfs.render(STYLED) == b"rendered here"
    assert len(starts) == 1
    assert "EAGAIN" in caplog.text
    pdfs.close()
    unable = PdfProcess(lambda: FILES, here, lambda: False)
    with pytest.raises(PDFUnavailable):
        unable.open()


def test_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that lacks the PDF library reports this and ends."""
    monkeypatch.setattr(process._Child, "_received", lambda *_: process._UNAVAILABLE)
    pdfs = PdfProcess(lambda: FILES, here, lambda: True)
    pdfs.open()
    with pytest.raises(PDFUnavailable):
        pdfs.render(STYLED)
    assert child(pdfs) is None
    pdfs.close()
