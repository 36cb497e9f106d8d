"""OpenTelemetry spans of requests, lookups, upstream calls, cache accesses and rendering.

The factory imports this module only if the standard OTEL_ variables ask for traces. Names and
attributes of spans contain no plate, token or path. Exceptions are not recorded, because their
texts might contain a plate or a token.

The hit cache (a WSGI middleware) answers some JSON requests before Flask is called, so these
requests have no span. A cache access or a rendering has a span only within another span.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import entry_points
from typing import Any, Final, cast

from flask import Flask, Response, before_render_template, g, request, template_rendered
from opentelemetry import context, propagate, trace
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from portal.gateway.lookup import CacheStatus, FailureKind, Observer
from portal.upstream.errors import ANSWERED

SERVICE: Final = "dossie-veicular"
_PROTOCOLS: Final = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
# Requests for these paths have no spans, because such spans would outnumber all other spans.
_UNTRACED: Final = ("/healthz", "/readyz", "/metrics", "/static/")


class UnknownExporter(ValueError):
    """The OTEL_ variables name an exporter that is not installed."""


def exporter_of(environ: Mapping[str, str]) -> SpanExporter:
    """Return the exporter that the OTEL_ variables name, by default OTLP over HTTP.

    Raises UnknownExporter.
    """
    name = environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    if name == "otlp":
        protocol = (
            environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
            or "http/protobuf"
        )
        name = _PROTOCOLS.get(protocol, protocol)
    for entry_point in entry_points(group="opentelemetry_traces_exporter", name=name):
        return cast(SpanExporter, entry_point.load()())
    raise UnknownExporter(name)


class Tracing:
    """Records the work of a portal as spans.

    If ``continues`` is true, a request continues the trace that its ``traceparent`` header names.
    Set ``continues`` only behind a trusted proxy, because a client could otherwise use the header
    to decide which requests are recorded.
    """

    def __init__(self, exporter: SpanExporter, continues: bool = False) -> None:
        # SERVICE is not passed to Resource.create, because an argument of Resource.create overrides
        # OTEL_SERVICE_NAME.
        named = Resource({SERVICE_NAME: SERVICE}).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=Resource.create().merge(named))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(SERVICE)
        self._continues = continues

    def close(self) -> None:
        """Export the pending spans, and stop tracing."""
        self._provider.shutdown()

    def observer(self, observer: Observer) -> Observer:
        """Return an observer that makes spans of the events, and hands them on to ``observer``."""
        return cast(Observer, _Spans(observer, self._tracer))

    def in_context(self, pool: Executor) -> Executor:
        """Return an executor that runs each task within the span that submitted it."""
        return _ContextExecutor(pool)

    def pdf_span(self) -> AbstractContextManager[object]:
        if not _is_within_span():
            return nullcontext()
        return self._tracer.start_as_current_span(
            "render",
            attributes={"portal.template": "pdf"},
            record_exception=False,
            set_status_on_exception=False,
        )

    def attach(self, app: Flask) -> None:
        """Trace the application's requests.

        Call this method before other request hooks are added, so that these hooks run within the
        request's span.
        """

        def start() -> None:
            if request.path.startswith(_UNTRACED):
                return
            rule = request.url_rule.rule if request.url_rule else "none"
            method = request.method if request.url_rule else "other"
            parent = propagate.extract(request.headers) if self._continues else context.Context()
            attributes = {"http.request.method": method, "http.route": rule}
            g.request_span = self._tracer.start_span(
                f"{method} {rule}", parent, SpanKind.SERVER, attributes
            )
            g.request_context = context.attach(trace.set_span_in_context(g.request_span))
            g.render_spans = []

        def note(response: Response) -> Response:
            if span := g.get("request_span"):
                span.set_attribute("http.response.status_code", response.status_code)
                span.set_attribute("portal.request_id", g.get("request_id", ""))
                if response.status_code >= 500:
                    span.set_status(StatusCode.ERROR)
            return response

        def end(_: BaseException | None) -> None:
            if "request_span" not in g:
                return
            for span in (*g.pop("render_spans"), g.pop("request_span")):
                span.end()
            context.detach(g.pop("request_context"))

        def begin_render(_: Flask, template: Any, **__: Any) -> None:
            if "request_span" in g:
                attributes = {"portal.template": str(template.name)}
                g.render_spans.append(self._tracer.start_span("render", attributes=attributes))

        def end_render(_: Flask, **__: Any) -> None:
            if g.get("render_spans"):
                g.render_spans.pop().end()

        app.before_request(start)
        app.after_request(note)
        app.teardown_request(end)
        before_render_template.connect(begin_render, app, weak=False)
        template_rendered.connect(end_render, app, weak=False)


class _AttemptsOfThread(threading.local):
    def __init__(self) -> None:
        self.ended: list[tuple[int, float, dict[str, Any]]] = []


class _Spans:
    """An Observer. The spans of a lookup's attempts are made with that of the lookup."""

    def __init__(self, observer: Observer, tracer: Tracer) -> None:
        self._observer = observer
        self._tracer = tracer
        self._attempts = _AttemptsOfThread()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._observer, name)

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        self._observer.served(operation, how, seconds, times)
        if how != "hit" or _is_within_span():  # the hit cache's hits are counted later
            self._add_lookup(operation, how, seconds)

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        self._observer.failed(operation, kind, seconds)
        self._add_lookup(operation, kind, seconds, error=kind)

    def asked(
        self, operation: str, origin: str, outcome: str, seconds: float, status: int | None
    ) -> None:
        self._observer.asked(operation, origin, outcome, seconds, status)
        attributes: dict[str, Any] = {"portal.address": origin, "portal.outcome": outcome}
        if status is not None:
            attributes["http.response.status_code"] = status
        self._attempts.ended.append((time.time_ns(), seconds, attributes))

    def used_store(self, what: str, seconds: float, error: str = "") -> None:
        if _is_within_span():
            self._add("store", {"portal.store": what}, time.time_ns(), seconds, error=error)

    def store_failed(self, what: str) -> None:
        self._observer.store_failed(what)
        self.used_store(what, 0.0, error="failed")

    def _add_lookup(self, operation: str, result: str, seconds: float, error: str = "") -> None:
        attributes = {"portal.operation": operation, "portal.result": result}
        lookup = self._add("lookup", attributes, time.time_ns(), seconds, error=error)
        inside = trace.set_span_in_context(lookup)
        for ended_at, taken_s, attempt in self._attempts.ended:
            outcome = attempt["portal.outcome"]
            error = "" if outcome == ANSWERED else outcome
            self._add("attempt", attempt, ended_at, taken_s, inside, SpanKind.CLIENT, error)
        self._attempts.ended.clear()

    def _add(
        self,
        name: str,
        attributes: Mapping[str, Any],
        ended_at: int,
        seconds: float,
        parent: context.Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        error: str = "",
    ) -> Span:
        """Make a span that ended at a time in epoch nanoseconds."""
        began_at = ended_at - int(seconds * 1e9)
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=began_at)
        if error:
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(ended_at)
        return span


def _is_within_span() -> bool:
    return trace.get_current_span().is_recording()


class _ContextExecutor(Executor):
    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, task: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        return self._executor.submit(contextvars.copy_context().run, task, *args, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait, cancel_futures=cancel_futures)
