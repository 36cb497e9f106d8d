"""Formats log records as JSON lines, and redacts secrets in them.

The portal itself logs no plates or tokens. The redaction is for the log lines of libraries and the
texts of exceptions.
"""

import base64
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import msgspec
from flask import g, has_request_context

from portal.wording import DASHES

HIDDEN: Final = "[hidden]"
# Attribute of a log record: a dict of further JSON members for the record's line.
FIELDS: Final = "fields"
# Attribute of a log record that stands for many lines: a sequence with a pair for each line. A pair
# has the line's time in epoch seconds, and the line's own JSON members as text from ``members()``.
BATCH: Final = "batch"

_PATTERNS: Final = (
    # The values of the query parameter ``at`` and of the headers for credentials and cookies.
    re.compile(r"(?i)\b(at(?:=|%3D))[^&\s\"'<>]+"),
    re.compile(r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(['\"]?\s*[:=,]\s*)[^\r\n]+"),
    # Issued tokens, digests and encrypted values: 40 or more base64url characters in a row.
    re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{40,}={0,2}"),
    # Plates, and Renavams (vehicle register numbers of 11 digits, some with a dash).
    re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3}(?:-|%2D)?[0-9][A-Za-z0-9][0-9]{2}(?![A-Za-z0-9])"),
    re.compile(rf"(?<![0-9])[0-9]{{10}}(?:[{DASHES}]|%2D|%E2%80%9[0134]|%E2%88%92)?[0-9](?![0-9])"),
)


_THOUSANDTHS: Final = tuple(f"{number:03}" for number in range(1000))
_encoder: Final = msgspec.json.Encoder()


class Redactor:
    """Hides ``secrets`` and all matches of _PATTERNS in log texts.

    Secrets of fewer than four characters are not hidden.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        encodings = {form for secret in secrets if len(secret) >= 4 for form in _encodings(secret)}
        # A regular expression takes the first alternative that matches. The longest secret comes
        # first, because a shorter secret may be its beginning.
        words = sorted(encodings, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, words)), re.I) if words else None

    def __call__(self, text: str) -> str:
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        credential, header, *rest = _PATTERNS
        text = credential.sub(rf"\1{HIDDEN}", text)
        text = header.sub(rf"\1\2{HIDDEN}", text)
        for pattern in rest:
            text = pattern.sub(HIDDEN, text)
        return text


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
    """Encode members as JSON without braces, to be inserted into many log lines."""
    return _encoder.encode(fields).decode()[1:-1]


def _batch_lines(common: str, batch: Sequence[tuple[float, str]]) -> str:
    """Return a line for each pair in ``batch``. ``common`` are the JSON members of every line."""
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


def _encodings(secret: str) -> set[str]:
    raw = secret.encode()
    encoded = (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode())
    return {secret, quote(secret, safe=""), *encoded, *(each.rstrip("=") for each in encoded)}
