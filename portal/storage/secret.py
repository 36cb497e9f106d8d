"""The secret key's file, created once with access for its owner only."""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import tempfile
from pathlib import Path

NAME = "secret_key"


class InvalidSecretKey(ValueError):
    """The file contains no key. The message is one line for the operator."""


def read_secret_key(data_dir: Path) -> str | None:
    """Return the key in ``data_dir``, 64 hexadecimal digits; None if there is no file.

    Raises OSError, or InvalidSecretKey for any other content. A power cut may leave an empty file
    if its content was never flushed, and signatures under an empty key can be forged.
    """
    path = data_dir / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    key = re.fullmatch(rb"[\r\n]*([0-9A-Fa-f]{64})[\r\n]*", content)
    if key is None:
        raise InvalidSecretKey(f"{path} is no secret key: it must be 64 hexadecimal characters")
    return key[1].decode("ascii")


def load_secret_key(data_dir: Path) -> str:
    """Return the key in ``data_dir``, created on first use.

    Concurrent processes get the same key. Raises OSError, or InvalidSecretKey.
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
    """Return the HMAC of a constant under the key, in hex. It identifies the key."""
    return hmac.digest(secret, b"fingerprint", hashlib.sha256).hex()


def _create(data_dir: Path) -> None:
    # Write a temporary file, then link it: readers see a complete key, and the first link wins.
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=".secret_key-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())  # before the link: a power cut must not leave an empty file
        with contextlib.suppress(FileExistsError):
            os.link(draft, data_dir / NAME)
    finally:
        Path(draft).unlink()
    directory = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
