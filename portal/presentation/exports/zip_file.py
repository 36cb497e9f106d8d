"""Stream a ZIP archive without a temporary file."""

import zipfile
from collections.abc import Iterable, Iterator
from io import RawIOBase
from typing import Any


class Incomplete(Exception):
    """Raised by the files of an archive whose remaining files must not be sent."""


class _Buffer(RawIOBase):
    """A write-only file. ``take`` returns the bytes written since the last call."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def zip_stream(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a ZIP archive in parts, with only one file in memory at a time.

    ``files`` are pairs of a name and a content. The archive does not compress the files, because
    most of them are PDFs, which are already compressed. If ``files`` raises Incomplete, the archive
    ends without its central directory, so that no program takes it for a complete archive.
    """
    buffer = _Buffer()
    try:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name, content in files:
                archive.writestr(name, content)
                yield buffer.take()
    except Incomplete:
        return
    yield buffer.take()
