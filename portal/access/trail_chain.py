"""The chain of the trail's rows: each row's MAC covers the row, and the MAC of the former one.

Without the data key, no one can change, swap, remove or append a row without a trace. A row holds
the vehicle's tag and ciphertext beside their digest, and the MAC covers the digest alone. A purge
empties both and signs that it did, so that the row remains and the chain holds.

The last row that has expired is the *anchor* of those that follow. The *head* names the last row,
so that rows missing at the end are noticed. Both are signed. Who holds an older copy of the whole
database can still put it in place of the present one: keep the head that ``audit verify`` prints.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import msgspec

GENESIS: Final = ""
# The columns that a MAC covers beside the former MAC, in this order.
COVERED: Final = (
    *("id", "at", "namespace", "who", "kind", "act", "face", "purpose", "number"),
    "vehicle",
)
_encode = msgspec.json.Encoder().encode

Row = Mapping[str, Any]


class Link(NamedTuple):
    """The number of a row, and its MAC."""

    number: int
    mac: str


START: Final = Link(0, GENESIS)


class Fault(NamedTuple):
    """The first row that is not as it was written."""

    number: int
    kind: Literal["missing", "changed", "foreign"]


def vehicle_digest(tag: str | None, sealed: bytes | None) -> str:
    """Return the digest of a vehicle's tag and ciphertext, "" without a vehicle."""
    if tag is None or sealed is None:
        return ""
    return hashlib.sha256(tag.encode() + b"\0" + sealed).hexdigest()


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs rows, ends of the chain and the emptying of rows with a key of the trail's own."""

    key: bytes

    @classmethod
    def of(cls, secret: bytes) -> "Signer":
        return cls(hmac.digest(secret, b"trail", hashlib.sha256))

    def _sign(self, *parts: object) -> str:
        return hmac.digest(self.key, _encode(parts), hashlib.sha256).hex()

    def mac(self, row: Row, former: str) -> str:
        return self._sign("row", former, *(row[name] for name in COVERED))

    def emptied(self, number: int, digest: str) -> str:
        """Return what a purge leaves in a row."""
        return self._sign("emptied", number, digest)

    def written(self, name: str, link: Link) -> str:
        """Return the signed text of an anchor or a head."""
        return f"{link.number}:{link.mac}:{self._sign(name, *link)}"

    def read(self, name: str, text: str | None) -> Link | None:
        """Return the link of a signed text, or None if it is missing or not the portal's."""
        number, _, rest = (text or "").partition(":")
        if not (number.isascii() and number.isdigit()):
            return None
        link = Link(int(number), rest.partition(":")[0])
        return link if hmac.compare_digest(self.written(name, link), text or "") else None


def first_fault(rows: Iterable[Row], after: Link, signer: Signer) -> tuple[Link, Fault | None]:
    """Follow the chain from ``after``. Return the last row that holds, and the first fault."""
    for row in rows:
        expected = after.number + 1
        if row["id"] != expected:
            return after, Fault(expected, "missing")
        if not _holds(row, after.mac, signer):
            return after, Fault(expected, "changed")
        after = Link(expected, row["mac"])
    return after, None


def _holds(row: Row, former: str, signer: Signer) -> bool:
    if not hmac.compare_digest(signer.mac(row, former), row["mac"]):
        return False
    digest = row["vehicle"]
    if digest and row["sealed"] is None and row["subject"] is None:
        emptied = row["emptied"] or ""
        return hmac.compare_digest(signer.emptied(row["id"], digest), emptied)
    return digest == vehicle_digest(row["subject"], row["sealed"]) and not row["emptied"]
