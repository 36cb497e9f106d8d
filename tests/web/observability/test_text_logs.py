"""LOG_FORMAT=text writes one readable line for each event of the JSON logs."""

import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from portal.web.observability.logs import JSONLines, TextLines, is_coloured
from portal.web.observability.redaction import Redactor
from tests.conftest import PortalFactory
from tests.fakes import wait_until
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN
from tests.fakes.processes import PortalProcess
from tests.web.json_paths import PLATE, QUESTIONS, ask

ESCAPE = "\x1b"
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  (INFO|WARNING|ERROR) +[\w.]+ +\S")


def formatted(record: logging.LogRecord, *, coloured: bool = False) -> str:
    return TextLines(Redactor((PORTAL_TOKEN, OPERATOR_TOKEN)), coloured).format(record)


def record(message: str, *arguments: object, level: int = logging.INFO, **fields: Any) -> Any:
    made = logging.LogRecord("portal.any", level, "", 0, message, arguments, None)
    made.created = 1_790_000_000.25
    if fields:
        made.fields = fields
    return made


@contextmanager
def both_formats() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Collect what the root logger writes in the two formats."""
    redact = Redactor((PORTAL_TOKEN, OPERATOR_TOKEN))
    streams = io.StringIO(), io.StringIO()
    handlers = [logging.StreamHandler(stream) for stream in streams]
    root, requests = logging.getLogger(), logging.getLogger("portal.requests")
    for handler, formatter in zip(handlers, (JSONLines(redact), TextLines(redact)), strict=True):
        handler.setFormatter(formatter)
        root.addHandler(handler)
    level, requests.level = requests.level, logging.INFO
    try:
        yield streams
    finally:
        requests.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)


def test_requests_and_hits_are_the_same_events_in_both_formats(portal: PortalFactory) -> None:
    here = portal()
    with both_formats() as (as_json, as_text):
        for _ in range(3):  # the second and third request are hits, logged in a batch
            ask(here, QUESTIONS[0], headers={"Authorization": PORTAL_TOKEN})
        here.client.get(f"/placa/{PLATE}")
        here.client.get(f"/nada/{PLATE}?at={PORTAL_TOKEN}")
        here.parts.scheduler.run_all()
    events = [json.loads(line) for line in as_json.getvalue().splitlines()]
    lines = as_text.getvalue().splitlines()
    assert len(events) == len(lines) >= 5
    for event, line in zip(events, lines, strict=True):
        assert LINE.match(line)
        for name in ("request_id", "method", "status", "cache", "logger"):
            assert str(event.get(name, "")) in line
        assert str(event["rule"] or "no route") in line
    assert PLATE not in as_text.getvalue()
    assert PORTAL_TOKEN not in as_text.getvalue()
    assert (
        len({line.index(event["method"]) for event, line in zip(events, lines, strict=True)}) == 1
    )


def test_other_lines_show_their_fields() -> None:
    line = formatted(record("a call failed", base="primary", outcome="timed_out"))
    assert line.endswith("portal.any             a call failed  base=primary  outcome=timed_out")
    assert line.startswith("2026-09-21 11:13:20.250  INFO     ")


def test_exception_is_indented_and_redacted() -> None:
    made = record("failed for %s", PLATE, level=logging.ERROR)
    try:
        raise ValueError(f"{PLATE} {PORTAL_TOKEN}\nERROR forged\x1b[2J")
    except ValueError:
        made.exc_info = sys.exc_info()
    first, *rest = formatted(made).split("\n")
    assert "failed for [hidden]" in first
    assert any("ValueError" in line for line in rest)
    assert all(line.startswith("    ") for line in rest)
    assert not {PLATE, PORTAL_TOKEN, ESCAPE} & set(re.split(r"\s", "\n".join(rest)))
    assert ESCAPE not in "\n".join(rest)


@pytest.mark.parametrize("character", ["\n", "\r", ESCAPE, "\x9b", "\u2028", "\0"])
def test_message_stays_on_one_line_and_commands_no_terminal(character: str) -> None:
    line = formatted(record("before%safter", character))
    assert character not in line
    assert "before\\" in line
    assert len(line.splitlines()) == 1


def test_colours_follow_level_and_status() -> None:
    def colours(made: Any) -> list[str]:
        return re.findall(r"\x1b\[(\d+)m", formatted(made, coloured=True))

    assert colours(record("fine")) == ["2", "0"]
    assert colours(record("odd", level=logging.WARNING)) == ["2", "0", "33", "0"]
    assert colours(record("bad", level=logging.ERROR)) == ["2", "0", "31", "0"]
    request: dict[str, Any] = {"method": "GET", "rule": "/", "ms": 1.0}
    assert colours(record("request", **request, status=404)) == ["2", "0", "33", "0"]
    assert colours(record("request", **request, status=503)) == ["2", "0", "31", "0"]
    assert ESCAPE not in formatted(record("fine"))


def test_only_a_terminal_gets_colours() -> None:
    other_end, terminal = os.openpty()
    with os.fdopen(other_end), os.fdopen(terminal, "w") as stream:
        assert is_coloured(stream, {})
        assert not is_coloured(stream, {"NO_COLOR": "1"})
        assert not is_coloured(stream, {"TERM": "dumb"})
    assert not is_coloured(io.StringIO(), {})


@pytest.mark.slow
def test_server_writes_only_text_lines_after_its_banner() -> None:
    with PortalProcess({"PORTAL_LOG_FORMAT": "text"}) as server:
        path = f"/detran/v1/decode/{PLATE}?at=demo"
        request_id = server.get(path).headers["X-Request-Id"]
        server.kill_worker()
        wait_until(lambda: "_granian" in server.output, "a log line from Granian")
        server.stop()
        written = server.output
    head, *lines = written.splitlines()
    assert head.startswith("Dossiê Veicular em http://127.0.0.1:")
    assert all(LINE.match(line) for line in lines)
    (line,) = [each for each in lines if request_id in each]
    assert "GET     200" in line
    assert "/detran/v1/decode/<plate>" in line
    assert PLATE not in written
    assert ESCAPE not in written
