"""Encryption and HMAC under the secret key, with one derived key for each purpose."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet


def cipher(secret: bytes, purpose: bytes, former: Sequence[bytes] = ()) -> "Fernet | MultiFernet":
    """Return the cipher of a purpose; it also decrypts what ``former`` keys encrypted."""
    # lazy: it takes half of the import time at startup
    from cryptography.fernet import Fernet, MultiFernet

    ciphers = [
        Fernet(base64.urlsafe_b64encode(hmac.digest(key, purpose, hashlib.sha256)))
        for key in (secret, *former)
    ]
    return MultiFernet(ciphers) if former else ciphers[0]


def seal_text(secret: bytes, namespace: str, text: str) -> str:
    """Encrypt a credential for the session cookie. Only the cookie stores it.

    A browser sends one cookie to every port of a host, so portals in front of different upstreams
    may receive each other's cookies. The key is derived per ``namespace``, so a portal cannot
    decrypt a credential of another namespace.
    """
    return cipher(secret, _session(namespace)).encrypt(text.encode()).decode()


def name_credential(secret: bytes, credential: str) -> str:
    """Return the HMAC, in hex, that identifies a caller's own credential, also in databases.

    An unkeyed digest would be unsafe. Upstream credentials may be guessable, and a reader of the
    ledger could test guesses against the digest.
    """
    key = hmac.digest(secret, b"credential", hashlib.sha256)
    return hmac.digest(key, credential.encode(), hashlib.sha256).hex()


def open_text(
    secret: bytes, namespace: str, sealed: str, former: Sequence[bytes] = ()
) -> str | None:
    """Decrypt a result of ``seal_text``; return None if the key or the namespace differs."""
    from cryptography.fernet import InvalidToken

    try:
        return cipher(secret, _session(namespace), former).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _session(namespace: str) -> bytes:
    return f"session|{namespace}".encode()
