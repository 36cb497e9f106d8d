"""The dossier's own HTML as a tagged PDF, by WeasyPrint where its libraries are at hand."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from portal.web.http.assets import Assets, UnknownAsset


class PDFUnavailable(Exception):
    """WeasyPrint or a library that it loads is missing on this machine."""


def render_pdf(html: str, assets: Assets) -> bytes:
    """PDF/UA-1 of a page; only our own ``/static/`` files and ``data:`` are ever loaded."""
    # One at a time, the making of the press included: pango's font map is not for several
    # threads, and Python would not set two papers faster than one after the other.
    with _one_at_a_time:
        return _press(assets).print(html)


_one_at_a_time = threading.Lock()


@lru_cache(1)
def _press(assets: Assets) -> "_Press":
    return _Press(assets)


class _Press:
    """What one paper leaves for the next: the fonts that were looked up, the sheets parsed."""

    def __init__(self, assets: Assets) -> None:
        try:
            import weasyprint  # late, and only here: it loads pango
            from weasyprint.text.fonts import FontConfiguration
        except (ImportError, OSError) as error:
            raise PDFUnavailable(type(error).__name__) from None
        self._weasyprint = weasyprint
        self._assets = assets
        self._fonts = FontConfiguration()
        self._fetcher = _own_files(weasyprint.urls, assets)
        self._sheets: dict[str, Any] = {}

    def print(self, html: str) -> bytes:
        with _undisturbed():
            document = self._weasyprint.HTML(
                string=html, base_url="http://portal.invalid/", url_fetcher=self._fetcher
            )
            pdf = document.write_pdf(
                stylesheets=self._sheets_of(document),
                font_config=self._fonts,
                pdf_variant="pdf/ua-1",
            )
        return bytes(pdf)

    def _sheets_of(self, document: Any) -> list[Any]:
        """The sheets that the page links to, parsed; their links are taken out of the page, for
        WeasyPrint would parse them again each time."""
        links = [
            link for link in document.etree_element.iter("link") if link.get("rel") == "stylesheet"
        ]
        return [self._sheet(link.attrib.pop("href")) for link in links]

    def _sheet(self, address: str) -> Any:
        if address not in self._sheets:
            body = _asset(self._assets, address).body
            self._sheets[address] = self._weasyprint.CSS(
                string=body.decode(), font_config=self._fonts, url_fetcher=self._fetcher
            )
        return self._sheets[address]


def _own_files(urls: Any, assets: Assets) -> Any:
    class OwnFiles(urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            asset = _asset(assets, url)
            return urls.URLFetcherResponse(url, asset.body, {"Content-Type": asset.content_type})

    return OwnFiles(allowed_protocols=("data",))


def _asset(assets: Assets, address: str) -> Any:
    _, _, path = address.partition("/static/")
    asset = assets.find(path)
    if asset is None:
        raise UnknownAsset(path)
    return asset


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No cyclic collection while a paper is set: a hundred thousand boxes live until its end,
    and walking through them again and again took a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
