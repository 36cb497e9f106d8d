"""Renders HTML as a tagged PDF with WeasyPrint, if it is installed."""

import ctypes
import gc
import importlib.util
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

# Paths such as /static/… need an address to be relative to. The renderer never requests it.
_BASE_URL: Final = "http://portal.invalid/"
# WeasyPrint loads these; the first depends on pango, gobject, harfbuzz and fontconfig.
_LIBRARIES: Final = ("libpangoft2-1.0.so.0", "libharfbuzz-subset.so.0")

# fontTools logs each table of a font that it reduces.
logging.getLogger("fontTools").setLevel(logging.WARNING)

File = tuple[str, bytes]  # content type, content


class PDFUnavailable(Exception):
    """WeasyPrint, or a library that it loads, is not installed."""


class UnknownFile(KeyError):
    """A page names a file below ``/static/`` that does not exist."""


def is_evidently_installed() -> bool:
    """Return whether WeasyPrint and its libraries were found, without the import of 0.7 s.

    False is no proof: the libraries have other names on other systems than Linux.
    """
    try:
        for name in _LIBRARIES:
            ctypes.CDLL(name)
    except OSError:
        return False
    return importlib.util.find_spec("weasyprint") is not None


class PdfRenderer:
    """Renders PDF/UA-1; caches the fonts and the parsed style sheets between renderings.

    It loads ``data:`` URLs and what ``find`` returns for a path below ``/static/``, nothing else.
    Raises PDFUnavailable. Not thread-safe, because pango's font map is not.
    """

    def __init__(self, find: Callable[[str], File | None]) -> None:
        try:
            import weasyprint  # imported on first use, because it loads pango
            from weasyprint.text.fonts import FontConfiguration
        except (ImportError, OSError) as error:
            raise PDFUnavailable(type(error).__name__) from None
        # fontTools writes this time into the fonts instead of the current one, so that the same
        # page always gives the same bytes.
        os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
        self._weasyprint = weasyprint
        self._find = find
        self._fonts = FontConfiguration()
        self._fetcher = _static_fetcher(weasyprint.urls, self._file)
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
        """The parsed style sheets that the page links to.

        Removes the links from the page, because WeasyPrint would parse the sheets again.
        """
        links = [
            link for link in document.etree_element.iter("link") if link.get("rel") == "stylesheet"
        ]
        return [self._sheet(link.attrib.pop("href")) for link in links]

    def _sheet(self, address: str) -> Any:
        if address not in self._sheets:
            _, body = self._file(address)
            self._sheets[address] = self._weasyprint.CSS(
                string=body.decode(),
                base_url=_BASE_URL,
                font_config=self._fonts,
                url_fetcher=self._fetcher,
            )
        return self._sheets[address]

    def _file(self, address: str) -> File:
        _, _, path = address.partition("/static/")
        file = self._find(path)
        if file is None:
            raise UnknownFile(path)
        return file


def _static_fetcher(urls: Any, file_at: Callable[[str], File]) -> Any:
    class StaticFetcher(urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            content_type, body = file_at(url)
            return urls.URLFetcherResponse(url, body, {"Content-Type": content_type})

    return StaticFetcher(allowed_protocols=("data",))


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector during layout.

    About 100,000 boxes live until the end of the layout, and the collector's repeated traversal of
    them took a tenth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
