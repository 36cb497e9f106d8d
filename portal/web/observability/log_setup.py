"""Sets up a process's logging: warnings and errors go to stderr, other records to stdout."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Literal, TextIO

from portal.web.observability.json_logs import JSONLines
from portal.web.observability.redaction import Redactor
from portal.web.observability.text_logs import TextLines, is_coloured

LogFormat = Literal["json", "text"]


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
    formatter: logging.Formatter = JSONLines(redact)
    if log_format == "text":
        formatter = TextLines(redact, is_coloured(stream, os.environ))
    handler.setFormatter(formatter)
    return handler
