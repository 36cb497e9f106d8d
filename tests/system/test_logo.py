"""Logos: PNG and SVG files as data: URLs."""

import base64
import struct
import zlib
from pathlib import Path

import pytest

from portal.system.logo import MAX_BYTES, InvalidLogo, logo_url

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


def png(width: int = 1, height: int = 1) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND", b""))
    )


def url_of(tmp_path: Path, content: bytes) -> str:
    file = tmp_path / "logo"
    file.write_bytes(content)
    return logo_url(file)


def test_png_is_embedded_unchanged(tmp_path: Path) -> None:
    kind, _, text = url_of(tmp_path, png()).partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(text) == png()


@pytest.mark.parametrize(
    "inside",
    [
        '<path d="M0 0h1v1z"/>',
        '<defs><path id="a" d="M0 0"/></defs><use xlink:href="#a" fill="url(#g)"/>',
        "<style>.a { fill: url(#g) }</style>",
        "<style>.a { fill: url( '#g') }</style>",
        '<g fill="url( #g)"/>',
        '<image href="data:image/png;base64,iVBORw0KGgo="/>',
    ],
)
def test_svg_is_embedded(tmp_path: Path, inside: str) -> None:
    assert url_of(tmp_path, SVG.format(inside).encode()).startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GIF89a",
        b"<html/>",
        b"<svg/>",
        b"\xff\xfe",
        png()[:-1],
        png(5000, 1),
        png(0, 1),
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("&a;").encode(),
        SVG.format(" " * MAX_BYTES).encode(),
    ],
)
def test_other_file_is_refused_with_a_reason(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidLogo) as refused:
        url_of(tmp_path, content)
    assert str(refused.value) and "\n" not in str(refused.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidLogo, match="cannot be read"):
        logo_url(tmp_path / "none")
