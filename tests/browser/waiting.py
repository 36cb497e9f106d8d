"""Waits for what a script of the page does."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def wait_in(page: "Page", expression: str, arg: object = None) -> None:
    """Wait until an expression or a function is true in the page.

    ``wait_for_function`` evaluates a string in the page, which its Content-Security-Policy forbids.
    """
    for _ in range(600):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never true: {expression}")
