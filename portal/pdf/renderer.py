"""Renders HTML as accessible PDF with the optional package WeasyPrint."""

import ctypes
import gc
import importlib.util
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

# WeasyPrint resolves paths such as /static/… against this URL, which is never requested.
_BASE_URL: Final = "http://portal.invalid/"
# Libraries that WeasyPrint loads. The first library also loads its dependencies: pango, gobject,
# harfbuzz and fontconfig.
_LIBRARIES: Final = ("libpangoft2-1.0.so.0", "libharfbuzz-subset.so.0")

# At its default level, fontTools logs every table of each font that it subsets.
logging.getLogger("fontTools").setLevel(logging.WARNING)

File = tuple[str, bytes]  # content type, content


class PDFUnavailable(Exception):
    """WeasyPrint, or a library that it loads, is not installed."""


class UnknownFile(KeyError):
    """A page names a file below ``/static/`` that does not exist."""


def is_evidently_installed() -> bool:
    """Return whether WeasyPrint and its libraries are installed.

    The function does not import WeasyPrint, because the import takes 0.7 s. Outside Linux the
    libraries have other names, so the function may return False although everything is installed.
    """
    try:
        for name in _LIBRARIES:
            ctypes.CDLL(name)
    except OSError:
        return False
    return importlib.util.find_spec("weasyprint") is not None


class PdfRenderer:
    """Renders HTML as accessible PDF (PDF/UA-1). Caches fonts and parsed style sheets.

    A page may load only ``data:`` URLs, and paths below ``/static/`` for which ``find`` returns a
    file. The constructor raises PDFUnavailable if WeasyPrint is not usable. Two threads must not
    use a renderer at once, because the font map of pango (a text library) is not thread-safe.
    """

    def __init__(self, find: Callable[[str], File | None]) -> None:
        try:
            import weasyprint  # imported late, because the import takes 0.7 s
            from weasyprint.text.fonts import FontConfiguration
        except (ImportError, OSError) as error:
            raise PDFUnavailable(type(error).__name__) from None
        # fontTools writes this time instead of the current time into the fonts, so that the same
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
        """Return the parsed style sheets that the page links to, and remove the links.

        If the links remained, WeasyPrint would parse the sheets again for each page.
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

    A layout creates about 100,000 objects that live until the layout ends. Without the pause, the
    collector would traverse these objects repeatedly, which would take a tenth of the rendering
    time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
