"""Checks whether OpenTelemetry's standard variables ask for traces."""

from collections.abc import Mapping
from importlib.util import find_spec

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def wants_traces(environ: Mapping[str, str]) -> bool:
    """Return whether the OTEL_ variables ask for traces and do not disable the SDK."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter:
        return exporter != "none"
    return any(environ.get(name) for name in _ENDPOINTS)


def can_trace() -> bool:
    """Return whether the packages of requirements-otel.txt are installed."""
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None
