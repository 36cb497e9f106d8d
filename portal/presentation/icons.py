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
    '<svg class="icon icon--{name}" viewBox="0 0 24 24" width="20" height="20" fill="none" '
    'stroke="{colour}" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round" '
    'aria-hidden="true" focusable="false">{shape}</svg>'
)
# Colours are presentation attributes on paper, because WeasyPrint applies no style sheet to an SVG.
PALETTE: Final[Mapping[str, str]] = {
    "danger": "#a11d17",
    "warn": "#7d4a00",
    "ok": "#12603a",
    "unknown": "#475162",
    "plain": "#17181c",
}


@cache
def icon(name: str, colour: str = "currentColor") -> Markup:
    shape = _SHAPES[name].replace("{colour}", colour)
    return Markup(_SVG.format(name=name, colour=colour, shape=shape))  # noqa: S704


def paper_icon(name: str, tone: str) -> Markup:
    return icon(name, PALETTE[tone])
