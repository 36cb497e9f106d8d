"""Stream a ZIP archive without a temporary file."""

import zipfile
from collections.abc import Iterable, Iterator
from typing import Any


class Incomplete(Exception):
    """Raised by the files of an archive whose remaining files must not be sent."""


class _Parts(list[bytes]):
    """A file that ``zipfile`` only writes to: the bytes since the last ``clear``."""

    def write(self, data: Any) -> int:
        self.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass


def zip_stream(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a ZIP archive in parts, with only one file in memory at a time.

    ``files`` are pairs of a name and a content. The archive does not compress the files, because
    most of them are PDFs, which are already compressed. If ``files`` raises Incomplete, the archive
    ends without its central directory, so that no program takes it for a complete archive.
    """
    parts: Any = _Parts()
    try:
        with zipfile.ZipFile(parts, "w", zipfile.ZIP_STORED) as archive:
            for name, content in files:
                archive.writestr(name, content)
                yield b"".join(parts)
                parts.clear()
    except Incomplete:
        return
    yield b"".join(parts)
