"""Formats log records as JSON lines."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from flask import g, has_request_context

from portal.web.observability.redaction import Redactor

# Attribute of a log record: a dict of further JSON members for the record's line.
FIELDS: Final = "fields"
# Attribute of a log record that results in several lines. It is a sequence with a pair for each
# line: the time in epoch seconds, and the result of ``members()`` for the fields of only this line.
# The other members, such as the level, are the same in all lines of the record.
BATCH: Final = "batch"
_THOUSANDTHS: Final = tuple(f"{number:03}" for number in range(1000))
_encoder: Final = msgspec.json.Encoder()


class JSONLines(logging.Formatter):
    """Formats a record as a JSON line, or as a line for each pair in its attribute BATCH."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        message = self._redact(record.getMessage())
        batch: Sequence[tuple[float, str]] | None = getattr(record, BATCH, None)
        if batch is not None:
            return _batch_lines(members(_common_members(record, message)), batch)
        line = {"time": _timestamp(record.created), **_common_members(record, message)}
        line |= line_fields(record)
        if record.exc_info:
            line["exception"] = self._redact(self.formatException(record.exc_info))
        return _encoder.encode(line).decode()


def line_fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the record's FIELDS, plus the request id during a request."""
    fields = getattr(record, FIELDS, {})
    if has_request_context() and "request_id" in g:
        return {"request_id": g.request_id, **fields}
    return dict(fields)


def members(fields: Mapping[str, object]) -> str:
    """Encode ``fields`` as a JSON object without its braces, for use in log lines."""
    return _encoder.encode(fields).decode()[1:-1]


def _batch_lines(common: str, batch: Sequence[tuple[float, str]]) -> str:
    """Return a line for each pair in ``batch``.

    ``common`` is JSON text that all lines share.
    """
    prefixes: dict[int, str] = {}  # the beginning of a log line, by epoch second
    common_part = f'+00:00",{common},'
    lines = []
    for at, extra in batch:
        second = int(at)
        if second not in prefixes:
            prefixes[second] = f'{{"time":"{_format_second(second)}.'
        lines.append(
            f"{prefixes[second]}{_THOUSANDTHS[int((at - second) * 1000)]}{common_part}{extra}}}"
        )
    return "\n".join(lines)


def _common_members(record: logging.LogRecord, message: str) -> dict[str, Any]:
    return {"level": record.levelname.lower(), "logger": record.name, "message": message}


def _timestamp(at: float) -> str:
    second = int(at)
    return f"{_format_second(second)}.{_THOUSANDTHS[int((at - second) * 1000)]}+00:00"


def _format_second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
