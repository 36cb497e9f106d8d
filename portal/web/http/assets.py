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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

SECONDS_A_YEAR: Final = 365 * 24 * 60 * 60
CACHE_CONTROL: Final = f"public, max-age={SECONDS_A_YEAR}, immutable"

# What a page needs beside css/portal.css is in folders of css/, each of which is served as one
# file. A page's template names them.
_STYLES: Final = ("vehicle", "search", "negotiation", "issued", "tools", "reference", "texts")
# Each bundle is served as one file. The patterns name the files of a block; layers that come later
# in css/portal.css have precedence over earlier ones, in the other style sheets too.
BUNDLES: Final[Mapping[str, Mapping[str, str]]] = {
    "css/portal.css": {
        "css/tokens.css": "@layer tokens{%s}",
        "css/font.css": "%s",
        "css/base.css": "@layer base{%s}",
        "css/layout.css": "@layer layout{%s}",
        "css/components/*.css": "@layer components{%s}",
        "css/print/*.css": "@layer print{@media print{%s}}",
    },
    **{
        f"css/{name}.css": {
            f"css/{name}/*.css": "@layer components{%s}",
            f"css/{name}/print/*.css": "@layer print{@media print{%s}}",
        }
        for name in _STYLES
    },
}
# The scripts of a vehicle's page as one file, in the order in which they run. Other pages use some
# of them alone.
_SCRIPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "js/vehicle.js": tuple(
        f"js/{name}.js" for name in ("swap", "panels", "copy", "fines", "chart", "car")
    )
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
# Comments and indents are removed. They are a tenth of a style sheet's compressed size, and a
# quarter of a script's. In a script, a comment is a line of its own.
_COMMENT_OR_INDENT: Final = {
    ".css": re.compile(rb"/\*.*?\*/|^[ \n]+", re.DOTALL | re.MULTILINE),
    ".js": re.compile(rb"^(?:\s*//[^\n]*\n|\s+)", re.MULTILINE),
}
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
    """All files below a directory, in ``files`` by their hashed names.

    A style sheet in a bundle gets no URL of its own.
    """

    def __init__(self, directory: Path) -> None:
        sources = {
            path.relative_to(directory).as_posix(): path.read_bytes()
            for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        for bundle, blocks in BUNDLES.items():
            texts = []
            for pattern, block in blocks.items():
                names = [name for name in sources if PurePosixPath(name).match(pattern)]
                if names:
                    texts.append(block.encode() % b"\n".join(map(sources.pop, names)))
            if texts:
                sources[bundle] = b"\n".join(texts)
        for bundle, scripts in _SCRIPTS.items():
            if found := [sources[name] for name in scripts if name in sources]:
                sources[bundle] = b"\n".join(found)
        self.files: dict[str, Asset] = {}
        self._hashed_names: dict[str, str] = {}
        # The style sheets come last, because they contain the hashed names of other files.
        for name, body in sorted(sources.items(), key=lambda item: item[0].endswith(".css")):
            if left_out := _COMMENT_OR_INDENT.get(PurePosixPath(name).suffix):
                body = left_out.sub(b"", body)
            if name.endswith(".css"):
                body = _REFERENCE.sub(self._hashed_reference, body)
            stem, dot, suffix = name.rpartition(".")
            digest = hashlib.sha256(body).hexdigest()[:8]
            hashed = f"{stem}.{digest}.{suffix}" if dot else f"{name}.{digest}"
            self._hashed_names[name] = hashed
            self.files[hashed] = _asset(name, body)

    def url(self, name: str) -> str:
        """Return the URL path of a file such as ``css/portal.css``. Raises UnknownAsset."""
        try:
            return f"/static/{self._hashed_names[name]}"
        except KeyError:
            raise UnknownAsset(name) from None

    def find_current(self, hashed_name: str) -> Asset | None:
        """Return the file whose name equals ``hashed_name`` except for the hash, or None."""
        parts = _OTHER_VERSION.fullmatch(hashed_name)
        hashed = self._hashed_names.get(parts[1] + parts[2]) if parts else None
        return self.files[hashed] if hashed else None

    def read(self, name: str) -> Asset:
        """Return a file by its plain name, such as ``icons/favicon.ico``. Raises UnknownAsset."""
        return self.files[self.url(name).removeprefix("/static/")]

    def _hashed_reference(self, match: re.Match[bytes]) -> bytes:
        return f'url("{self.url(match[1].decode())}")'.encode()


def _asset(name: str, body: bytes) -> Asset:
    suffix = Path(name).suffix
    guessed = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    # Without mtime=0, the gzip header would contain the current time, so equal files would differ.
    zipped = gzip.compress(body, 9, mtime=0) if suffix in _COMPRESSED else None
    return Asset(body, guessed, zipped if zipped and len(zipped) < len(body) else None)
