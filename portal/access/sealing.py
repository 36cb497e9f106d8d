"""Encryption and HMAC. Each purpose has its own key, which is derived from the secret key."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet


def cipher(secret: bytes, purpose: bytes, former: Sequence[bytes] = ()) -> "Fernet | MultiFernet":
    """Return the cipher for one purpose.

    The cipher also decrypts data that was encrypted with one of the ``former`` secret keys.
    """
    # Import ``cryptography`` late, because its import would take half of the portal's import time.
    from cryptography.fernet import Fernet, MultiFernet

    ciphers = [
        Fernet(base64.urlsafe_b64encode(hmac.digest(key, purpose, hashlib.sha256)))
        for key in (secret, *former)
    ]
    return MultiFernet(ciphers) if former else ciphers[0]


def decrypt(
    secret: bytes, purpose: bytes, sealed: bytes, former: Sequence[bytes] = ()
) -> bytes | None:
    """Decrypt data that ``cipher`` has encrypted. Return None if no key fits."""
    from cryptography.fernet import InvalidToken  # imported late, because the import is slow

    try:
        return cipher(secret, purpose, former).decrypt(sealed)
    except InvalidToken:
        return None


@dataclass(frozen=True, slots=True)
class SubjectKeys:
    """The keys with which the database's rows about a vehicle are found and encrypted.

    A subject is the vehicle's plate or Renavam (national vehicle number). ``tag`` computes the HMAC
    by which a subject's rows are found. ``former`` lists old secret keys, which still decrypt old
    rows. ``former_tags`` computes a subject's HMACs with the old keys. ``namespace`` is the name of
    the upstream, or "demo".
    """

    secret: bytes = field(repr=False)
    tag: Callable[[str], str]
    namespace: str
    former: Sequence[bytes] = field(default=(), repr=False)
    former_tags: Callable[[str], Sequence[str]] = lambda _: ()

    def tags(self, subject: str) -> list[str]:
        """Return the HMACs of a subject with the present key and with the former keys."""
        return [self.tag(subject), *self.former_tags(subject)]

    def encrypt(self, purpose: bytes, content: bytes) -> bytes:
        return cipher(self.secret, purpose).encrypt(content)

    def decrypt(self, purpose: bytes, sealed: bytes) -> bytes | None:
        return decrypt(self.secret, purpose, sealed, self.former)

    def owner_key(self, kind: str, owner: str) -> str:
        """Return the digest of kind, namespace and owner that identifies the owner's rows.

        ``kind`` differs between tables, so an owner has a different digest in each table. A
        browser sends its session cookie to every port of a host, so portals for different upstreams
        may see the same owner. The digest depends on the namespace, so that each portal finds only
        its own rows.
        """
        return hashlib.sha256(f"{kind}{self.namespace}\0{owner}".encode()).hexdigest()


def seal_text(secret: bytes, namespace: str, text: str) -> str:
    """Encrypt a credential for the session cookie.

    A browser sends a cookie to every port of a host, so two portals on one host may receive each
    other's cookies. The encryption key depends on ``namespace``, so that a portal cannot decrypt a
    credential for another upstream.
    """
    return cipher(secret, _session(namespace)).encrypt(text.encode()).decode()


def name_credential(secret: bytes, credential: str) -> str:
    """Return the HMAC, in hex, that identifies a pass-through credential in the database.

    With a digest that needs no key, anyone with a copy of the database could test guesses.
    """
    key = hmac.digest(secret, b"credential", hashlib.sha256)
    return hmac.digest(key, credential.encode(), hashlib.sha256).hex()


def open_text(
    secret: bytes, namespace: str, sealed: str, former: Sequence[bytes] = ()
) -> str | None:
    """Decrypt a result of ``seal_text``. Return None if no key fits or the namespace differs."""
    opened = decrypt(secret, _session(namespace), sealed.encode(), former)
    return None if opened is None else opened.decode()


def _session(namespace: str) -> bytes:
    return f"session|{namespace}".encode()
