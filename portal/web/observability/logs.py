"""Logs as JSON lines: warnings to standard error, the rest to standard output, secrets nowhere.

Nothing in the portal logs a plate or a token on purpose. What stands here is the net below: a
library's own line, or an exception's text, passes the root handler like everything else.
"""

import base64
import logging
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import msgspec
from flask import g, has_request_context

HIDDEN: Final = "[hidden]"
FIELDS: Final = "fields"  # the record attribute that holds a line's own members
BATCH: Final = "batch"  # or those of many lines as ``members`` spells them, each with its time

_PATTERNS: Final = (
    # A credential behind its name, whatever stands around the name.
    re.compile(r"(?i)\b(at(?:=|%3D))[^&\s\"'<>]+"),
    re.compile(r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(['\"]?\s*[:=,]\s*)[^\r\n]+"),
    # Issued tokens, digests, sealed values: long runs that are no word.
    re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{40,}={0,2}"),
    # Plates and Renavams.
    re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3}(?:-|%2D)?[0-9][A-Za-z0-9][0-9]{2}(?![A-Za-z0-9])"),
    re.compile(r"(?<![0-9])[0-9]{11}(?![0-9])"),
)


_THOUSANDTHS: Final = tuple(f"{number:03}" for number in range(1000))
_encoder: Final = msgspec.json.Encoder()


class Redactor:
    """Knows the operator's secrets by heart and everybody's by their form."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {form for secret in secrets if len(secret) >= 4 for form in _spellings(secret)}
        # The longest first: one secret may begin with another.
        words = sorted(spellings, key=len, reverse=True)
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
    """One record, one line; a request's id where there is a request."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        message = self._redact(record.getMessage())
        batch: Sequence[tuple[float, str]] | None = getattr(record, BATCH, None)
        if batch is not None:
            return _lines(members(_line(record, message)), batch)
        line = {"time": _instant(record.created), **_line(record, message)}
        if has_request_context() and "request_id" in g:
            line["request_id"] = g.request_id
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["exception"] = self._redact(self.formatException(record.exc_info))
        return _encoder.encode(line).decode()


def members(fields: Mapping[str, object]) -> str:
    """A JSON object's inside, so that what many lines have in common is spelt once."""
    return _encoder.encode(fields).decode()[1:-1]


def _lines(common: str, batch: Sequence[tuple[float, str]]) -> str:
    """A line for each of a batch: the epoch seconds it tells of, and its own members."""
    starts: dict[int, str] = {}  # by the second
    middle = f'+00:00",{common},'
    lines = []
    for at, own in batch:
        second = int(at)
        if second not in starts:
            starts[second] = f'{{"time":"{_second(second)}.'
        lines.append(f"{starts[second]}{_THOUSANDTHS[int((at - second) * 1000)]}{middle}{own}}}")
    return "\n".join(lines)


def _line(record: logging.LogRecord, message: str) -> dict[str, Any]:
    return {"level": record.levelname.lower(), "logger": record.name, "message": message}


def _instant(at: float) -> str:
    second = int(at)
    return f"{_second(second)}.{_THOUSANDTHS[int((at - second) * 1000)]}+00:00"


def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def set_up_logging(secrets: Sequence[str] = ()) -> None:
    """Make every logger of this process, the server's included, write through the root."""
    formatter = JSONLines(Redactor(secrets))
    calm = logging.StreamHandler(sys.stdout)
    calm.addFilter(lambda record: record.levelno < logging.WARNING)
    loud = logging.StreamHandler(sys.stderr)
    loud.setLevel(logging.WARNING)
    for handler in (calm, loud):
        handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [calm, loud]
    root.setLevel(logging.INFO)
    for name in ("_granian", "granian.access"):
        server = logging.getLogger(name)
        server.handlers.clear()
        server.propagate = True


def _spellings(secret: str) -> set[str]:
    """A secret as it stands, in an address, and in base64."""
    raw = secret.encode()
    encoded = (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode())
    return {secret, quote(secret, safe=""), *encoded, *(each.rstrip("=") for each in encoded)}
