"""The secret key: made once, readable by its owner alone."""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path


def load_secret_key(data_dir: Path) -> str:
    """The key kept in ``data_dir``; made on first use, the same for every process that races."""
    path = data_dir / "secret_key"
    with contextlib.suppress(FileNotFoundError):
        return path.read_text("ascii").strip()
    data_dir.mkdir(parents=True, exist_ok=True)
    # Written whole beside its place, then linked: nobody reads half a key, the first one wins.
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=".secret_key-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
    return path.read_text("ascii").strip()
