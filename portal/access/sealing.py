"""Encryption and HMAC. Each purpose has its own key, which is derived from the data key."""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


@lru_cache(maxsize=16)  # making a cipher takes longer than decrypting a note
def cipher(secret: bytes, purpose: bytes) -> "Fernet":
    """Return the cipher for one purpose."""
    # Import ``cryptography`` late, because its import would take half of the portal's import time.
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hmac.digest(secret, purpose, hashlib.sha256)))


def decrypt(secret: bytes, purpose: bytes, sealed: bytes) -> bytes | None:
    """Decrypt data that ``cipher`` has encrypted. Return None if the key does not fit."""
    from cryptography.fernet import InvalidToken  # imported late, because the import is slow

    try:
        return cipher(secret, purpose).decrypt(sealed)
    except InvalidToken:
        return None


@dataclass(frozen=True, slots=True)
class SubjectKeys:
    """The keys with which the database's rows about a vehicle are found and encrypted.

    A subject is the vehicle's plate or Renavam. ``tag`` computes the HMAC by which a subject's rows
    are found. ``namespace`` is the name of the upstream, or "demo".
    """

    secret: bytes = field(repr=False)
    tag: Callable[[str], str]
    namespace: str

    def encrypt(self, purpose: bytes, content: bytes) -> bytes:
        return cipher(self.secret, purpose).encrypt(content)

    def decrypt(self, purpose: bytes, sealed: bytes) -> bytes | None:
        return decrypt(self.secret, purpose, sealed)

    def owner_key(self, kind: str, owner: str) -> str:
        """Return the digest of kind, namespace and owner that identifies the owner's rows.

        ``kind`` differs between tables, so an owner has a different digest in each table. A
        browser sends its session cookie to every port of a host, so portals for different upstreams
        may see the same owner. The digest depends on the namespace, so that each portal finds only
        its own rows.
        """
        return hashlib.sha256(f"{kind}{self.namespace}\0{owner}".encode()).hexdigest()


def keyed_hash(secret: bytes, purpose: bytes, content: bytes) -> str:
    """Return the HMAC, in hex, that identifies a content in the database.

    With a digest that needs no key, anyone with a copy of the database could test guesses.
    """
    key = hmac.digest(secret, purpose, hashlib.sha256)
    return hmac.digest(key, content, hashlib.sha256).hex()
