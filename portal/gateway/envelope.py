"""The format of stored answers: a signed record of body, metadata and store key."""

import hashlib
import hmac
from typing import Final

import msgspec

from portal.storage.secret import fingerprint

SCHEMA: Final = 3
SEAL_BYTES: Final = 32  # A signed envelope begins with its HMAC-SHA-256 signature.
KEY_ID_BYTES: Final = 8  # The id of the signing key follows the signature.


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """One stored answer or failure.

    The store deletes the envelope ``keep_s`` seconds after ``fetched_at`` (epoch seconds).
    ``failure`` is ``Failure.kind`` if the lookup failed, otherwise "".
    """

    key: str
    fetched_at: float
    keep_s: float
    origin: str = ""
    status: int = 0
    empty: bool = True
    body: bytes = b""
    failure: str = ""
    retry_after_s: float | None = None
    schema: int = SCHEMA
    operation: str = ""  # empty if an old portal version stored the answer
    # The name of the upstream, or "demo" in demonstration mode. ``Store.write`` sets it.
    namespace: str = ""
    fence: int = 0  # the fencing token of the write (see ``Leases``)
    # The number of the last purge that was known before the answer was requested (see
    # ``PurgeClock``).
    purge_no: int = 0

    @property
    def delete_at(self) -> float:
        return self.fetched_at + self.keep_s


class Seal:
    """Signs and verifies envelopes.

    ``verify`` rejects forged entries, entries signed with another data key, and entries of an old
    schema. Every entry contains ``key_id``, the first bytes of the data key's fingerprint.
    """

    def __init__(self, secret: bytes) -> None:
        self.key_id: Final = bytes.fromhex(fingerprint(secret))[:KEY_ID_BYTES]
        self._secret = hmac.digest(secret, b"envelope", hashlib.sha256)
        self._names = hmac.digest(secret, b"names", hashlib.sha256)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Envelope)

    def sign(self, envelope: Envelope) -> bytes:
        content = self.key_id + self._encoder.encode(envelope)
        return self._sign(content) + content

    def verify(self, sealed: object, key: str) -> Envelope | None:
        """Return the envelope, or None if ``sealed`` is not valid for this store key."""
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
        """Return the HMAC-SHA-256 of a text in hex, cut to ``length`` digits.

        Only holders of the data key can compute the hash, so the hash does not reveal the text.
        """
        return hmac.digest(self._names, text.encode(), hashlib.sha256).hex()[:length]

    def _sign(self, content: bytes) -> bytes:
        return hmac.digest(self._secret, content, hashlib.sha256)
