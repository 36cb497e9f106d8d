"""The oracle finds the violations of a naive client, and none of a careful one."""

import pytest

from tests.hostile.streams.clients import CarefulClient, NaiveClient
from tests.hostile.streams.runner import play
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
