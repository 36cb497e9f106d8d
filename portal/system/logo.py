"""Converts the SVG or PNG file of the logo on dossiers to a ``data:`` URL.

A browser shows the URL in an ``<img>``, where an SVG runs no scripts and loads no other files. The
PDF renderer runs no scripts and loads no other files (``portal.pdf.renderer``).
"""

import base64
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

MAX_BYTES: Final = 100_000
_LARGEST_SIDE: Final = 4000  # pixels
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "{http://www.w3.org/2000/svg}svg"


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
    if "<!DOCTYPE" in text.upper():  # its entities may expand without limit or refer to files
        raise InvalidLogo("the SVG has a DOCTYPE")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 no DOCTYPE, and the operator's own file
    except (ElementTree.ParseError, ValueError):
        raise InvalidLogo("it is neither a PNG nor an SVG") from None
    if root.tag != _SVG:
        raise InvalidLogo("it is neither a PNG nor an SVG")
