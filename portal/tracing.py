"""OpenTelemetry spans of requests, lookups, upstream calls, cache accesses and rendering.

The factory imports this module only if the standard OTEL_ variables ask for traces. Names and
attributes of spans contain no plate, token or path. Exceptions are not recorded, because their
texts might contain a plate or a token.

The hit cache (a WSGI middleware) answers some JSON requests before Flask is called, so these
requests have no span. A cache access or a rendering has a span only within another span.
"""

import contextvars
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import entry_points
from typing import Any, Final, cast

from flask import Flask, Response, before_render_template, g, request, template_rendered
from opentelemetry import context, propagate, trace
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from portal.access.tokens import Identity
from portal.gateway.backend import Backend, Found, Outcome
from portal.gateway.gateway import Gateway, Snapshot
from portal.gateway.lookup import Directive, Failure, Lookup, Served
from portal.upstream.errors import ANSWERED
from portal.upstream.protocol import Account, Attempt, Upstream
from portal.upstream.protocol import Resource as UpstreamResource
from portal.upstream.protocol import Response as UpstreamResponse

SERVICE: Final = "dossie-veicular"
_LOOKUP: Final = "lookup"
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
    """Wraps the parts of a portal so that their work is recorded as spans.

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

    def gateway(self, *parts: Any) -> Gateway:
        """Build a Gateway that records each lookup as a span. ``parts`` are Gateway's arguments."""
        return _TracedGateway(self._tracer, *parts)

    def upstream(self, upstream: Upstream) -> Upstream:
        return _TracedUpstream(upstream, self._tracer)

    def backend(self, backend: Backend) -> Backend:
        return cast(Backend, _TracedBackend(backend, self._tracer))

    def in_context(self, pool: Executor) -> Executor:
        """Return an executor that runs each task within the span that submitted it."""
        return _ContextExecutor(pool)

    def pdf_span(self) -> AbstractContextManager[object]:
        return _inner_span(self._tracer, "render", {"portal.template": "pdf"})

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


class _TracedGateway(Gateway):
    def __init__(self, tracer: Tracer, *parts: Any) -> None:
        super().__init__(*parts)
        self._tracer = tracer

    def fetch(
        self,
        lookup: Lookup,
        caller: Identity,
        directive: Directive = Directive.NORMAL,
        snapshot: Snapshot | None = None,
    ) -> Served:
        attributes = {"portal.operation": lookup.operation.name}
        with self._tracer.start_as_current_span(
            _LOOKUP, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                served = super().fetch(lookup, caller, directive, snapshot)
            except Failure as failure:
                span.set_attribute("portal.result", failure.kind)
                span.set_status(Status(StatusCode.ERROR, failure.kind))
                raise
            span.set_attribute("portal.result", served.cache_status)
            return served

    def cached(
        self, snapshot: Snapshot, caller: str, directive: Directive = Directive.NORMAL
    ) -> Served | None:
        served = super().cached(snapshot, caller, directive)
        current = trace.get_current_span()
        if served is not None and getattr(current, "name", "") != _LOOKUP:
            name = snapshot.lookup.operation.name
            took_ns = int((time.monotonic() - snapshot.read_at) * 1e9)
            self._tracer.start_span(
                _LOOKUP,
                attributes={"portal.operation": name, "portal.result": served.cache_status},
                start_time=time.time_ns() - took_ns,
            ).end()
        return served


class _TracedUpstream:
    def __init__(self, upstream: Upstream, tracer: Tracer) -> None:
        self._upstream = upstream
        self._tracer = tracer

    def send(
        self, resource: UpstreamResource, account: Account, deadline: float
    ) -> UpstreamResponse:
        return self._upstream.send(resource, _TracedAccount(account, self._tracer), deadline)


class _TracedAccount:
    def __init__(self, account: Account, tracer: Tracer) -> None:
        self._account = account
        self._tracer = tracer

    def begin(self, origin: str) -> Attempt:
        attempt = self._account.begin(origin)
        attributes = {"portal.address": origin}
        return _TracedAttempt(
            attempt, self._tracer.start_span("attempt", kind=SpanKind.CLIENT, attributes=attributes)
        )


class _TracedAttempt:
    def __init__(self, attempt: Attempt, span: Span) -> None:
        self._attempt = attempt
        self._span = span

    def finish(self, outcome: str, status: int | None = None) -> None:
        self._span.set_attribute("portal.outcome", outcome)
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
        if outcome != ANSWERED:
            self._span.set_status(Status(StatusCode.ERROR, outcome))
        self._span.end()
        self._attempt.finish(outcome, status)


class _TracedBackend:
    def __init__(self, backend: Backend, tracer: Tracer) -> None:
        self._backend = backend
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def read_many(self, keys: Sequence[str]) -> Found:
        with _inner_span(self._tracer, "store", {"portal.store": "read"}):
            return self._backend.read_many(keys)

    def replace(self, key: str, value: bytes, timeout: float, fence: int, purge_no: int) -> Outcome:
        with _inner_span(self._tracer, "store", {"portal.store": "write"}):
            return self._backend.replace(key, value, timeout, fence, purge_no)


class _ContextExecutor(Executor):
    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, task: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        return self._executor.submit(contextvars.copy_context().run, task, *args, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def _inner_span(tracer: Tracer, name: str, attributes: dict[str, str]) -> Iterator[None]:
    """Make a span within the current span.

    If there is no current span, for example in a periodic task, make no span.
    """
    if not trace.get_current_span().is_recording():
        yield
        return
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield
        except Exception as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
