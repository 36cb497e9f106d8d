"""What the edge has answered, counted and logged in batches: a hit must not wait for a lock or a
pipe that all the others wait for too."""

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Final, Self

import msgspec

from portal.gateway import Gateway
from portal.web.observability.logs import BATCH, members
from portal.web.observability.metrics import SHORTEST_S, Metrics
from portal.web.observability.request_log import MESSAGE, log, request_fields

MOST_WAITING: Final = 10_000
_TOGETHER: Final = 100  # lines written at once: between two batches others have their turn


class HitLabels(msgspec.Struct, frozen=True):
    """What the hits on one judgement have in common: how they are counted, how their line reads."""

    counted: tuple[str, str, str]  # operation, method, rule
    line: str

    @classmethod
    def of(cls, operation: str, method: str, rule: str, cache_status: str) -> Self:
        line = members(request_fields(method, rule, 200, cache_status))
        return cls((operation, method, rule), line)


class Hit(msgspec.Struct, frozen=True):
    """One request the edge has answered; ``at`` in epoch seconds."""

    at: float
    seconds: float
    request_id: str
    kind: HitLabels

    def line(self) -> str:
        """Its line's own members."""
        ms = "0.0" if self.seconds < 0.00005 else f"{self.seconds * 1000:.1f}"
        return f'"request_id":"{self.request_id}",{self.kind.line},"ms":{ms}'


class AccessLogBuffer:
    """``write`` is called several times a second, and before whatever takes the long way."""

    def __init__(self, gateway: Gateway, metrics: Metrics) -> None:
        self._gateway = gateway
        self._metrics = metrics
        self._waiting: deque[Hit] = deque()  # its append and popleft are atomic
        self._writing = threading.Lock()

    def note(self, hit: Hit) -> None:
        self._waiting.append(hit)
        if len(self._waiting) > 2 * MOST_WAITING:
            # Whoever reads the log is slower than the hits: each waits for a batch to be read.
            with self._writing:
                self._write(self._taken())
        elif len(self._waiting) > MOST_WAITING:
            self.write()

    def write(self) -> None:
        """Count and log what waits; who finds somebody else at it leaves it to them."""
        while self._waiting and self._writing.acquire(blocking=False):
            try:
                self._write(self._taken())
            finally:
                self._writing.release()

    def _taken(self) -> list[Hit]:
        return [self._waiting.popleft() for _ in range(min(_TOGETHER, len(self._waiting)))]

    def _write(self, hits: list[Hit]) -> None:
        for (operation, method, rule), seconds in _alike(hits).items():
            quick = [each for each in seconds if each <= SHORTEST_S]
            rest = ((each, 1) for each in seconds if each > SHORTEST_S)
            together = [(sum(quick) / len(quick), len(quick))] if quick else []
            for mean_s, times in (*together, *rest):
                self._gateway.count_hits(operation, mean_s, times)
                self._metrics.answered(method, rule, 200, mean_s, times)
        if log.isEnabledFor(logging.INFO):
            log.info(MESSAGE, extra={BATCH: [(hit.at, hit.line()) for hit in hits]})


def _alike(hits: Iterable[Hit]) -> dict[tuple[str, str, str], list[float]]:
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for hit in hits:
        found[hit.kind.counted].append(hit.seconds)
    return found
