"""A part of an HTML page as Markdown, for programs and language models."""

from typing import Any, Final

_SHELL: Final = {"curl": "sh"}  # what the page calls a shell script


def markdown_of(html: str, part: str, left_out: str) -> str:
    """Return the element that the CSS selector ``part`` finds, without what ``left_out`` finds."""
    # Imported here, because few processes ever need them.
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    found: Any = BeautifulSoup(html, "html.parser").select_one(part)
    for each in found.select(left_out):
        each.decompose()
    for each in found.select("small, summary"):
        each.insert_before(" ")
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", code_language_callback=_language
    )
    return str(converter.convert_soup(found)).strip() + "\n"


def _language(block: Any) -> str:
    written = str(block.code.get("data-language", "")) if block.code else ""
    return _SHELL.get(written, written)
