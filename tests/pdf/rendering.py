"""PDFs that a test renders in its own process."""

from functools import cache

from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable
from tests.presentation.rendering import ASSETS


def render_pdf(html: str) -> bytes:
    """Render a page with the portal's static files. Raises PDFUnavailable."""
    return renderer().render(html)


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
