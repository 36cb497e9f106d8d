"""Renders a dossier's HTML, which uses the portal's static files, as PDF."""

import threading
from functools import lru_cache, partial

from portal.pdf import File, PdfProcess, PdfRenderer, PDFUnavailable
from portal.web.http.assets import Assets

__all__ = ["PDFUnavailable", "can_render_pdf", "pdf_process", "render_pdf"]


def render_pdf(html: str, assets: Assets) -> bytes:
    """Render a page as PDF/UA-1. Only files under ``/static/`` and ``data:`` URLs are loaded."""
    # The lock allows one rendering at a time, because the font map of the library Pango is not
    # thread-safe. Parallel renderings would not be faster, because of the GIL.
    with _render_lock:
        return _renderer(assets).render(html)


def can_render_pdf(assets: Assets) -> bool:
    try:
        with _render_lock:
            _renderer(assets)
    except PDFUnavailable:
        return False
    return True


def pdf_process(assets: Assets) -> PdfProcess:
    def files() -> dict[str, File]:
        return {name: (each.content_type, each.body) for name, each in assets.items()}

    return PdfProcess(files, partial(render_pdf, assets=assets), partial(can_render_pdf, assets))


_render_lock = threading.Lock()


@lru_cache(1)
def _renderer(assets: Assets) -> PdfRenderer:
    def find(path: str) -> File | None:
        asset = assets.find(path)
        return None if asset is None else (asset.content_type, asset.body)

    return PdfRenderer(find)
