"""Where the portal's address and token come from: the environment, or what ``login`` stored."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple


class Configuration(NamedTuple):
    url: str
    token: str


def path() -> Path:
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home())
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "dossie" / "login.json"


def read() -> Configuration | None:
    """Return the address and the token, or None if one of them is missing.

    A token of the environment is never sent to a stored address, nor a stored one elsewhere.
    """
    url, token = os.environ.get("DOSSIE_URL", ""), os.environ.get("DOSSIE_TOKEN", "")
    if url or token:
        return Configuration(url, token) if url and token else None
    try:
        stored = json.loads(path().read_text("utf-8"))
        return Configuration(stored["url"], stored["token"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(configuration: Configuration) -> Path:
    """Store the address and the token, readable by this user alone."""
    file = path()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(configuration._asdict(), stream)
    new.replace(file)
    return file
