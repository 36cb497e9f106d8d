"""HTML as a light tree, and as plain text that tells what a page says and links to.

The parser only reads the portal's own pages, which ``tests/web/html_checker.py`` proves valid, also
those of former commits, in whose checkouts no other parser may be installed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Union

_TOKEN = re.compile(
    r"<!--.*?-->|<!doctype[^>]*>|<(/?)([a-zA-Z][\w-]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>", re.S
)
_ATTRIBUTE = re.compile(r"([\w:-]+)(?:=\"([^\"]*)\"|='([^']*)'|=([^\s\"'>]+))?")
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
_RAW = {"script", "style"}
# Elements that start a line of the text. The others stand within one.
_BLOCKS = {
    *("address", "article", "aside", "body", "button", "caption", "dd", "details", "div", "dl"),
    *("dt", "fieldset", "footer", "form", "h1", "h2", "h3", "h4", "header", "hr", "input", "label"),
    *("legend", "li", "main", "nav", "ol", "option", "p", "section", "select", "summary", "table"),
    *("tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "svg", "text"),
}  # fmt: skip
_MARKS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "li": "- ", "dt": "? ", "dd": ": "}
_MARKS |= {"th": "| ", "td": "| ", "option": "* ", "caption": "^ ", "summary": "> "}
# Attributes that a visitor sees or hears, or that decide what a form sends.
_TOLD = ("aria-label", "alt", "title", "placeholder", "value", "content")
_STATES = ("checked", "selected", "open", "disabled", "aria-current", "aria-sort")
_LEFT_OUT = {"script", "style", "link", "noscript", "template"}
# The frame around all pages, which says nothing of a vehicle.
_FRAME = {"skip-link", "site-header", "site-footer"}
# The icons on paper have no names.
_SHAPES = {
    "m7.5 12.5": "check",
    "m8.8 8.8": "cross",
    "M12 1.8": "alert",
    "3.2 2.77": "question",
    "M12 6.5": "clock",
}


@dataclass(slots=True)
class Node:
    """An element; a child that is a str is a text."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Union["Node", str]] = field(default_factory=list)

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str = "", **attributes: str) -> list["Node"]:
        """Elements by tag and attributes; ``class_`` is one of the classes."""
        return [each for each in self.walk() if _matches(each, tag, attributes)]

    def first(self, tag: str = "", **attributes: str) -> "Node | None":
        return next((each for each in self.walk() if _matches(each, tag, attributes)), None)

    @property
    def text(self) -> str:
        """All the text in the element, with white space collapsed."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child._texts()

    @property
    def icons(self) -> list[str]:
        """The names of the icons in the element."""
        return [name for each in self.walk() if (name := icon_of(each))]


def _matches(node: Node, tag: str, attributes: dict[str, str]) -> bool:
    if tag and node.tag != tag:
        return False
    return all(
        value in node.attributes.get("class", "").split()
        if name == "class_"
        else node.attributes.get(name.replace("_", "-")) == value
        for name, value in attributes.items()
    )


def parse(html: str) -> Node:
    """Return the tree of a page or a fragment, below a node without a tag."""
    root = Node("")
    open_nodes = [root]
    at = 0
    raw = ""
    for token in _TOKEN.finditer(html):
        if raw and not (token[1] and token[2].lower() == raw):
            continue
        raw = ""
        if token.start() > at:
            open_nodes[-1].children.append(unescape(html[at : token.start()]))
        at = token.end()
        if token[2] is None:
            continue
        name = token[2].lower()
        if token[1]:
            if any(each.tag == name for each in open_nodes):
                while open_nodes.pop().tag != name:
                    pass
            continue
        inside = token[3]
        attributes = {
            found[1].lower(): unescape(found[2] or found[3] or found[4] or "")
            for found in _ATTRIBUTE.finditer(inside)
        }
        node = Node(name, attributes)
        open_nodes[-1].children.append(node)
        if name in _RAW:
            raw = name
        if name not in _VOID and not inside.endswith("/"):
            open_nodes.append(node)
    return root


def icon_of(node: Node) -> str:
    """Return the name of an icon, "" for any other element."""
    classes = node.attributes.get("class", "").split()
    if node.tag != "svg" or "icon" not in classes:
        return ""
    named = next((name.partition("--")[2] for name in classes if name.startswith("icon--")), "")
    if named:
        return named
    drawn = " ".join(
        each.attributes.get("d", "") + each.attributes.get("stroke-dasharray", "")
        for each in node.walk()
    )
    return next((name for shape, name in _SHAPES.items() if shape in drawn), "another icon")


def plain(node: Node) -> str:
    """Return what an element tells, a block a line."""
    lines = [""]

    def say(text: str) -> None:
        lines[-1] += text

    def new_line(start: str = "") -> None:
        if lines[-1].strip() in _EMPTY:
            lines[-1] = start or lines[-1]
        else:
            lines.append(start)

    _tell(node, say, new_line)
    told = (" ".join(line.split()) for line in lines)
    return "\n".join(line for line in told if line not in _EMPTY)


_EMPTY = {"", *(mark.strip() for mark in _MARKS.values())}


def _tell(node: Node, say: Callable[[str], None], new_line: Callable[[str], None]) -> None:
    kept = node.attributes
    if node.tag in _LEFT_OUT or kept.get("name") == "csrf_token":
        return
    if _FRAME & set(kept.get("class", "").split()):
        return
    if name := icon_of(node):
        say(f" [{name}] ")
        return
    is_block = node.tag in _BLOCKS
    if is_block:
        new_line(_MARKS.get(node.tag, ""))
    for said in _attributes(node):
        say(f" {said} ")
    for child in node.children:
        if isinstance(child, str):
            say(child)
        else:
            _tell(child, say, new_line)
    if is_block:
        new_line("")


def _attributes(node: Node) -> Iterator[str]:
    kept = node.attributes
    if node.tag == "meta":
        if kept.get("name") in ("description", "robots") and (text := kept.get("content")):
            yield f"{{{kept['name']}={text}}}"
        return
    for name in ("id", "for"):
        if kept.get(name):
            yield f"{{{name}={kept[name]}}}"
    for name in ("href", "action"):
        if name in kept and node.tag != "use":
            yield f"{{{kept.get(name)}}}"
    if node.tag in ("input", "select", "button") and "name" in kept:
        yield f"{{{kept['name']}}}"
    for name in _TOLD:
        if name in kept:
            yield f"{{{name}={kept[name]}}}"
    for name in _STATES:
        if name in kept:
            yield f"{{{name}}}"
    # A tone is a colour with a meaning.
    tones = [name for name in kept.get("class", "").split() if name.startswith("tone-")]
    if tones:
        yield f"{{{' '.join(tones)}}}"
