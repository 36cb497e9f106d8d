"""Formats log lines for people: aligned, in São Paulo's time, coloured on a terminal.

The lines report the same events as ``json_logs.JSONLines``, with the same redaction.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

import msgspec

from portal.system.local_time import from_epoch
from portal.web.observability.json_logs import BATCH, line_fields
from portal.web.observability.redaction import Redactor

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
            line += "".join(f"\n{_INDENT}{each}" for each in trace.split("\n"))
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
