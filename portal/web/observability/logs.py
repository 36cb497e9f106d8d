"""Sets up a process's logs, as JSON lines or as text, with secrets redacted.

The text is for people: aligned, in São Paulo's time, coloured on a terminal. Both formats report
the same events.
"""

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TextIO

import msgspec
from flask import g, has_request_context

from portal.system.local_time import from_epoch, utc_time
from portal.web.observability.redaction import Redactor

LogFormat = Literal["json", "text"]

# Attribute of a log record: a dict of further JSON members for the record's line.
FIELDS: Final = "fields"
# Attribute of a log record that results in several lines. It is a sequence with a pair for each
# line: the time in epoch seconds, and the result of ``members()`` for the fields of only this line.
# The other members, such as the level, are the same in all lines of the record.
BATCH: Final = "batch"
_THOUSANDTHS: Final = tuple(f"{number:03}" for number in range(1000))
_encoder: Final = msgspec.json.Encoder()
_INDENT: Final = " " * 4
_LEVEL_WIDTH: Final = 9
_LOGGER_WIDTH: Final = 22
_RULE_WIDTH: Final = 42
# Escapes for control characters, which could forge a log line or send commands to a terminal.
_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_LINE_ENDS: Final = {0x2028: "\\u2028", 0x2029: "\\u2029"}
_ONE_LINE: Final = _CONTROLS | _LINE_ENDS
_LINES: Final = {code: shown for code, shown in _ONE_LINE.items() if code not in (0x09, 0x0A)}
_DIM, _YELLOW, _RED, _PLAIN = "\x1b[2m", "\x1b[33m", "\x1b[31m", "\x1b[0m"


def set_up_logging(secrets: Sequence[str] = (), log_format: LogFormat = "json") -> None:
    """Set up the root logger with handlers that redact ``secrets``.

    The loggers of the server (Granian) also use these handlers.
    """
    redact = Redactor(secrets)
    stdout = _handler(sys.stdout, redact, log_format)
    stdout.addFilter(lambda record: record.levelno < logging.WARNING)
    stderr = _handler(sys.stderr, redact, log_format)
    stderr.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.handlers[:] = [stdout, stderr]
    root.setLevel(logging.INFO)
    # At level INFO, Alembic would log a line for each of its plugins.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)


def _handler(stream: TextIO, redact: Redactor, log_format: LogFormat) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    is_text = log_format == "text"
    coloured = is_coloured(stream, os.environ)
    handler.setFormatter(TextLines(redact, coloured) if is_text else JSONLines(redact))
    return handler


class JSONLines(logging.Formatter):
    """Formats a record as a JSON line, or as a line for each pair in its attribute BATCH."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        message = self._redact(record.getMessage())
        batch: Sequence[tuple[float, str]] | None = getattr(record, BATCH, None)
        if batch is None:
            fields = line_fields(record)
            if record.exc_info:
                fields["exception"] = self._redact(self.formatException(record.exc_info))
            batch = [(record.created, members(fields))]
        level, logger = record.levelname.lower(), record.name
        return _lines(members({"level": level, "logger": logger, "message": message}), batch)


def line_fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the record's FIELDS, plus the request id during a request."""
    fields = getattr(record, FIELDS, {})
    if has_request_context() and "request_id" in g:
        return {"request_id": g.request_id, **fields}
    return dict(fields)


def members(fields: Mapping[str, object]) -> str:
    """Encode ``fields`` as a JSON object without its braces, for use in log lines."""
    return _encoder.encode(fields).decode()[1:-1]


def _lines(common: str, batch: Sequence[tuple[float, str]]) -> str:
    """Return a line for each pair in ``batch``.

    ``common`` is JSON text that all lines share.
    """
    prefixes: dict[int, str] = {}  # the beginning of a log line, by epoch second
    common_part = f'+00:00",{common}'
    lines = []
    for at, extra in batch:
        second = int(at)
        if second not in prefixes:
            prefixes[second] = f'{{"time":"{utc_time(second):%Y-%m-%dT%H:%M:%S}.'
        thousandths = _THOUSANDTHS[int((at - second) * 1000)]
        comma = "," if extra else ""
        lines.append(f"{prefixes[second]}{thousandths}{common_part}{comma}{extra}}}")
    return "\n".join(lines)


def is_coloured(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether a stream is a terminal whose user wants colours (no-color.org)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class TextLines(logging.Formatter):
    """Formats a record as one line, or as a line for each event in its attribute BATCH.

    An exception follows as indented lines.
    """

    def __init__(self, redact: Redactor, coloured: bool = False) -> None:
        super().__init__()
        self._redact = redact
        self._coloured = coloured

    def format(self, record: logging.LogRecord) -> str:
        batch: Sequence[tuple[float, str]] | None = getattr(record, BATCH, None)
        if batch is not None:
            decoded = ((at, msgspec.json.decode(f"{{{members}}}")) for at, members in batch)
            return "\n".join(self._line(record, at, fields) for at, fields in decoded)
        line = self._line(record, record.created, line_fields(record))
        if record.exc_info:
            trace = self._redact(self.formatException(record.exc_info)).translate(_LINES)
            line += "".join(f"\n{_INDENT}{trace_line}" for trace_line in trace.split("\n"))
        return line

    def _line(self, record: logging.LogRecord, at: float, fields: Mapping[str, Any]) -> str:
        time = from_epoch(at).isoformat(" ", "milliseconds")[:-6]  # without the UTC offset
        level = f"{record.levelname:<{_LEVEL_WIDTH}}"
        name = f"{record.name:<{_LOGGER_WIDTH}} "
        if "method" in fields:
            said, status = _request_text(fields), fields["status"]
        else:
            words = (self._redact(record.getMessage()), *map(_pair, fields.items()))
            said, status = "  ".join(words), 0
        said = said.translate(_ONE_LINE)
        if not self._coloured:
            return f"{time}  {level}{name}{said}"
        is_bad = record.levelno >= logging.ERROR or status >= 500
        is_odd = record.levelno >= logging.WARNING or status >= 400
        colour = _RED if is_bad else _YELLOW if is_odd else ""
        return f"{_DIM}{time}{_PLAIN}  {colour}{level}{name}{said}{_PLAIN if colour else ''}"


def _request_text(fields: Mapping[str, Any]) -> str:
    columns = ("method", "status", "ms", "rule", "cache", "request_id")
    rule = str(fields["rule"] or "no route")
    shown = (
        f"{fields['method']:<7} {fields['status']} {fields.get('ms', 0.0):>8.1f} ms  "
        f"{rule:<{_RULE_WIDTH}}"
    )
    known = [fields[name] for name in ("request_id", "cache") if name in fields]
    others = [_pair(item) for item in fields.items() if item[0] not in columns]
    return "  ".join((shown, *known, *others)).rstrip()


def _pair(item: tuple[str, Any]) -> str:
    name, value = item
    return f"{name}={value}"
