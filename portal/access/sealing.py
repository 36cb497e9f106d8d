"""Encryption under the secret key, a key of its own for each purpose."""

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def cipher(secret: bytes, purpose: bytes) -> "Fernet":
    from cryptography.fernet import Fernet  # late: it is half of a start's import time

    key = hmac.digest(secret, purpose, hashlib.sha256)
    return Fernet(base64.urlsafe_b64encode(key))


def seal_text(secret: bytes, namespace: str, text: str) -> str:
    """Encrypt a credential for the session cookie, where its owner alone carries it.

    A browser sends one cookie to every port of a host, so portals in front of different upstreams
    may see each other's: no one opens a credential of another ``namespace``.
    """
    return cipher(secret, _session(namespace)).encrypt(text.encode()).decode()


def name_credential(secret: bytes, credential: str) -> str:
    """What a caller's own credential is told apart by, in the databases too: HMAC, in hex.

    No bare digest: upstream credentials may be guessable, and whoever got hold of the ledger
    could try guesses against it."""
    key = hmac.digest(secret, b"credential", hashlib.sha256)
    return hmac.digest(key, credential.encode(), hashlib.sha256).hex()


def open_text(secret: bytes, namespace: str, sealed: str) -> str | None:
    from cryptography.fernet import InvalidToken

    try:
        return cipher(secret, _session(namespace)).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _session(namespace: str) -> bytes:
    return f"session|{namespace}".encode()
