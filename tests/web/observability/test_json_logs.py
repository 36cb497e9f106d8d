"""JSON log lines name a request by its route rule and contain no plates or tokens."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from portal.web.observability.logs import JSONLines
from portal.web.observability.redaction import Redactor
from portal.web.observability.request_log import Hit, HitLabels, request_fields
from tests.conftest import PortalFactory
from tests.fakes import wait_until
from tests.fakes.in_process import OPERATOR_TOKEN, PORTAL_TOKEN
from tests.fakes.processes import PortalProcess
from tests.web.json_paths import PLATE, QUESTIONS, ask

pytestmark = pytest.mark.long


@contextmanager
def lines_of(name: str = "") -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Collect a logger's lines; the yielded function returns them parsed as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONLines(Redactor((PORTAL_TOKEN, OPERATOR_TOKEN))))
    logger = logging.getLogger(name)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_request_logs_one_line_with_rule_and_id(portal: PortalFactory) -> None:
    here = portal()
    with lines_of("portal.requests") as lines:
        answers = [ask(here, each, headers={"Authorization": PORTAL_TOKEN}) for each in QUESTIONS]
        answers.append(here.client.get(f"/placa/{PLATE}"))
        answers.append(here.client.open(f"/nada/{PLATE}?at={PORTAL_TOKEN}", method=PLATE))
    written = lines()
    assert [line["request_id"] for line in written] == [
        answer.headers["X-Request-Id"] for answer in answers
    ]
    assert written[0]["rule"] == "/detran/v1/decode/<plate>"
    assert written[0]["status"] == 200
    assert written[0]["cache"] == "fwd=miss; stored"
    assert written[0]["ms"] >= 0
    assert written[-1]["rule"] is None
    assert written[-1]["method"] == "other"
    text = json.dumps(written)
    assert PLATE not in text
    assert PORTAL_TOKEN not in text


def test_exception_texts_and_library_lines_are_redacted() -> None:
    with lines_of() as lines:
        logging.getLogger("urllib3.connectionpool").warning(
            'http://x "GET /decode/%s?at=%s HTTP/1.1" 200', PLATE, "abc"
        )
        try:
            raise ValueError(f"{PLATE} {PORTAL_TOKEN}")
        except ValueError:
            logging.getLogger("any").exception("failed for %s", PLATE)
    first, second = lines()
    assert "at=[hidden]" in first["message"]
    assert "ValueError" in second["exception"]
    assert PLATE not in json.dumps([first, second])
    assert PORTAL_TOKEN not in json.dumps([first, second])


@pytest.mark.slow
def test_server_writes_only_json_lines_after_its_banner() -> None:
    with PortalProcess() as server:
        path = f"/detran/v1/decode/{PLATE}?at=demo"
        request_id = server.get(path).headers["X-Request-Id"]
        server.kill_worker()
        wait_until(lambda: "_granian" in server.output, "a log line from Granian")
        server.stop()
        written = server.output.splitlines()
    head, *lines = written
    assert head.startswith("Dossiê Veicular em http://127.0.0.1:")
    parsed = [json.loads(line) for line in lines]
    (line,) = [each for each in parsed if each.get("request_id") == request_id]
    assert line["rule"] == "/detran/v1/decode/<plate>"
    assert any(each["logger"] == "_granian" for each in parsed)
    assert PLATE not in "".join(written)


def test_hit_is_logged_with_its_request_id(portal: PortalFactory) -> None:
    here = portal()
    with lines_of("portal.requests") as lines:
        answers = [
            ask(here, QUESTIONS[0], headers={"Authorization": PORTAL_TOKEN}) for _ in range(3)
        ]
        here.parts.scheduler.run_all()  # hits are written in batches
    written = lines()
    assert [line["request_id"] for line in written] == [
        answer.headers["X-Request-Id"] for answer in answers
    ]
    assert {line["rule"] for line in written} == {"/detran/v1/decode/<plate>"}


@pytest.mark.parametrize("at", [0.0, 1.001, 59.999, 1_700_000_000.0, 1_700_000_000.9999998])
@pytest.mark.parametrize("seconds", [0.0, 0.00004, 0.00006, 0.0123, 7.0])
def test_batched_hit_lines_match_the_formatter(at: float, seconds: float) -> None:
    labels = HitLabels.of("decode", "GET", "/rule/<plate>", "ana", "portal; hit; ttl=7")
    hits = [Hit(at, seconds, "0" * 16, labels), Hit(at + 1, seconds, "1" * 16, labels)]
    fields = request_fields("GET", "/rule/<plate>", 200, "portal; hit; ttl=7")
    formatter = JSONLines(Redactor())
    expected = []
    for hit in hits:
        line = record("request", created=hit.at)
        line.fields = {"request_id": hit.request_id, **fields, "ms": round(seconds * 1000, 1)}
        expected.append(formatter.format(line))
    batch = record("request", created=5.0)
    batch.batch = [(hit.at, hit.line()) for hit in hits]
    assert formatter.format(batch).split("\n") == expected
    second = datetime.fromtimestamp(int(at), UTC)
    logged_time = datetime.fromisoformat(json.loads(expected[0])["time"])
    assert 0 <= at - logged_time.timestamp() < 0.001001
    assert logged_time.replace(microsecond=0) == second


def record(message: str, created: float) -> Any:
    made = logging.LogRecord("portal.requests", logging.INFO, "", 0, message, None, None)
    made.created = created
    return made
