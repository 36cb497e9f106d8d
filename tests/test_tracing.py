"""OpenTelemetry traces: spans, omitted data, export, and no cost when off."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from portal import tracing
from portal.system.environment import wants_traces
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN, InProcessPortal
from tests.fakes.processes import PortalProcess, clean_environment
from tests.web.person import Person

CHECKOUT = Path(__file__).resolve().parents[1]
PLATE = "ABC1D23"
Finished = Callable[[], list[ReadableSpan]]


@pytest.fixture
def traced(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> tuple[InProcessPortal, Finished]:
    """A portal, and a function that returns its finished spans by start time."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(tracing, "exporter_of", lambda _: exporter)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    here = portal()

    def finished() -> list[ReadableSpan]:
        assert here.parts.tracing is not None
        here.parts.tracing._provider.force_flush()
        return sorted(exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    return here, finished


def parent_name(span: ReadableSpan, spans: list[ReadableSpan]) -> str | None:
    by_id = {each.context.span_id: each.name for each in spans}
    return by_id[span.parent.span_id] if span.parent else None


def named(spans: list[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_miss_has_spans_of_request_lookup_attempt_and_store(
    traced: tuple[InProcessPortal, Finished],
) -> None:
    here, finished = traced
    answer = here.get(path_of("decode"))
    spans = finished()
    (root,) = [span for span in spans if span.parent is None]
    assert root.name == "GET /detran/v1/decode/<plate>"
    assert attributes(root)["http.response.status_code"] == 200
    assert attributes(root)["portal.request_id"] == answer.headers["X-Request-Id"]
    (lookup,) = named(spans, "lookup")
    assert attributes(lookup) == {"portal.operation": "decode", "portal.result": "miss"}
    (attempt,) = named(spans, "attempt")
    assert attributes(attempt) == {
        "portal.address": "primary",
        "portal.outcome": "answered",
        "http.response.status_code": 200,
    }
    assert parent_name(lookup, spans) == root.name
    assert parent_name(attempt, spans) == "lookup"
    stores = {attributes(span)["portal.store"] for span in named(spans, "store")}
    assert stores == {"read", "write"}
    assert len({span.context.trace_id for span in spans}) == 1


def test_failover_has_a_span_for_each_attempt(
    traced: tuple[InProcessPortal, Finished], upstream: FaultUpstream, portal: PortalFactory
) -> None:
    here, finished = traced
    upstream.default(faults.status(500))
    assert here.get(path_of("decode")).status_code == 502
    spans = finished()
    (attempt,) = named(spans, "attempt")
    assert attempt.status.status_code is StatusCode.ERROR
    assert attributes(attempt)["portal.outcome"] == "failing"
    (lookup,) = named(spans, "lookup")
    assert attributes(lookup)["portal.result"] == "bad_answer"
    assert lookup.status.status_code is StatusCode.ERROR


def test_page_has_render_spans_and_lookups_of_its_threads(
    traced: tuple[InProcessPortal, Finished],
) -> None:
    here, finished = traced
    ana = Person.at(here).signed_in()
    for _ in range(2):
        assert ana.client.get(f"/placa/{PLATE}?completo=1").status_code == 200
    spans = finished()
    pages = [span for span in spans if span.name == "GET /placa/<text>"]
    for page, result in zip(pages, ("miss", "hit"), strict=True):
        within = [span for span in spans if span.context.trace_id == page.context.trace_id]
        found = [attributes(span)["portal.result"] for span in named(within, "lookup")]
        assert found == [result] * 3
        assert {parent_name(span, within) for span in named(within, "lookup")} == {page.name}
        (render,) = named(within, "render")
        assert attributes(render)["portal.template"].endswith(".html")


def test_pdf_is_a_render_span(traced: tuple[InProcessPortal, Finished]) -> None:
    here, finished = traced
    Person.at(here).signed_in().client.get(f"/placa/{PLATE}/dossie.pdf")
    templates = [attributes(span)["portal.template"] for span in named(finished(), "render")]
    assert templates[-2:] == ["pages/dossier.html", "pdf"]


def test_no_span_holds_a_plate_a_token_or_a_path(
    traced: tuple[InProcessPortal, Finished], upstream: FaultUpstream
) -> None:
    here, finished = traced
    ana = Person.at(here).signed_in()
    for path in (f"/placa/{PLATE}?completo=1", f"/buscar?q={PLATE}", f"/nowhere/{PLATE}"):
        ana.client.get(path)
    here.get(f"{path_of('decode')}?at={PORTAL_TOKEN}", token=None)
    here.client.open(f"/placa/{PLATE}", method=PLATE)
    upstream.default(faults.reset_before_a_byte())
    here.get(path_of("renajud", "XYZ9K99"))
    text = "".join(span.to_json() for span in finished())
    assert "lookup" in text
    for secret in (PLATE, PLATE.lower(), "XYZ9K99", PORTAL_TOKEN, OPERATOR_TOKEN, "nowhere"):
        assert secret not in text


def test_probes_and_hits_of_the_hit_cache_have_no_span(
    traced: tuple[InProcessPortal, Finished],
) -> None:
    here, finished = traced
    here.get(path_of("decode"))
    before = len(finished())
    for path in ("/healthz", "/readyz", "/metrics", path_of("decode")):
        assert here.get(path).status_code == 200
    here.parts.scheduler.run_all()
    assert len(finished()) == before


@pytest.mark.parametrize(("proxies", "continues"), [("0", False), ("1", True)])
def test_trace_of_a_client_is_continued_behind_a_trusted_proxy_alone(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch, proxies: str, continues: bool
) -> None:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(tracing, "exporter_of", lambda _: exporter)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    here = portal(TRUSTED_PROXIES=proxies)
    here.client.get("/", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    assert here.parts.tracing is not None
    here.parts.tracing._provider.force_flush()
    (root, *_) = [span for span in exporter.get_finished_spans() if span.name == "GET /"]
    assert (root.context.trace_id == int("a" * 32, 16)) is continues


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "x"}, False),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a"}, True),
    ],
)
def test_standard_variables_decide(environ: dict[str, str], wanted: bool) -> None:
    assert wants_traces(environ) is wanted


