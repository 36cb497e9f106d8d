"""HTML checks that every page of the portal must pass.

``check_html`` raises PageFault with all faults of a page. It checks that the markup has no parse
error of the HTML standard, language, title, heading, ids, references to ids, image alternatives,
labels and CSRF tokens. It rejects content that a Content-Security-Policy without inline scripts and
styles would block.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Comment, Element

import markupever
import turbohtml
from turbohtml.treebuild import parse_into

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"

# Attributes whose value is one or more ids of other elements, separated by blanks.
_REFERENCES = (
    "for",
    "headers",
    "list",
    "form",
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
    "aria-owns",
    "aria-details",
    "aria-errormessage",
    "aria-activedescendant",
    "aria-flowto",
    "popovertarget",
    "commandfor",
)
_LOADING = ("src", "srcset", "poster", "data", "action", "formaction", "background")
_UNLABELLED = ("hidden", "submit", "button", "reset", "image")
_NAMES_ONLY = ("canonical", "alternate")  # rel of links that browsers do not fetch
_CSS_URL = re.compile(r"url\(\s*['\"]?#([^'\")]+)")


class PageFault(AssertionError):
    """A page breaks at least one rule; the message has a line for each broken rule."""


class _TreeBuilder:
    """Builds a tree with names in Clark notation. Its nodes are elements, texts, and None."""

    def create_document(self) -> Any:
        return Element("document")

    def create_element(
        self, name: str, namespace: str, attrs: tuple[tuple[str, str | None], ...]
    ) -> Any:
        return Element(f"{{{namespace}}}{name}", {key: value or "" for key, value in attrs})

    def create_text(self, data: str) -> Any:
        return data

    def create_comment(self, data: str) -> Any:
        return Comment(data)

    def create_doctype(self, *_: str | None) -> Any:
        return None

    def create_pi(self, *_: str) -> Any:
        return None

    def append(self, parent: Any, child: Any) -> None:
        if not isinstance(child, str | None):
            parent.append(child)
        elif child and len(parent):
            parent[-1].tail = (parent[-1].tail or "") + child
        elif child:
            parent.text = (parent.text or "") + child


def parse(text: str) -> Element:
    """Parse a document into a tree with names in Clark notation; bad markup raises no error."""
    root: Element = parse_into(text, _TreeBuilder())[0]
    return root


def check_html(text: str) -> Element:
    """Check a whole page and return its tree; raises PageFault."""
    root = parse(text)
    faults = [
        *_markup_faults(text),
        *_document_faults(text, root),
        *_reference_faults(root),
        *_form_faults(root),
        *_security_faults(root),
    ]
    if faults:
        raise PageFault("\n".join(faults))
    return root


def text_of(element: Element) -> str:
    """All the text in an element, with white space collapsed."""
    return " ".join("".join(element.itertext()).split())


def _markup_faults(text: str) -> Iterator[str]:
    """Yield the parse errors: those of the structure from html5ever, which names no place.

    html5ever reads ``noscript`` as a browser with scripts does, as a text. turbohtml reads what is
    in it, and finds the errors within a tag.
    """
    options = markupever.HtmlOptions(full_document=True, exact_errors=True)
    yield from markupever.Parser(options).process(text).finish().errors()
    for error in turbohtml.parse(text).errors:
        yield f"line {error.line}, column {error.col}: {error.code}"


def _document_faults(text: str, root: Element) -> Iterator[str]:
    if not re.match(r"\s*<!doctype html>", text, re.IGNORECASE):
        yield "the page does not begin with <!doctype html>"
    if root.get("lang") != "pt-BR":
        yield f"lang is {root.get('lang')!r}, not pt-BR"
    titles = root.findall(f"{HTML}head/{HTML}title")
    if len(titles) != 1 or not text_of(titles[0]):
        yield f"{len(titles)} titles, or an empty one"
    headings = list(root.iter(f"{HTML}h1"))
    if len(headings) != 1 or not text_of(headings[0]):
        yield f"{len(headings)} h1 headings, or an empty one"
    for image in root.iter(f"{HTML}img"):
        if image.get("alt") is None:
            yield f"img {image.get('src')!r} has no alt"


def _reference_faults(root: Element) -> Iterator[str]:
    ids = Counter(element.get("id") for element in root.iter() if element.get("id") is not None)
    for name, times in ids.items():
        if times > 1:
            yield f"id {name!r} is used {times} times"
        if not name or re.search(r"\s", name):
            yield f"id {name!r} is empty or holds a blank"
    for element in root.iter():
        for attribute, wanted in _referred(element):
            if wanted not in ids:
                yield f"{_name(element)} {attribute} refers to {wanted!r}, which is not there"


def _referred(element: Element) -> Iterator[tuple[str, str]]:
    """Yield (attribute, id) for each reference of an element to another element."""
    for attribute, value in element.attrib.items():
        local = _local(attribute)
        if local in _REFERENCES:
            words = value.split()
            yield from ((local, word) for word in words)
            if not words:
                yield local, ""
        elif local == "href" and value.startswith("#") and value not in ("#", "#top"):
            yield local, value[1:]
        if "url(" in value:
            yield from ((local, target) for target in _CSS_URL.findall(value))


def _form_faults(root: Element) -> Iterator[str]:
    labelled = {label.get("for") for label in root.iter(f"{HTML}label")}
    wrapped = {id(inner) for label in root.iter(f"{HTML}label") for inner in label.iter()}
    controls = [
        element
        for kind in ("input", "select", "textarea")
        for element in root.iter(HTML + kind)
        if element.get("type", "text").lower() not in _UNLABELLED
    ]
    for control in controls:
        named = control.get("aria-label", "").strip() or control.get("aria-labelledby")
        if not (named or id(control) in wrapped or control.get("id") in labelled - {None}):
            yield f"{_name(control)} {control.get('name')!r} has no label"
    for button in root.iter(f"{HTML}button"):
        pictures = [image.get("alt") for image in button.iter(f"{HTML}img")]
        if not (text_of(button) or button.get("aria-label") or any(pictures)):
            yield "a button has no name"
    for form in root.iter(f"{HTML}form"):
        tokens = [
            field.get("value")
            for field in form.iter(f"{HTML}input")
            if field.get("name") == "csrf_token"
        ]
        is_post = form.get("method", "get").lower() == "post"
        if is_post and (len(tokens) != 1 or not tokens[0]):
            yield f"POST form {form.get('action')!r} has no csrf_token"
        if not is_post and tokens:
            yield f"GET form {form.get('action')!r} puts its csrf_token into the address"


def _security_faults(root: Element) -> Iterator[str]:
    for element in root.iter():
        name = _name(element)
        if name == "style":
            yield "a style element"
        if name == "script" and (not element.get("src") or text_of(element)):
            yield "an inline script"
        if name == "base":
            yield "a base element"
        for attribute, value in element.attrib.items():
            local = _local(attribute)
            if local == "style":
                yield f"{name} has a style attribute"
            if local.startswith("on"):
                yield f"{name} has {local}"
            if ":" in value and re.match(r"\s*(javascript|vbscript):", value, re.IGNORECASE):
                yield f"{name} {local} holds a script"
            if _loads(element, local):
                yield from (
                    f"{name} {local} goes to {address!r}"
                    for address in _addresses(local, value)
                    if _is_elsewhere(address)
                )
    for meta in root.iter(f"{HTML}meta"):
        if meta.get("http-equiv", "").lower() == "refresh" and "://" in meta.get("content", ""):
            yield "a refresh leads elsewhere"


def _loads(element: Element, attribute: str) -> bool:
    """Whether a browser fetches the attribute's URL, or submits a form to it."""
    if attribute == "href":
        if element.tag == f"{HTML}link":
            return element.get("rel", "").lower() not in _NAMES_ONLY
        return element.tag.startswith(SVG) and element.tag != f"{SVG}a"
    return attribute in _LOADING


def _addresses(attribute: str, value: str) -> list[str]:
    if attribute == "srcset":
        return [candidate.split()[0] for candidate in value.split(",") if candidate.strip()]
    return [value.strip()]


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


@cache
def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2].lower()


def _name(element: Element) -> str:
    # In ElementTree, the tag of an HTML comment is a function, not a string.
    return _local(element.tag) if isinstance(element.tag, str) else "comment"
