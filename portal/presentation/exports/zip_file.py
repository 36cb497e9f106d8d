"""Stream a ZIP archive without a temporary file."""

import zipfile
from collections.abc import Iterable, Iterator
from io import RawIOBase
from typing import Any


class _Buffer(RawIOBase):
    """An unseekable file whose ``take`` returns the bytes written since the last ``take``."""

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
    """Yield the bytes of a ZIP archive, with only one of its files in memory at a time.

    ``files`` are pairs of a name and a content. The archive does not compress the files, because
    most are PDFs, which are already compressed.
    """
    buffer = _Buffer()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files:
            archive.writestr(name, content)
            yield buffer.take()
    yield buffer.take()
