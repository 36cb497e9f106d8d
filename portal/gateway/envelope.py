"""Stored answers: their format, a signed record of body, metadata and store key, and lifetimes.

The lifetimes are listed in docs/contract.md, "Cache rules". They decide whether an answer is fresh
or stale (RFC 9111 §4.2, RFC 5861 §4).
"""

import hashlib
import hmac
import math
import zlib
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from portal.gateway.operations import CachePolicy
from portal.storage.secret import fingerprint
from portal.vehicle.operation_name import OperationName

SCHEMA: Final = 3
SEAL_BYTES: Final = 32  # A signed envelope begins with its HMAC-SHA-256 signature.
KEY_ID_BYTES: Final = 8  # The id of the signing key follows the signature.
REJECTED_FRESH_S = 600
JITTER = 0.10
# The largest expected difference, in seconds, between the clocks of machines that share a store. An
# answer counts as expired if its time stamp is more than CLOCK_SKEW_S in the future.
CLOCK_SKEW_S = 60

State = Literal["fresh", "stale", "expired"]


class Freshness(msgspec.Struct, frozen=True):
    state: State
    age_s: int
    ttl_s: int


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

    @property
    def jitter(self) -> float:
        """The part of its fresh time that the answer loses, less than JITTER.

        Answers that were fetched together thus become stale at different times. All copies of a
        report have the same tag and time stamp, so they become stale at the same time.
        """
        tag = self.key.partition(":")[0]
        return JITTER * zlib.crc32(f"{tag}{self.fetched_at}".encode()) / 2**32

    def freshness(self, terms: CachePolicy, now: float) -> Freshness:
        """Return the answer's state, its age and the remaining seconds of its fresh time.

        The jitter does not change the moment at which a stale answer expires.
        """
        fresh_s, stale_s = lifetimes(terms, self.status, self.empty)
        age = now - self.fetched_at
        left = fresh_s * (1 - self.jitter) - age
        if age < -CLOCK_SKEW_S:
            state: State = "expired"
        elif left > 0:
            state = "fresh"
        elif stale_s > 0 and age < fresh_s + stale_s:
            state = "stale"
        else:
            state = "expired"
        return Freshness(state, max(0, int(age)), max(0, int(left)))


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


def lifetimes(terms: CachePolicy, status: int, empty: bool) -> tuple[float, float]:
    """Return an answer's fresh time and stale time in seconds.

    A stale answer may be served if the upstream call fails. A rejection (400, 404) is fresh for
    REJECTED_FRESH_S and never stale. An outage at the upstream may cause an empty answer. An empty
    answer is therefore fresh for only a quarter of ``fresh_s``, and never stale.
    """
    if status != 200:
        return REJECTED_FRESH_S, 0
    if empty:
        return terms.fresh_s / 4, 0
    return terms.fresh_s, terms.stale_s


def retention_s(terms: CachePolicy, status: int, empty: bool) -> int:
    """Return the age in seconds at which an answer is deleted."""
    return math.ceil(sum(lifetimes(terms, status, empty)))


def longest_s(terms: Mapping[OperationName, CachePolicy], envelope: Envelope) -> int:
    """Return the age at which an answer is deleted.

    An answer to no operation in ``terms`` gets the longest retention of any operation.
    """
    own = [term for name, term in terms.items() if name == envelope.operation] or terms.values()
    return max(retention_s(term, envelope.status, envelope.empty) for term in own)
