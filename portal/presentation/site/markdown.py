"""A part of an HTML page as Markdown, for programs and language models."""

from typing import Any, Final

_SHELL: Final = {"curl": "sh"}  # what the page calls a shell script


def markdown_of(html: str, part: str, left_out: str) -> str:
    """Return the element that the CSS selector ``part`` finds, without what ``left_out`` finds."""
    # Imported here, because few processes ever need them.
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    content: Any = BeautifulSoup(html, "html.parser").select_one(part)
    for element in content.select(left_out):
        element.decompose()
    for element in content.select("small, summary"):
        element.insert_before(" ")
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", code_language_callback=_language
    )
    return str(converter.convert_soup(content)).strip() + "\n"


def _language(block: Any) -> str:
    written = str(block.code.get("data-language", "")) if block.code else ""
    return _SHELL.get(written, written)
