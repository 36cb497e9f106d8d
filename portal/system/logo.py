"""Converts the SVG or PNG file of the logo on dossiers (vehicle reports) to a ``data:`` URL.

An SVG with scripts or references to other files is refused. If the portal removed these parts
instead, the logo could look different without a warning to the operator.
"""

import base64
import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

MAX_BYTES: Final = 100_000
_LARGEST_SIDE: Final = 4000  # pixels
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "{http://www.w3.org/2000/svg}"
_USE: Final = f"{_SVG}use"
# Elements that run code, show other documents, or change the attributes of elements over time.
_REFUSED: Final = frozenset(
    {"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "set"}
)
_OWN_REFERENCE: Final = re.compile(r"\s*(#|data:image/(png|jpeg);base64,)")
_FOREIGN_URL: Final = re.compile(
    r"url\((?!\s*['\"]?\s*#)|image-set\(|@import|expression\(|\\", re.IGNORECASE
)
# One number or length, with the separator after it. The PDF renderer reads no other notation, such
# as "calc(1px + 2px)".
_NUMBERS: Final = re.compile(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?(px|pt|mm|cm|in|em|%)?[\s,]*")
_MOST_ELEMENTS: Final = 2000


class InvalidLogo(ValueError):
    """The file cannot be used as a logo. The message gives the reason in a few words."""


def logo_url(path: Path) -> str:
    """Return the file as a ``data:`` URL. Raises InvalidLogo."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidLogo(f"it cannot be read: {error.strerror or type(error).__name__}") from None
    if len(content) > MAX_BYTES:
        raise InvalidLogo(f"it has more than {MAX_BYTES} bytes")
    if content.startswith(_PNG):
        _check_png(content)
        kind = "image/png"
    else:
        _check_svg(content)
        kind = "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _check_png(content: bytes) -> None:
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    if content[12:16] != b"IHDR" or not content.endswith(b"IEND\xaeB`\x82"):
        raise InvalidLogo("the PNG is not whole")
    if not 0 < width <= _LARGEST_SIDE or not 0 < height <= _LARGEST_SIDE:
        raise InvalidLogo(f"the PNG is larger than {_LARGEST_SIDE} pixels")


def _check_svg(content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidLogo("it is neither a PNG nor an SVG in UTF-8") from None
    # XML entities may expand without limit or refer to files. "<?xml-stylesheet" refers to a file.
    if re.search(r"<!(DOCTYPE|ENTITY)|<\?xml-", text, re.IGNORECASE):
        raise InvalidLogo("the SVG has a DOCTYPE or a style sheet of its own file")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 no DOCTYPE, and the operator's own file
    except (ElementTree.ParseError, ValueError):
        raise InvalidLogo("it is neither a PNG nor an SVG") from None
    if root.tag != f"{_SVG}svg":
        raise InvalidLogo("it is neither a PNG nor an SVG")
    for element in root.iter():
        _check_element(element)
    for name in ("viewBox", "width", "height"):
        if _NUMBERS.sub("", root.get(name, "")):
            raise InvalidLogo(f"the SVG's {name} is not a number")
    # A ``use`` element draws a copy of another element. Refuse a ``use`` whose target contains a
    # ``use``, because nine nested levels of ten copies each would draw 10⁹ shapes.
    uses = [value for each in root.iter(_USE) for name, value in each.items() if "href" in name]
    used = (each for each in root.iter() if f"#{each.get('id')}" in uses)
    if any(child.tag == _USE for each in used for child in each.iter()):
        raise InvalidLogo("the SVG has a use of something that has a use itself")
    if sum(1 for _ in root.iter()) > _MOST_ELEMENTS:
        raise InvalidLogo(f"the SVG has more than {_MOST_ELEMENTS} elements")


def _check_element(element: ElementTree.Element) -> None:
    name = element.tag.rpartition("}")[2]
    if name.lower() in _REFUSED or name.lower().startswith("animate"):
        raise InvalidLogo(f"the SVG has an element {name}")
    if name == "style" and _FOREIGN_URL.search("".join(element.itertext())):
        raise InvalidLogo("the SVG refers to another file")
    for attribute, value in element.attrib.items():
        plain = attribute.rpartition("}")[2].lower()
        if plain.startswith("on"):
            raise InvalidLogo(f"the SVG has a script in {plain}")
        is_reference = plain in ("href", "src", "srcset")
        if (is_reference and not _OWN_REFERENCE.match(value)) or _FOREIGN_URL.search(value):
            raise InvalidLogo("the SVG refers to another file")
