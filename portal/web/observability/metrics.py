"""Prometheus metrics, summed over the worker processes. No label contains a plate."""

import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from portal import VERSION
from portal.gateway.limits import Use
from portal.gateway.lookup import CacheStatus, FailureKind, Observer
from portal.gateway.operations import OPERATIONS
from portal.messages.outbox import Channel
from portal.presentation.operations.page import BreakerState, OriginBreaker
from portal.system.local_time import sao_paulo
from portal.system.shared_directory import reserve

_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30)
SHORTEST_S = _SECONDS[0]
# Each worker has a file of counters and a file of histograms. Each file has this size, which is
# enough for about 24,000 time series of 170 bytes each.
_FILE_BYTES = 4 * 1024 * 1024
BYTES_PER_WORKER = 2 * _FILE_BYTES
# The maximum number of fields of upstream answers that have their own time series in the counter
# "drift". Further fields share the label "other", because the number of field names has no bound.
_MOST_FIELDS = 200


def enable_multiprocess(directory: Path, number: int) -> None:
    """Store this process's metrics in files that all workers of the server read.

    Call this function before creating Metrics. ``number`` must be unique among living processes. A
    process that reuses the number of an ended process continues the counters of the ended process.
    Raises OSError if the disk is full.

    At import, prometheus_client sets ``ValueClass`` depending on PROMETHEUS_MULTIPROC_DIR. This
    variable was not set at import, so this function sets ``ValueClass`` again.

    The files get their full size now. Otherwise prometheus_client would map sparse files into
    memory. If the disk is full, a write to a hole in a sparse file kills the process.
    """
    for kind in ("counter", "histogram"):
        reserve(directory / f"{kind}_{number}.db", _FILE_BYTES)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]


