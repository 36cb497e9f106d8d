"""Searches a file tree for secrets and for traces of the build machine."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# Each pattern must match the whole name of a file or directory.
_NAMES = re.compile(
    r"\.git|\.hg|\.svn|\.ssh|\.netrc|_netrc|\.pypirc|pip\.conf|\.pip|\.npmrc|\.aws|\.docker|\.env"
    r"|\.(bash|python|psql)_history|id_(rsa|dsa|ecdsa|ed25519)|secret_key|credentials(\.json)?"
    r"|.*\.(key|p12|pfx|jks|sqlite|sqlite3)"
)
# Each pattern begins with literal text, so that the search is fast. A private key must have a body,
# because libraries contain the header alone.
_CONTENTS = {
    "private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{32}",
    "AWS key": rb"AKIA(?<![A-Za-z0-9+/]AKIA)[0-9A-Z]{16}(?![A-Za-z0-9+/])",
    "GitHub token": rb"gh[pousr]_[A-Za-z0-9]{36}",
    "GitHub token of fine grain": rb"github_pat_[A-Za-z0-9_]{40}",
    "GitLab token": rb"glpat-[A-Za-z0-9_-]{20}",
    "Slack token": rb"xox[abprs]-[A-Za-z0-9-]{20}",
    "Google key": rb"AIza[0-9A-Za-z_-]{35}",
    "PyPI token": rb"pypi-AgEI[A-Za-z0-9_-]{50}",
    "JSON web token": rb"eyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,}\.",
}


def find_leaks(root: Path, own: Iterable[str] = ()) -> list[str]:
    """Return one line for each leak below ``root``: its path and kind, never its text.

    ``own`` are texts of the machine that built the image, such as its package index.
    """
    kinds = {kind: re.compile(pattern) for kind, pattern in _CONTENTS.items()}
    own_texts = {f"text {n} of the builder": text.encode() for n, text in enumerate(own)}
    found = []
    for path in _files(root):
        shown = path.relative_to(root)
        if any(_NAMES.fullmatch(part) for part in shown.parts):
            found.append(f"{shown}: name")
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            found += [f"{shown}: {kind}" for kind, each in kinds.items() if each.search(content)]
            found += [f"{shown}: {kind}" for kind, text in own_texts.items() if text in content]
    return sorted(found)


def _files(root: Path) -> Iterator[Path]:
    """Yield everything below a directory, without following links."""
    for entry in root.iterdir():
        yield entry
        if entry.is_dir() and not entry.is_symlink():
            yield from _files(entry)
