"""Reads and creates the secret key's file. Only the file's owner can read the file."""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import tempfile
from pathlib import Path

from portal.system.start_refused import StartRefused

NAME = "secret_key"


def read_secret_key(data_dir: Path) -> str | None:
    """Return the secret key (64 hexadecimal digits) from ``data_dir``, or None if there is no file.

    Raises OSError. Raises StartRefused if the file does not contain a key, for example because
    a power failure left the file empty. With an empty key, anyone could forge signatures.
    """
    path = data_dir / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    key = re.fullmatch(rb"[\r\n]*([0-9A-Fa-f]{64})[\r\n]*", content)
    if key is None:
        raise StartRefused(f"{path} is no secret key: it must be 64 hexadecimal characters")
    return key[1].decode("ascii")


def load_secret_key(data_dir: Path) -> str:
    """Return the secret key from ``data_dir``, and create a key if there is none.

    Concurrent processes get the same key. Raises OSError or StartRefused.
    """
    key = read_secret_key(data_dir)
    if key is not None:
        return key
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    _create(data_dir)
    key = read_secret_key(data_dir)
    if key is None:
        raise FileNotFoundError(f"{data_dir / NAME} was removed while it was made")
    return key


def fingerprint(secret: bytes) -> str:
    """Return the HMAC of a constant, in hex. The HMAC identifies the key."""
    return hmac.digest(secret, b"fingerprint", hashlib.sha256).hex()


def _create(data_dir: Path) -> None:
    # Write a temporary file, and then link it to the final name, so that readers never see an
    # incomplete key. If several processes create a key, only the first link succeeds.
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=".secret_key-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            # Flush to the disk before linking, so that a power failure cannot leave an empty file.
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, data_dir / NAME)
    finally:
        Path(draft).unlink()
    sync_directory(data_dir)


def sync_directory(path: Path) -> None:
    """Flush a directory to the disk, so that a power failure cannot undo a new file's name."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
