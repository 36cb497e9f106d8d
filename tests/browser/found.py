"""Read a property of an element or page, and fail if the property is missing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page, ViewportSize


def box_of(element: "Locator") -> "FloatRect":
    """Return the box of an element that is displayed, in CSS pixels."""
    box = element.bounding_box()
    assert box is not None
    return box


def content_of(element: "Locator") -> str:
    content = element.text_content()
    assert content is not None
    return content


def viewport_of(page: "Page") -> "ViewportSize":
    size = page.viewport_size
    assert size is not None
    return size
