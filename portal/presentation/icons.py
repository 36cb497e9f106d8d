"""The icons of the pages and the papers: an SVG element for each shape of ``icons.toml``.

A word always accompanies an icon, so screen readers skip it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from markupsafe import Markup

from portal.data_files import read_toml

_SHAPES: Final[Mapping[str, str]] = read_toml(__package__, "icons.toml", dict[str, str])
_SVG: Final = (
    '<svg class="icon icon--{name}" viewBox="0 0 24 24"{lines} aria-hidden="true">{shape}</svg>'
)
# On paper, lines and colours are attributes, because WeasyPrint applies no style sheet to an SVG.
_LINES: Final = (
    ' width="20" height="20" fill="none" stroke="{colour}" stroke-width="2.25" '
    'stroke-linecap="round" stroke-linejoin="round"'
)
PALETTE: Final[Mapping[str, str]] = {
    "danger": "#a11d17",
    "warn": "#7d4a00",
    "ok": "#12603a",
    "unknown": "#475162",
    "plain": "#17181c",
}


@cache
def icon(name: str, colour: str = "") -> Markup:
    """Return an icon with lines of this colour, or with those of the page's style sheet."""
    shape = _SHAPES[name].replace("{colour}", colour or "currentColor")
    lines = _LINES.format(colour=colour) if colour else ""
    return Markup(_SVG.format(name=name, lines=lines, shape=shape))  # noqa: S704


def paper_icon(name: str, tone: str) -> Markup:
    return icon(name, PALETTE[tone])
