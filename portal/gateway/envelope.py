"""The stored format: an answer's exact bytes with metadata and key, signed."""

import hashlib
import hmac
from typing import Final

import msgspec

from portal.storage import fingerprint

SCHEMA: Final = 3  # version 2 had no namespace in its keys
SEAL_BYTES: Final = 32  # the HMAC-SHA-256 signature, at the start
KEY_ID_BYTES: Final = 8  # id of the signing key, between the signature and the content


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """One stored answer.

    ``fetched_at`` is in epoch seconds; the entry is to be deleted ``keep_s`` seconds later.
    ``failure`` is the kind of a Failure if the entry records a failed lookup, otherwise empty.
    """

    key: str
    fetched_at: float
    keep_s: float
    origin: str
    status: int
    empty: bool
    body: bytes
    failure: str = ""
    retry_after_s: float | None = None
    schema: int = SCHEMA
    operation: str = ""  # empty if a former version stored the answer
    namespace: str = ""  # set by Store.write, as is ``fence``
    fence: int = 0  # of two writes under one key, the later has the higher fence

    @property
    def delete_at(self) -> float:
        return self.fetched_at + self.keep_s


def key_id(fingerprint: str) -> bytes:
    """Return the id of a signing key, from the key's fingerprint.

    Every envelope carries it, so that entries of different keys can be distinguished.
    """
    return bytes.fromhex(fingerprint)[:KEY_ID_BYTES]


class Seal:
    """Signs and verifies envelopes.

    ``verify`` returns None for forged entries and for entries of another key or an old schema. It
    never executes anything in them.
    """

    def __init__(self, secret: bytes) -> None:
        self._key_id = key_id(fingerprint(secret))
        self._secret = hmac.digest(secret, b"envelope", hashlib.sha256)
        self._names = hmac.digest(secret, b"names", hashlib.sha256)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Envelope)

    def sign(self, envelope: Envelope) -> bytes:
        content = self._key_id + self._encoder.encode(envelope)
        return self._sign(content) + content

    def verify(self, sealed: object, key: str) -> Envelope | None:
        """Return the envelope stored under this key, or None if it is not valid."""
        if not isinstance(sealed, bytes) or len(sealed) <= SEAL_BYTES:
            return None
        mac, content = sealed[:SEAL_BYTES], sealed[SEAL_BYTES:]
        if not hmac.compare_digest(mac, self._sign(content)):
            return None
        try:
            envelope = self._decoder.decode(content[KEY_ID_BYTES:])
        except (msgspec.DecodeError, ValueError):
            return None
        return envelope if envelope.key == key and envelope.schema == SCHEMA else None

    def keyed_hash(self, text: str, length: int = 32) -> str:
        """Return a name for a secret text: HMAC-SHA-256 in hex, cut to ``length`` digits.

        Only holders of the key can compute it.
        """
        return hmac.digest(self._names, text.encode(), hashlib.sha256).hex()[:length]

    def _sign(self, content: bytes) -> bytes:
        return hmac.digest(self._secret, content, hashlib.sha256)
