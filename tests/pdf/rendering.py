"""PDFs that a test renders in its own process, or that one process renders for all tests."""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from portal.pdf.archival import Embedded
from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable
from tests import run_folder
from tests.presentation.rendering import ASSETS


def render_pdf(html: str) -> bytes:
    """Render a page with the portal's static files. Raises PDFUnavailable."""
    return renderer().render(html)


@cache
def rendered(html: str, embedded: Embedded | None = None) -> bytes:
    """Return ``render_pdf(html)``, rendered once in a run of tests. Raises PDFUnavailable."""
    shared = run_folder.path()
    if shared is None:
        return renderer().render(html, embedded)
    file = shared / hashlib.sha256(repr((html, embedded)).encode()).hexdigest()
    with _locked(file.with_suffix(".lock")):
        if not file.exists():
            file.write_bytes(renderer().render(html, embedded))
    return file.read_bytes()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def can_render_pdf() -> bool:
    try:
        renderer()
    except PDFUnavailable:
        return False
    return True


@cache
def renderer() -> PdfRenderer:
    return PdfRenderer(_file)


def _file(path: str) -> File | None:
    asset = ASSETS.files.get(path)
    return None if asset is None else (asset.content_type, asset.body)
