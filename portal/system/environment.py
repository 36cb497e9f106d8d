"""Reads the environment: ``PORTAL_`` variables with their secret files, and the wish for traces."""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

PREFIX = "PORTAL_"
_TRACE_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class SettingsError(ValueError):
    """An invalid setting. The error message is one line for the operator."""


def read_texts(environ: Mapping[str, str], secrets: Iterable[str], home: Path) -> dict[str, str]:
    """Return the ``PORTAL_`` variables by name. The names do not include the prefix.

    For a name in ``secrets``, ``PORTAL_<NAME>_FILE`` may be the path of a file with the value. A
    relative path is resolved against ``home``. Raises SettingsError.
    """
    texts = {
        name.removeprefix(PREFIX): _checked_text(name, value)
        for name, value in environ.items()
        if name.startswith(PREFIX)
    }
    for name in secrets:
        path = texts.pop(f"{name}_FILE", "")
        if path and texts.get(name):
            raise SettingsError(f"{PREFIX}{name} and {PREFIX}{name}_FILE are both set")
        if path:
            texts[name] = _read_file(f"{PREFIX}{name}_FILE", home / path)
    return texts


def wants_traces(environ: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's variables ask for traces and do not disable the SDK."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter:
        return exporter != "none"
    return any(environ.get(name) for name in _TRACE_ENDPOINTS)


def can_trace() -> bool:
    """Return whether the packages of requirements-otel.txt are installed."""
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None


def _checked_text(name: str, value: str) -> str:
    try:
        value.encode()
    # Python decodes bytes that are not UTF-8 as lone surrogates (PEP 383). ``encode`` refuses them.
    except UnicodeEncodeError:
        raise SettingsError(f"{name} makes no sense: it is not UTF-8") from None
    return value.strip()


def _read_file(name: str, path: Path) -> str:
    try:
        content = path.read_text("utf-8").strip()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"{name} cannot be read: {reason}") from None
    except ValueError:
        raise SettingsError(f"{name} cannot be read: it is not UTF-8 text") from None
    if not content:
        # An empty file is an error. Without this check, an empty UPSTREAM_TOKEN_FILE would switch
        # the portal to pass-through mode. In this mode the portal sends its callers' own
        # credentials to the upstream.
        raise SettingsError(f"{name} makes no sense: the file is empty")
    return content
