"""Renders HTML as accessible, archival PDF with the optional package WeasyPrint."""

import gc
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from portal import VERSION
from portal.pdf import archival, structure
from portal.pdf.archival import Embedded

# WeasyPrint resolves paths such as /static/… against this URL, which is never requested.
_BASE_URL: Final = "http://portal.invalid/"

# WeasyPrint tries to break a long word after each letter, and each try takes as long as the word. A
# word of 5,000 letters would take 22 s. Longer words therefore may break after each _MOST_LETTERS
# letters, and are cut after _LONGEST_WORD letters. A no-break space is part of a word.
_MOST_LETTERS: Final = 60
_LONGEST_WORD: Final = 500
_LONG_WORD: Final = re.compile(rf"[^ \t\n\r\f]{{{_MOST_LETTERS + 1},}}")
_ZERO_WIDTH_SPACE: Final = "\u200b"
# Elements that dossier.css hides in print. WeasyPrint would parse, match and style what they
# contain, which is three quarters of the elements of a dossier with 45 fines. None of them contains
# an element of its own kind.
_ON_SCREEN_ONLY: Final = re.compile(
    '<section class="in-full".*?</section>'
    '|<nav class="toolbar".*?</nav>'
    '|<svg [^>]*price-chart--compact".*?</svg>',
    re.DOTALL,
)
# The text in these elements is not laid out.
_NO_TEXT: Final = frozenset({"style", "script", "title", "desc"})

# At its default level, fontTools logs every table of each font that it subsets.
logging.getLogger("fontTools").setLevel(logging.WARNING)

File = tuple[str, bytes]  # content type, content


class PDFUnavailable(Exception):
    """WeasyPrint, or a library that it loads, is not installed."""


class UnknownFile(KeyError):
    """A page names a file below ``/static/`` that does not exist."""


class PdfRenderer:
    """Renders HTML as accessible, archival PDF (PDF/UA-1, PDF/A-3a).

    Caches fonts and parsed style sheets. A page may load only ``data:`` URLs, and paths below
    ``/static/`` for which ``find`` returns a file. The constructor raises PDFUnavailable if
    WeasyPrint is not usable. Two threads must not use a renderer at once, because the font map of
    pango (a text library) is not thread-safe.
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

    def render(self, html: str, embedded: Embedded | None = None) -> bytes:
        """Return a page as PDF. The same page and file always give the same bytes."""
        with _gc_paused(), warnings.catch_warnings():
            # WeasyPrint leaves the file of the colour profile to the garbage collector.
            warnings.simplefilter("ignore", ResourceWarning)
            document = self._weasyprint.HTML(
                string=_ON_SCREEN_ONLY.sub("", html),
                base_url=_BASE_URL,
                url_fetcher=self._fetcher,
            )
            _name_generator(document.etree_element)
            _break_long_words(document.etree_element)
            remove_unlinked_ids(document.etree_element)
            pdf = document.write_pdf(
                stylesheets=self._linked_sheets(document),
                font_config=self._fonts,
                pdf_variant=archival.VARIANT,
                attachments=[archival.attachment(self._weasyprint, embedded)] if embedded else [],
                finisher=lambda _, pdf: _finish(pdf),
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


def _finish(pdf: Any) -> None:
    structure.correct(pdf)
    archival.finish(pdf)


def _name_generator(root: Any) -> None:
    """Name the portal and its version as the program that made the document (PDF: Creator)."""
    head = root.find("head")
    if head is not None:
        name = {"name": "generator", "content": f"Dossiê Veicular {VERSION}"}
        head.append(head.makeelement("meta", name))


def remove_unlinked_ids(root: Any) -> None:
    """Remove the ids that no link of the page names. Those in pictures stay.

    WeasyPrint computes a style once for equal elements, but not for those inside an element with
    an id. With an id on each fine, it would compute the style of each cell.
    """
    linked = {link.get("href", "") for link in root.iter("a")}
    for element in root.iter():
        address = f"#{element.get('id')}"
        if "id" in element.attrib and address not in linked and element.tag[0] != "{":
            del element.attrib["id"]


def _break_long_words(root: Any) -> None:
    for element in root.iter():
        if element.text and element.tag not in _NO_TEXT:
            element.text = _LONG_WORD.sub(_broken, element.text)
        if element.tail:
            element.tail = _LONG_WORD.sub(_broken, element.tail)


def _broken(match: re.Match[str]) -> str:
    word = match[0]
    if len(word) > _LONGEST_WORD:
        word = f"{word[:_LONGEST_WORD]}…"
    parts = (word[at : at + _MOST_LETTERS] for at in range(0, len(word), _MOST_LETTERS))
    return _ZERO_WIDTH_SPACE.join(parts)


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