class Metrics(Observer, Collector):
    """Counts lookups, upstream calls and HTTP responses.

    ``directory`` is the directory given to ``enable_multiprocess``, or None. With a directory, the
    metrics cover all processes that have written to it, including ended processes. With None, the
    metrics cover this process only. ``priced`` are the operations of a known price. ``uses``
    returns what is used of the limits for all callers together, each with the day on which it ends
    at its present rate. ``key_ends_at`` is the end (epoch s) of the certificate that signs
    dossiers, or None without one.
    """

    def __init__(
        self,
        breakers: Sequence[OriginBreaker],
        directory: Path | None,
        *,
        workers: int,
        priced: Collection[str],
        uses: Callable[[], Iterable[tuple[Use, date | None]]],
        is_worker: bool,
        key_ends_at: float | None = None,
    ) -> None:
        registry = CollectorRegistry()
        self._exposed_registry = CollectorRegistry() if directory else registry
        if directory:
            MultiProcessCollector(self._exposed_registry, path=str(directory))  # type: ignore[no-untyped-call]
        self._exposed_registry.register(self)
        self._breakers = breakers
        self._workers = workers
        self._priced = priced
        self._uses = uses
        self._key_ends_at = key_ends_at

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, namespace="portal", registry=registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(
                name, text, labels, namespace="portal", registry=registry, buckets=_SECONDS
            )

        self._attempts = counter(
            "upstream_attempts", "Upstream calls by outcome", "operation", "base", "outcome"
        )
        self._attempt_seconds = histogram(
            "upstream_attempt_seconds", "Duration of an upstream call", "operation", "base"
        )
        self._lookups = counter(
            "lookups",
            "Lookups by cache result: hit, miss, stale, collapsed, request",
            "operation",
            "result",
        )
        self._failures = counter(
            "lookup_failures", "Failed lookups by reason", "operation", "reason"
        )
        self._lookup_seconds = histogram(
            "lookup_seconds", "Duration of a lookup", "operation", "result"
        )
        # No label names the access token, because the number of tokens has no bound. The operator's
        # page /operacao (operation) shows the amounts for each token.
        self._spent = counter(
            "spent_brl",
            "R$ of finished upstream calls; the ledger also has those that died with a worker",
            "operation",
        )
        self._saved = counter(
            "saved_brl", "R$ of the calls that stored answers made unnecessary", "operation"
        )
        # The sums above lack these calls. An operation without a price has no sums, not even 0.
        self._unpriced = counter(
            "unpriced_calls", "Finished calls that may be charged, at an unknown price", "operation"
        )
        self._drift = counter(
            "drift",
            "New, missing or wrongly typed fields in paid answers",
            "operation",
            "field",
        )
        self._store_faults = counter("store_faults", "Failed store operations", "what")
        self._trail_faults = counter("trail_faults", "Failed writes of the audit trail")
        self._messages = counter(
            "messages", "Attempts to deliver a message by e-mail or webhook", "channel", "result"
        )
        self._requests = counter("requests", "HTTP requests", "method", "rule", "status")
        self._request_seconds = histogram(
            "request_seconds", "Time until the response headers were ready", "rule"
        )
        self._fields: set[tuple[str, str]] = set()
        starts = counter("worker_starts", "Starts of worker processes, replacements included")
        starts.inc(is_worker)
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """Create the time series that alerts use, with the value 0.

        Prometheus sees no increase if the first value of a series is already 1.
        """
        for what in ("read", "write", "sweep"):
            self._store_faults.labels(what)
        for channel in get_args(Channel):
            for result in ("delivered", "failed"):
                self._messages.labels(channel, result)
        for operation in OPERATIONS:
            self._unpriced.labels(operation)
            if operation in self._priced:
                self._spent.labels(operation)
                self._saved.labels(operation)
            for kind in get_args(FailureKind):
                self._failures.labels(operation, kind)

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        self._lookups.labels(operation, how).inc(times)
        _observe(self._lookup_seconds.labels(operation, how), seconds, times)

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        self._failures.labels(operation, kind).inc()
        self._lookup_seconds.labels(operation, "failed").observe(seconds)

    def asked(
        self,
        operation: str,
        origin: str,
        outcome: str,
        seconds: float,
        status: int | None,  # noqa: ARG002 traces have it
    ) -> None:
        self._attempts.labels(operation, origin, outcome).inc()
        self._attempt_seconds.labels(operation, origin).observe(seconds)

    def spent(self, operation: str, amount: Decimal | None) -> None:
        if amount is None:
            self._unpriced.labels(operation).inc()
        else:
            self._spent.labels(operation).inc(float(amount))

    def saved(self, operation: str, amount: Decimal) -> None:
        self._saved.labels(operation).inc(float(amount))

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        for name in fields:
            is_known = (operation, name) in self._fields
            if not is_known and len(self._fields) < _MOST_FIELDS:
                self._fields.add((operation, name))
                is_known = True
            self._drift.labels(operation, name if is_known else "other").inc()

    def store_failed(self, what: str) -> None:
        self._store_faults.labels(what).inc()

    def trail_failed(self) -> None:
        self._trail_faults.inc()

    def tried_message(self, channel: str, is_delivered: bool) -> None:
        self._messages.labels(channel, "delivered" if is_delivered else "failed").inc()

    def count_responses(
        self, method: str, rule: str, status: int, seconds: float, times: int = 1
    ) -> None:
        """Count ``times`` responses of the route ``rule`` with the mean duration ``seconds``."""
        self._requests.labels(method, rule, str(status)).inc(times)
        _observe(self._request_seconds.labels(rule), seconds, times)

    def text(self) -> bytes:
        return generate_latest(self._exposed_registry)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges, whose values are read at each request for the metrics."""
        states = GaugeMetricFamily(
            "portal_breaker_state", "1 for the current state of a breaker", labels=("base", "state")
        )
        for breaker in self._breakers:
            current = breaker.state
            for state in get_args(BreakerState):
                states.add_metric((breaker.name, state), float(state == current))
        yield states
        build = GaugeMetricFamily("portal_build_info", "1, with the version", labels=("version",))
        build.add_metric((VERSION,), 1.0)
        yield build
        yield GaugeMetricFamily("portal_workers", "Worker processes", value=self._workers)
        if self._key_ends_at is not None:
            yield GaugeMetricFamily(
                "portal_signing_key_end_timestamp_seconds",
                "End of the certificate that signs issued dossiers",
                value=self._key_ends_at,
            )
        for use, ends_on in self._uses():
            yield from _gauges_of_limit(use, ends_on)


def _gauges_of_limit(use: Use, ends_on: date | None) -> Iterator[GaugeMetricFamily]:
    """Yield what a limit for all callers allows, what is left, and when it ends at its rate."""
    most, left = float(use.limit.most), float(use.left)
    if use.limit.unit == "calls":
        yield GaugeMetricFamily("portal_daily_call_limit", "Upstream calls allowed a day", most)
        yield GaugeMetricFamily("portal_daily_calls_left", "Upstream calls left today", left)
    else:
        yield GaugeMetricFamily("portal_monthly_budget_brl", "R$ allowed a month", most)
        yield GaugeMetricFamily("portal_monthly_budget_left_brl", "R$ left this month", left)
    if ends_on is not None:
        yield GaugeMetricFamily(
            "portal_monthly_budget_end_timestamp_seconds",
            "Start of the day on which the budget ends at the rate of the last seven days",
            datetime.combine(ends_on, time.min, sao_paulo()).timestamp(),
        )


def _observe(histogram: Histogram, seconds: float, times: int) -> None:
    """Record ``times`` observations of the value ``seconds`` in one step.

    prometheus_client 0.26.0 has no public name for this. One ``observe`` takes 2.2 µs, so two for
    each JSON hit would take more time than the portal's own 3 µs
    (``test_observations_are_recorded_in_one_step``).
    """
    if times == 1:
        histogram.observe(seconds)
        return
    histogram._sum.inc(seconds * times)
    histogram._buckets[bisect_left(histogram._upper_bounds, seconds)].inc(times)
