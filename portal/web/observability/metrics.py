"""Prometheus metrics that add up over the worker processes; a label never holds a plate."""

import hmac
import ipaddress
import os
import time
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from flask import Blueprint, Flask, Response, abort, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from portal.gateway import CacheStatus, FailureKind
from portal.system.shared_directory import reserve
from portal.web.observability.request_log import method_label

_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30)
SHORTEST_S = _SECONDS[0]
_STATES = ("closed", "open", "half-open")
# What a worker's counters and histograms may come to, each: a series takes some 170 bytes, and
# routes, methods, statuses, operations and outcomes are few.
_ROOM = 1024 * 1024
BYTES_PER_WORKER = 2 * _ROOM
# A source gone mad must not fill the memory of whoever collects: later names are "other".
_MOST_FIELDS = 200


def enable_multiprocess(directory: Path, number: int) -> None:
    """Let this process write its numbers where those of the same server read them too.

    ``number`` is no other living process's; one that takes a dead one's over goes on counting
    where that ended. Raises OSError where there is no room. To be called before Metrics is made.

    prometheus_client decides that at its import, by a variable; ours may have been imported
    before the fork. It maps files full of holes, and to fill one where there is no room left
    would end the process: it takes a file that is there as it is.
    """
    for kind in ("counter", "histogram"):
        reserve(directory / f"{kind}_{number}.db", _ROOM)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]


class BreakerLike(Protocol):
    """A base address's breaker: its name, and "closed", "open" or "half-open"."""

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> str: ...


class Metrics:
    """Counts what the gateway tells and what the web room answers.

    ``directory`` is the one given to ``add_up_in``: then the numbers shown are those of all
    processes that write there, ended ones too. Without it they are this process's alone.
    """

    def __init__(self, breakers: Sequence[BreakerLike] = (), directory: Path | None = None) -> None:
        own = CollectorRegistry()
        self._shown = CollectorRegistry() if directory else own
        if directory:
            MultiProcessCollector(self._shown, path=str(directory))  # type: ignore[no-untyped-call]
        self._shown.register(_BreakerStates(breakers))

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, namespace="portal", registry=own)

        def timer(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(name, text, labels, namespace="portal", registry=own, buckets=_SECONDS)

        self._attempts = counter(
            "upstream_attempts", "Calls by how they ended", "operation", "base", "outcome"
        )
        self._attempt_seconds = timer(
            "upstream_attempt_seconds", "How long a call took", "operation", "base"
        )
        self._lookups = counter(
            "lookups", "Answers: hit, miss, stale, collapsed, request", "operation", "result"
        )
        self._failures = counter("lookup_failures", "Lookups in vain", "operation", "reason")
        self._lookup_seconds = timer(
            "lookup_seconds", "How long a lookup took", "operation", "result"
        )
        self._drift = counter(
            "drift", "Fields new, missing or oddly typed in a paid answer", "operation", "field"
        )
        self._store_faults = counter("store_faults", "Times the store could not be used", "what")
        self._requests = counter("requests", "Requests", "method", "rule", "status")
        self._request_seconds = timer("request_seconds", "Until the headers were ready", "rule")
        self._fields: set[tuple[str, str]] = set()

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        self._lookups.labels(operation, how).inc(times)
        _observe(self._lookup_seconds.labels(operation, how), seconds, times)

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        self._failures.labels(operation, kind).inc()
        self._lookup_seconds.labels(operation, "failed").observe(seconds)

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        self._attempts.labels(operation, origin, outcome).inc()
        self._attempt_seconds.labels(operation, origin).observe(seconds)

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        for name in fields:
            known = (operation, name) in self._fields
            if not known and len(self._fields) < _MOST_FIELDS:
                self._fields.add((operation, name))
                known = True
            self._drift.labels(operation, name if known else "other").inc()

    def store_failed(self, what: str) -> None:
        self._store_faults.labels(what).inc()

    def answered(self, method: str, rule: str, status: int, seconds: float, times: int = 1) -> None:
        """``rule`` is the route's pattern, never the path; ``times`` requests alike were answered
        in the mean of ``seconds``."""
        self._requests.labels(method, rule, str(status)).inc(times)
        _observe(self._request_seconds.labels(rule), seconds, times)

    def text(self) -> bytes:
        """Prometheus's text format."""
        return generate_latest(self._shown)


def _observe(timer: Histogram, seconds: float, times: int) -> None:
    """What that many calls of ``observe`` would do, for a batch that falls into one bucket."""
    if times == 1:
        timer.observe(seconds)
        return
    timer._sum.inc(seconds * times)
    timer._buckets[bisect_left(timer._upper_bounds, seconds)].inc(times)


class _BreakerStates(Collector):
    """Read when asked for: the processes share the breakers themselves."""

    def __init__(self, breakers: Sequence[BreakerLike]) -> None:
        self._breakers = breakers

    def collect(self) -> Iterable[GaugeMetricFamily]:
        gauge = GaugeMetricFamily(
            "portal_breaker_state", "1 for the state a breaker is in", labels=("base", "state")
        )
        for breaker in self._breakers:
            now = breaker.state
            for state in _STATES:
                gauge.add_metric((breaker.name, state), float(state == now))
        yield gauge


@dataclass(frozen=True, slots=True)
class MetricsAccess:
    """Who may read them: loopback, or whoever holds the operator's token."""

    token: str | None = field(default=None, repr=False)
    behind_proxy: bool = False

    def check(self) -> None:
        """Abort with 401 or 403 unless this request may."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        if self.token and hmac.compare_digest(given, self.token.encode()):
            return
        if not self._is_loopback():
            abort(401 if self.token else 403)

    def _is_loopback(self) -> bool:
        # A proxy on this machine that nobody told us of makes the whole world look like it.
        forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
        if forwarded and not self.behind_proxy:
            return False
        try:
            return ipaddress.ip_address(request.remote_addr or "").is_loopback
        except ValueError:
            return False


def metrics_blueprint(metrics: Metrics, access: MetricsAccess) -> Blueprint:
    page = Blueprint("metrics", __name__)

    @page.get("/metrics")
    def show() -> Response:
        access.check()
        return Response(metrics.text(), content_type="text/plain; version=0.0.4; charset=utf-8")

    return page


def register_metrics(app: Flask, metrics: Metrics) -> None:
    """Count every request under its route's rule."""

    @app.before_request
    def start() -> None:
        g.metrics_started = time.monotonic()

    @app.after_request
    def count(response: Response) -> Response:
        rule = request.url_rule.rule if request.url_rule else "none"
        method = method_label(request.method)
        seconds = time.monotonic() - g.get("metrics_started", time.monotonic())
        metrics.answered(method, rule, response.status_code, seconds)
        return response
