"""Each specimen as HTML and as a checked tree, made once for the tests that read it."""

from functools import cache
from xml.etree.ElementTree import Element

from tests.presentation.rendering import render
from tests.presentation.specimens import PAGES
from tests.web.html_checker import check_html


@cache
def html_of(name: str) -> str:
    """Return the page that a guest of a portal in demo mode sees."""
    return render(PAGES[name]())


@cache
def checked(name: str) -> Element:
    """Return the same page as a tree. Raises PageFault. A test must not change the tree."""
    return check_html(html_of(name))
