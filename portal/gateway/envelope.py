"""What is stored: an answer's exact bytes with their origin and time, signed, the key inside."""

import hashlib
import hmac
from typing import Final

import msgspec

from portal.storage import fingerprint

SCHEMA: Final = 3  # 2 had no namespace in its keys
SEAL_BYTES: Final = 32  # SHA-256, before all else
KEY_ID_BYTES: Final = 8  # which key signed it, before the content


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """One stored answer. ``fetched_at`` in epoch seconds, to be deleted ``keep_s`` after it;
    ``failure`` is a Failure's kind where what is remembered is that asking failed."""

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
    operation: str = ""  # unknown where a former version stored it
    namespace: str = ""  # filled in by Store.write, as is the fence
    fence: int = 0  # the later of two writes under one key has the higher one

    @property
    def delete_at(self) -> float:
        return self.fetched_at + self.keep_s


def key_id(fingerprint: str) -> bytes:
    """What every envelope of a key carries, by the key's fingerprint: others can tell it apart."""
    return bytes.fromhex(fingerprint)[:KEY_ID_BYTES]


class Seal:
    """Signs and opens envelopes. What is forged, foreign or of an old schema reads as absent:
    never an error, never executed."""

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
        """The envelope stored under this key, or None for anything that is not one of ours."""
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
        """A name for a secret text that only holders of the key can compute: HMAC, in hex."""
        return hmac.digest(self._names, text.encode(), hashlib.sha256).hex()[:length]

    def _sign(self, content: bytes) -> bytes:
        return hmac.digest(self._secret, content, hashlib.sha256)
