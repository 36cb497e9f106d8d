"""How long answers are kept at present, and what was stored when that was longer."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from portal.gateway.backend import Backend
from portal.gateway.envelope import Envelope, Seal
from portal.gateway.freshness import retention_s
from portal.gateway.operations import CachePolicy, Name

STEP_S: Final = 0.2


class Retention(NamedTuple):
    """How long answers of one namespace are kept at present.

    ``text`` is compared with the former one; ``seconds`` tells it for an envelope.
    """

    namespace: str
    text: str
    seconds: Callable[[Envelope], float]


def retention_of(terms: Mapping[Name, CachePolicy], namespace: str) -> Retention:
    """An envelope without an operation is of the one that is kept longest."""

    def seconds(envelope: Envelope) -> float:
        of_it = {name: each for name, each in terms.items() if name == envelope.operation} or terms
        return max(retention_s(each, envelope.status, envelope.empty) for each in of_it.values())

    text = " ".join(f"{name}:{each.fresh_s}+{each.stale_s}" for name, each in terms.items())
    return Retention(namespace, text, seconds)


class Shortening:
    """Lets stored entries end when the present lifetimes say, after those were lowered."""

    def __init__(self, backend: Backend, seal: Seal, retention: Retention | None) -> None:
        self._backend = backend
        self._seal = seal
        self._retention = retention  # None once all entries were seen
        self._cursor: int | None = None

    def step(self) -> None:
        """See a part of the entries. The backend remembers the lifetimes once all were seen, so
        that no later process need look."""
        if self._retention is None:
            return
        if self._recorded().get(self._retention.namespace) == self._retention.text:
            self._retention = None
            return
        ends_at = time.monotonic() + STEP_S
        while True:
            self._see_some(self._retention)
            if self._cursor is None:
                recorded = self._recorded() | {self._retention.namespace: self._retention.text}
                self._backend.set_retention(json.dumps(recorded))
                return
            if time.monotonic() > ends_at:
                return

    def _recorded(self) -> dict[str, str]:
        """The lifetimes that all entries of a namespace were last compared with."""
        try:
            recorded = json.loads(self._backend.retention() or "{}")
        except ValueError:
            return {}
        return recorded if isinstance(recorded, dict) else {}

    def _see_some(self, retention: Retention) -> None:
        entries, self._cursor = self._backend.scan(self._cursor)
        ends = []
        for entry in entries:
            envelope = self._seal.verify(entry.value, entry.key)
            if envelope is not None and envelope.namespace == retention.namespace:
                end = envelope.fetched_at + retention.seconds(envelope)
                if end < envelope.delete_at:
                    ends.append((entry, end))
        if ends:
            self._backend.shorten(ends)
