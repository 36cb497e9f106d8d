"""Render the dossier's HTML as a tagged PDF with WeasyPrint, if it is installed."""

import gc
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from portal.web.http.assets import Assets, UnknownAsset

# The base address for paths such as /static/…. The renderer never sends a request to this address.
_BASE_URL: Final = "http://portal.invalid/"

# fontTools logs each table of a font when it removes unused glyphs.
logging.getLogger("fontTools").setLevel(logging.WARNING)


class PDFUnavailable(Exception):
    """Raised if WeasyPrint, or a library that it loads, is not installed."""


def render_pdf(html: str, assets: Assets) -> bytes:
    """Render a page as PDF/UA-1. Only files under ``/static/`` and ``data:`` URLs are loaded."""
    # Only one thread at a time renders a page or creates the renderer. The font map of pango is not
    # thread-safe, and Python would not make parallel renderings faster.
    with _render_lock:
        return _renderer(assets).render(html)


def can_render_pdf(assets: Assets) -> bool:
    """Return whether WeasyPrint and the libraries that it loads are installed."""
    try:
        with _render_lock:
            _renderer(assets)
    except PDFUnavailable:
        return False
    return True


_render_lock = threading.Lock()


@lru_cache(1)
def _renderer(assets: Assets) -> "_PdfRenderer":
    return _PdfRenderer(assets)


class _PdfRenderer:
    """Renders PDFs, and caches fonts and parsed style sheets between renderings."""

    def __init__(self, assets: Assets) -> None:
        try:
            import weasyprint  # imported on first use, because WeasyPrint loads pango
            from weasyprint.text.fonts import FontConfiguration
        except (ImportError, OSError) as error:
            raise PDFUnavailable(type(error).__name__) from None
        # fontTools writes SOURCE_DATE_EPOCH into the fonts instead of the current time, so that the
        # same page always gives the same bytes.
        os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
        self._weasyprint = weasyprint
        self._assets = assets
        self._fonts = FontConfiguration()
        self._fetcher = _static_fetcher(weasyprint.urls, assets)
        self._sheets: dict[str, Any] = {}

    def render(self, html: str) -> bytes:
        with _gc_paused():
            document = self._weasyprint.HTML(
                string=html, base_url=_BASE_URL, url_fetcher=self._fetcher
            )
            pdf = document.write_pdf(
                stylesheets=self._linked_sheets(document),
                font_config=self._fonts,
                pdf_variant="pdf/ua-1",
            )
        return bytes(pdf)

    def _linked_sheets(self, document: Any) -> list[Any]:
        """Return the parsed style sheets that the page links to.

        The links are removed from the page, because WeasyPrint would parse the sheets again.
        """
        links = [
            link for link in document.etree_element.iter("link") if link.get("rel") == "stylesheet"
        ]
        return [self._sheet(link.attrib.pop("href")) for link in links]

    def _sheet(self, address: str) -> Any:
        if address not in self._sheets:
            body = _asset(self._assets, address).body
            self._sheets[address] = self._weasyprint.CSS(
                string=body.decode(),
                base_url=_BASE_URL,
                font_config=self._fonts,
                url_fetcher=self._fetcher,
            )
        return self._sheets[address]


def _static_fetcher(urls: Any, assets: Assets) -> Any:
    class StaticFetcher(urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            asset = _asset(assets, url)
            return urls.URLFetcherResponse(url, asset.body, {"Content-Type": asset.content_type})

    return StaticFetcher(allowed_protocols=("data",))


def _asset(assets: Assets, address: str) -> Any:
    _, _, path = address.partition("/static/")
    asset = assets.find(path)
    if asset is None:
        raise UnknownAsset(path)
    return asset


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector during layout.

    About 100,000 boxes live until the end of the layout, and the collector took a tenth of the time
    to traverse them repeatedly.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
