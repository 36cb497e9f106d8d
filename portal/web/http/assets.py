"""Static files under names that contain a hash of their content.

Browsers may cache ``/static/css/portal.3f2a9c1b.css`` for a year, because changed content gets a
new URL. Files are read, bundled and compressed once, at start-up.

If the hash in a requested name is not the current one, the response is the current file with
``no-store``. Such requests occur during an upgrade, while two versions of the portal share an
address. A browser may then load a page from one version and the page's files from the other.
"""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import ItemsView, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECONDS_A_YEAR: Final = 365 * 24 * 60 * 60
CACHE_CONTROL: Final = f"public, max-age={SECONDS_A_YEAR}, immutable"

# Each bundle is served as one file. The patterns name the files of a block; layers that come later
# in css/portal.css have precedence over earlier ones, in css/tools.css too.
BUNDLES: Final[Mapping[str, Mapping[str, str]]] = {
    "css/portal.css": {
        "css/tokens.css": "@layer tokens{%s}",
        "css/font.css": "%s",
        "css/base.css": "@layer base{%s}",
        "css/layout.css": "@layer layout{%s}",
        "css/components/*.css": "@layer components{%s}",
        "css/print/*.css": "@layer print{@media print{%s}}",
    },
    # Styles that a vehicle's page does not need.
    "css/tools.css": {
        "css/tools/*.css": "@layer components{%s}",
        "css/tools/print/*.css": "@layer print{@media print{%s}}",
    },
}
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_OTHER_VERSION: Final = re.compile(r"(.+)\.[0-9a-f]{8}(\.[a-z0-9]+)")
_COMPRESSED: Final = frozenset({".css", ".js", ".svg", ".txt"})
# Comments and indents are removed. They are a tenth of a style sheet's compressed size.
_COMMENT_OR_INDENT: Final = re.compile(rb"/\*.*?\*/|^[ \n]+", re.DOTALL | re.MULTILINE)
# A style sheet's reference to another file. The portal replaces the file's name by the hashed name.
_REFERENCE: Final = re.compile(rb'url\("/static/([^"]+)"\)')


class UnknownAsset(KeyError):
    """A template or style sheet names a file that does not exist."""


@dataclass(frozen=True, slots=True)
class Asset:
    """The content of a file. ``gzipped`` is None if the file is always sent uncompressed."""

    body: bytes
    content_type: str
    gzipped: bytes | None


class Assets:
    """All files of a directory, by their hashed names."""

    def __init__(self, files: Mapping[str, Asset], hashed_names: Mapping[str, str]) -> None:
        self._files = dict(files)
        self._hashed_names = dict(hashed_names)

    @classmethod
    def build(cls, directory: Path) -> "Assets":
        """Read all files below ``directory``. A file in a bundle gets no URL of its own."""
        contents = {
            path.relative_to(directory).as_posix(): path
            for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        sources: dict[str, bytes] = {}
        for bundle, blocks in BUNDLES.items():
            texts = []
            for pattern, block in blocks.items():
                parts = sorted(directory.glob(pattern))
                for part in parts:
                    contents.pop(part.relative_to(directory).as_posix(), None)
                if parts:
                    texts.append(block.encode() % b"\n".join(part.read_bytes() for part in parts))
            if texts:
                sources[bundle] = b"\n".join(texts)
        sources |= {name: path.read_bytes() for name, path in contents.items()}

        hashed_names = {
            name: _hashed(name, body) for name, body in sources.items() if not name.endswith(".css")
        }
        for name in [name for name in sources if name.endswith(".css")]:
            compact = _COMMENT_OR_INDENT.sub(b"", sources[name])
            sources[name] = _with_hashed_references(compact, hashed_names)
            hashed_names[name] = _hashed(name, sources[name])
        files = {hashed_names[name]: _asset(name, body) for name, body in sources.items()}
        return cls(files, hashed_names)

    def url(self, name: str) -> str:
        """Return the URL path of a file such as ``css/portal.css``. Raises UnknownAsset."""
        try:
            return f"/static/{self._hashed_names[name]}"
        except KeyError:
            raise UnknownAsset(name) from None

    def find(self, hashed_name: str) -> Asset | None:
        return self._files.get(hashed_name)

    def find_current(self, hashed_name: str) -> Asset | None:
        """Return the file whose name equals ``hashed_name`` except for the hash, or None."""
        parts = _OTHER_VERSION.fullmatch(hashed_name)
        hashed = self._hashed_names.get(parts[1] + parts[2]) if parts else None
        return self._files[hashed] if hashed else None

    def items(self) -> ItemsView[str, Asset]:
        return self._files.items()

    def read(self, name: str) -> Asset:
        """Return a file by its plain name, such as ``icons/favicon.ico``. Raises UnknownAsset."""
        try:
            return self._files[self._hashed_names[name]]
        except KeyError:
            raise UnknownAsset(name) from None


def _with_hashed_references(sheet: bytes, hashed_names: Mapping[str, str]) -> bytes:
    def hashed(match: re.Match[bytes]) -> bytes:
        name = match[1].decode()
        if name not in hashed_names:
            raise UnknownAsset(name)
        return f'url("/static/{hashed_names[name]}")'.encode()

    return _REFERENCE.sub(hashed, sheet)


def _hashed(name: str, body: bytes) -> str:
    stem, dot, suffix = name.rpartition(".")
    digest = hashlib.sha256(body).hexdigest()[:8]
    return f"{stem}.{digest}.{suffix}" if dot else f"{name}.{digest}"


def _asset(name: str, body: bytes) -> Asset:
    suffix = Path(name).suffix
    guessed = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    # Without mtime=0, the gzip header would contain the current time, so equal files would differ.
    zipped = gzip.compress(body, 9, mtime=0) if suffix in _COMPRESSED else None
    return Asset(body, guessed, zipped if zipped and len(zipped) < len(body) else None)
