"""Logs and counts requests by route pattern, because a path may contain a plate.

``AccessLogBuffer`` counts and logs hits, which are the requests that the hit cache has answered, in
batches and after their responses. A response therefore need not wait for the locks of the metrics
or for the log's pipe.
"""

import logging
import random
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Self

import msgspec
from flask import Flask, Response, g, request

from portal.gateway.lookup import CacheStatus, Observer
from portal.web.observability.logs import BATCH, FIELDS, members
from portal.web.observability.metrics import SHORTEST_S, Metrics

MESSAGE: Final = "request"
MAX_PENDING: Final = 10_000
# Log lines per write. The number is small, so that other threads get to run between two writes.
_BATCH_SIZE: Final = 100

log = logging.getLogger("portal.requests")

_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


def new_request_id() -> str:
    """Return a random request id of 16 hexadecimal digits.

    The id is no secret, so ``random`` suffices. ``os.urandom`` would release the GIL, so each
    request would wait for other threads to release it. This would halve the cache hits per second.
    """
    return f"{random.getrandbits(64):016x}"


def method_label(method: str) -> str:
    """Return the method, or "other" if HTTP does not define it.

    A client may invent any method. Each invented method would add time series to the metrics.
    """
    return method if method in _METHODS else "other"


def request_fields(
    method: str, rule: str | None, status: int, cache_status: str | None
) -> dict[str, Any]:
    """Return the members of a request's log line, except its duration ``ms``."""
    fields: dict[str, Any] = {"method": method_label(method), "rule": rule, "status": status}
    if cache_status is not None:
        fields["cache"] = cache_status.partition("; ")[2]
    return fields


def register_request_log(app: Flask, metrics: Metrics) -> None:
    """Log and count every request.

    Call this function before other hooks are added, so that the duration includes the time of the
    other hooks. Flask runs ``after_request`` hooks in reverse order.
    """
    # Werkzeug's development server would log whole paths, which contain plates.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)

    def before() -> None:
        g.started, g.request_id = time.perf_counter(), new_request_id()

    def after(response: Response) -> Response:
        seconds = time.perf_counter() - g.started
        method, status = method_label(request.method), response.status_code
        rule = request.url_rule.rule if request.url_rule else None
        metrics.count_responses(method, rule or "none", status, seconds)
        if log.isEnabledFor(logging.INFO):
            fields = request_fields(method, rule, status, response.headers.get("Cache-Status"))
            fields["ms"] = round(seconds * 1000, 1)
            log.info(MESSAGE, extra={FIELDS: fields})
        return response

    app.before_request(before)
    app.after_request(after)


class HitLabels(msgspec.Struct, frozen=True):
    """The metric labels and log fields that all hits on one cache entry share.

    ``AccessLogBuffer.credit`` counts the hits of each ``use`` as saved calls.
    """

    metric_labels: tuple[str, str, str]  # operation, method, rule
    use: tuple[str, str]  # operation, caller
    log_members: str

    @classmethod
    def of(cls, operation: str, method: str, rule: str, caller: str, cache_status: str) -> Self:
        log_members = members(request_fields(method, rule, 200, cache_status))
        return cls((operation, method, rule), (operation, caller), log_members)


class Hit(msgspec.Struct, frozen=True):
    """A request that the hit cache answered.

    ``at`` is the time of the answer in epoch seconds, and ``seconds`` is its duration.
    """

    at: float
    seconds: float
    request_id: str
    labels: HitLabels

    def line(self) -> str:
        """Return the JSON members for this hit's log line, without braces."""
        ms = "0.0" if self.seconds < 0.00005 else f"{self.seconds * 1000:.1f}"
        return f'"request_id":"{self.request_id}",{self.labels.log_members},"ms":{ms}'


class AccessLogBuffer:
    """Queues hits until ``write`` counts and logs them.

    The scheduler calls ``write`` four times a second. The hit cache also calls ``write`` before it
    passes a request to Flask.
    """

    def __init__(
        self,
        metrics: Metrics,
        observer: Observer,
        count_saved: Callable[[str, CacheStatus, int, str], object],
    ) -> None:
        self._metrics = metrics
        self._observer = observer
        self._count_saved = count_saved
        self._pending: deque[Hit] = deque()  # its append and popleft are atomic
        self._write_lock = threading.Lock()
        self._uses: Counter[tuple[str, str]] = Counter()  # guarded by _write_lock

    def add(self, hit: Hit) -> None:
        self._pending.append(hit)
        if len(self._pending) > 2 * MAX_PENDING:
            # Hits arrive faster than ``write`` logs them, so this thread waits and logs a batch.
            with self._write_lock:
                self._write(self._take_batch())
        elif len(self._pending) > MAX_PENDING:
            self.write()

    def write(self) -> None:
        """Count and log all pending hits. Return at once if another thread is writing."""
        while self._pending and self._write_lock.acquire(blocking=False):
            try:
                self._write(self._take_batch())
            finally:
                self._write_lock.release()

    def credit(self) -> None:
        """Count each caller's number of hits as saved upstream calls.

        ``write`` does not report the hits itself, because many callers would delay it. A periodic
        task calls this method instead.
        """
        with self._write_lock:
            uses, self._uses = self._uses, Counter()
        for (operation, caller), times in uses.items():
            self._count_saved(operation, "hit", times, caller)

    def _take_batch(self) -> list[Hit]:
        return [self._pending.popleft() for _ in range(min(_BATCH_SIZE, len(self._pending)))]

    def _write(self, hits: list[Hit]) -> None:
        self._uses.update(hit.labels.use for hit in hits)
        for (operation, method, rule), seconds in _group_by_labels(hits).items():
            fast = [time_s for time_s in seconds if time_s <= SHORTEST_S]
            slow = ((time_s, 1) for time_s in seconds if time_s > SHORTEST_S)
            merged = [(sum(fast) / len(fast), len(fast))] if fast else []
            for mean_s, times in (*merged, *slow):
                self._observer.served(operation, "hit", mean_s, times)
                self._metrics.count_responses(method, rule, 200, mean_s, times)
        if log.isEnabledFor(logging.INFO):
            log.info(MESSAGE, extra={BATCH: [(hit.at, hit.line()) for hit in hits]})


def _group_by_labels(hits: Iterable[Hit]) -> dict[tuple[str, str, str], list[float]]:
    groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for hit in hits:
        groups[hit.labels.metric_labels].append(hit.seconds)
    return groups
