"""A test client for pages, which validates every page before returning it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from tests.web.html_checker import HTML, PageFault, check_html, text_of


@dataclass(frozen=True, slots=True)
class Page:
    """A checked page; ``text`` is the body's text with blanks collapsed."""

    status: int
    html: str
    tree: Element = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @property
    def title(self) -> str:
        return text_of(self._only("title"))

    @property
    def h1(self) -> str:
        return text_of(self._only("h1"))

    @property
    def text(self) -> str:
        return text_of(self._only("body"))

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """Elements by tag and attribute values; ``class_`` matches one of the classes."""
        return [one for one in self.tree.iter(HTML + tag) if _matches(one, attributes)]

    def by_id(self, name: str) -> Element:
        found = [one for one in self.tree.iter() if one.get("id") == name]
        assert found, f"no element has the id {name!r}"
        return found[0]

    def csrf_token(self) -> str:
        """The token of the page's POST forms."""
        return str(self.all("input", name="csrf_token")[0].get("value"))

    def _only(self, tag: str) -> Element:
        return next(self.tree.iter(HTML + tag))


def _matches(element: Element, attributes: Mapping[str, str]) -> bool:
    def holds(name: str, value: str) -> bool:
        if name == "class_":
            return value in element.get("class", "").split()
        return element.get(name.replace("_", "-")) == value

    return all(holds(name, value) for name, value in attributes.items())


@dataclass(frozen=True, slots=True)
class PageClient:
    """Wraps a Flask test client; sends browser headers and checks every page."""

    client: Any

    def get(self, path: str, status: int = 200, **options: Any) -> Page:
        """Return the page. Another status raises AssertionError, bad HTML PageFault."""
        headers = {"Accept": "text/html", **options.pop("headers", {})}
        return self._page(self.client.get(path, headers=headers, **options), status)

    def post(self, path: str, status: int = 303, **options: Any) -> Page | str:
        """Return the page, or the Location of a redirect."""
        response = self.client.post(path, **options)
        if 300 <= response.status_code < 400:
            _expect(response, status)
            return str(response.headers["Location"])
        return self._page(response, status)

    def _page(self, response: Any, status: int) -> Page:
        _expect(response, status)
        kind = response.headers.get("Content-Type", "")
        if kind.replace(" ", "").lower() != "text/html;charset=utf-8":
            raise PageFault(f"Content-Type is {kind!r}")
        html = response.get_data(as_text=True)
        return Page(response.status_code, html, check_html(html), dict(response.headers))


def _expect(response: Any, status: int) -> None:
    assert response.status_code == status, (
        f"{response.status_code}, not {status}: {response.get_data(as_text=True)[:500]}"
    )


def every_reference(page: Page) -> Iterator[str]:
    """Each link to another page of the portal, without its fragment."""
    for link in page.tree.iter(f"{HTML}a"):
        address = str(link.get("href", "")).partition("#")[0]
        if address.startswith("/") and not address.startswith("//"):
            yield address
