"""The oracle finds the violations of a naive client, and none of a careful one."""

from dataclasses import replace

import pytest

from tests.hostile.streams.clients import CarefulClient, NaiveClient
from tests.hostile.streams.runner import play
from tests.hostile.streams.script import Case, End, Exchange, Expected, Pause, Script, Send
from tests.hostile.streams.tables import TABLES

pytestmark = pytest.mark.long  # tests of what the tests use


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        ("interim_responses", {"answer lost", "crossing"}),
        ("resets_after_every_byte", {"asked again", "booked free"}),
        ("closes_after_every_byte", {"wrong answer"}),
        ("bytes_behind", {"answer lost", "crossing"}),
        ("callers_at_once", {"answer lost"}),
        ("bodies", {"wrong answer"}),
    ],
)
def test_oracle_reports_violations_of_naive_client(table: str, kinds: set[str]) -> None:
    report = play(TABLES[table](), NaiveClient)
    assert kinds <= {kind for kind, _ in report.failures}


@pytest.mark.parametrize(
    "table",
    [
        "splits_at_every_byte",
        "resets_after_every_byte",
        "closes_after_every_byte",
        "interim_responses",
        "bytes_behind",
        "callers_at_once",
    ],
)
def test_oracle_passes_careful_client(table: str) -> None:
    assert not str(play(TABLES[table](), CarefulClient))


def test_upstream_that_is_late_itself_is_no_lost_answer() -> None:
    """Regression: a run on a starved machine reported an answer that was never sent whole."""
    head = Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
    expected = Expected("answer", 200, b"{}")
    late = Script("late", (head, Pause(1.0), Send(b"}")), End.KEEP, expected, deadline_s=0.2)
    lost = replace(late, name="lost", steps=(head,), end=End.HANG)  # the last byte is never sent
    cases = [Case(each.name, ((Exchange("000000.01", "GET", each),),)) for each in (late, lost)]
    assert [*play(cases, workers=1).failures] == [("answer lost", "lost")]
