"""Encryption and HMAC. Each purpose has its own key, which is derived from the secret key."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet


def cipher(secret: bytes, purpose: bytes, former: Sequence[bytes] = ()) -> "Fernet | MultiFernet":
    """Return a purpose's cipher, which also decrypts what a ``former`` secret key encrypted."""
    # Import ``cryptography`` late, because it would take half of the portal's import time.
    from cryptography.fernet import Fernet, MultiFernet

    ciphers = [
        Fernet(base64.urlsafe_b64encode(hmac.digest(key, purpose, hashlib.sha256)))
        for key in (secret, *former)
    ]
    return MultiFernet(ciphers) if former else ciphers[0]


def seal_text(secret: bytes, namespace: str, text: str) -> str:
    """Encrypt a credential for the session cookie.

    A browser sends a cookie to every port of a host, so two portals on one host may receive each
    other's cookies. The encryption key depends on ``namespace``, so that a portal cannot decrypt a
    credential for another upstream.
    """
    return cipher(secret, _session(namespace)).encrypt(text.encode()).decode()


def name_credential(secret: bytes, credential: str) -> str:
    """Return the HMAC, in hex, that identifies a pass-through credential in the database.

    A digest without a key would be unsafe, because a reader of the database could test guesses of a
    credential.
    """
    key = hmac.digest(secret, b"credential", hashlib.sha256)
    return hmac.digest(key, credential.encode(), hashlib.sha256).hex()


def open_text(
    secret: bytes, namespace: str, sealed: str, former: Sequence[bytes] = ()
) -> str | None:
    """Decrypt a result of ``seal_text``. Return None if no key fits or the namespace differs."""
    from cryptography.fernet import InvalidToken

    try:
        return cipher(secret, _session(namespace), former).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _session(namespace: str) -> bytes:
    return f"session|{namespace}".encode()
