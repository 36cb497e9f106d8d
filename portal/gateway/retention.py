"""Makes stored answers expire earlier after the operator has shortened lifetimes."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from portal.gateway.backend import Backend
from portal.gateway.envelope import Envelope, Seal
from portal.gateway.freshness import retention_s
from portal.gateway.operations import CachePolicy
from portal.vehicle.operation_name import OperationName

STEP_S: Final = 0.2


class Retention(NamedTuple):
    """Determines when the answers of one namespace (upstream name) are deleted.

    ``text`` lists the configured lifetimes. If the backend has recorded another ``text``, the
    lifetimes have changed. ``seconds`` returns for how many seconds an envelope is kept.
    """

    namespace: str
    text: str
    seconds: Callable[[Envelope], float]


def retention_of(terms: Mapping[OperationName, CachePolicy], namespace: str) -> Retention:
    """Return the retention that follows from the lifetimes in ``terms``.

    An envelope that names no operation in ``terms`` gets the longest retention of any operation.
    """

    def seconds(envelope: Envelope) -> float:
        own = {name: each for name, each in terms.items() if name == envelope.operation} or terms
        return max(retention_s(each, envelope.status, envelope.empty) for each in own.values())

    text = " ".join(f"{name}:{each.fresh_s}+{each.stale_s}" for name, each in terms.items())
    return Retention(namespace, text, seconds)


class Shortening:
    """Scans the stored entries, and applies shortened lifetimes to these entries."""

    def __init__(
        self, backend: Backend, seals: Sequence[Seal], retention: Retention | None
    ) -> None:
        self._backend = backend
        self._seals = seals
        self._retention = retention  # None if the stored entries need no scan
        self._cursor: int | None = None

    def step(self) -> None:
        """Continue the scan for about STEP_S seconds.

        After the last entry, this method records the applied lifetimes in the backend, so that
        other processes do not repeat the scan.
        """
        if self._retention is None:
            return
        if self._recorded().get(self._retention.namespace) == self._retention.text:
            self._retention = None
            return
        ends_at = time.monotonic() + STEP_S
        while True:
            self._shorten_batch(self._retention)
            if self._cursor is None:
                recorded = self._recorded() | {self._retention.namespace: self._retention.text}
                self._backend.set_retention(json.dumps(recorded))
                return
            if time.monotonic() > ends_at:
                return

    def _recorded(self) -> dict[str, str]:
        """Return the recorded lifetimes (``Retention.text``) of each namespace.

        ``step`` records the lifetimes after a scan has applied them to all entries.
        """
        try:
            recorded = json.loads(self._backend.retention() or "{}")
        except ValueError:
            return {}
        return recorded if isinstance(recorded, dict) else {}

    def _shorten_batch(self, retention: Retention) -> None:
        entries, self._cursor = self._backend.scan(self._cursor)
        ends = []
        for entry in entries:
            verified = (seal.verify(entry.value, entry.key) for seal in self._seals)
            envelope = next((each for each in verified if each is not None), None)
            if envelope is not None and envelope.namespace == retention.namespace:
                end = envelope.fetched_at + retention.seconds(envelope)
                if end < envelope.delete_at:
                    ends.append((entry, end))
        if ends:
            self._backend.shorten(ends)