@pytest.mark.slow
def test_without_traces_nothing_is_loaded_or_wrapped(tmp_path: Path) -> None:
    """The portal has its own process, because the tests load OpenTelemetry."""
    program = """
import json, sys
from tests.fakes.in_process import built
from pathlib import Path
with built(Path(sys.argv[1]), {}) as here:
    for _ in range(3):
        assert here.get("/detran/v1/decode/ABC1D23", token="demo").status_code == 200
    store = here.parts.store
    print(json.dumps({
        "loaded": [name for name in sys.modules if name.startswith(("opentelemetry", "portal.tr"))],
        "tracing": here.parts.tracing,
        "backend": type(store._backend).__module__,
        "gateway": type(here.app.wsgi_app.app._gateway).__qualname__,
        "upstream": type(here.app.wsgi_app.app._gateway._upstream).__qualname__,
    }))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=CHECKOUT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {
        "loaded": [],
        "tracing": None,
        "backend": "portal.gateway.sqlite_cache",
        "gateway": "Gateway",
        "upstream": "Failover",
    }


@pytest.mark.parametrize("exporter", ["otlp", "nobody"])
def test_missing_package_or_exporter_is_one_warning(
    portal: PortalFactory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    exporter: str,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", exporter)
    if exporter == "otlp":
        monkeypatch.setattr("portal.factory.can_trace", lambda: False)
    here = portal()
    assert here.get(path_of("decode")).status_code == 200
    assert here.parts.tracing is None
    assert [line for line in caplog.messages if line.startswith("no traces: ")]


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """The base address of an OTLP/HTTP receiver, and its received requests."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_server_exports_to_an_otlp_receiver(
    receiver: tuple[str, list[ExportTraceServiceRequest]],
) -> None:
    address, received = receiver
    settings = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_BSP_SCHEDULE_DELAY": "600000",  # ms, so that spans are exported only at the end
        "OTEL_SERVICE_NAME": "consultas",
    }

    def names() -> set[str]:
        return {
            span.name
            for export in list(received)
            for resource in export.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }

    with PortalProcess(settings) as server:
        assert server.get(f"/placa/{PLATE}?completo=1").status_code == 200
        assert received == []
        server.stop()
    assert names() >= {"GET /placa/<text>", "lookup", "attempt", "store", "render"}
    labels = {
        attribute.key: attribute.value.string_value
        for attribute in received[0].resource_spans[0].resource.attributes
    }
    assert labels["service.name"] == "consultas"
    assert PLATE.encode() not in b"".join(each.SerializeToString() for each in received)
