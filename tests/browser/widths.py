"""Looks at one loaded page at several widths: a load takes much longer than a layout."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def at_each_width(page: "Page", *widths: int, height: int = 740) -> Iterator[int]:
    """Resize the loaded page to each width in turn."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": height})
        yield width
