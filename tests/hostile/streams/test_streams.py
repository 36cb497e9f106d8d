"""Any response stream yields the answer to the caller's own request, or an UpstreamError.

``STREAMS_SEED`` repeats a run of random streams. ``STREAMS_ONLY`` limits the run to one case, given
by its number.
"""

import logging
import os
import random
import sys
from collections.abc import Iterator

import pytest

from tests.effort import FULL, cases, long
from tests.hostile.streams import grammar
from tests.hostile.streams.runner import Report, play
from tests.hostile.streams.script import Case
from tests.hostile.streams.tables import TABLES

SEED = os.environ.get("STREAMS_SEED") or (str(random.randrange(10**6)) if FULL else "1")
ONLY = os.environ.get("STREAMS_ONLY")


@pytest.fixture(autouse=True)
def no_warnings_of_each_call(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "portal.upstream")


def expect_none(report: Report) -> None:
    if failures := str(report):
        pytest.fail(f"STREAMS_SEED={SEED}, {report.total} streams\n{failures}", pytrace=False)


@pytest.mark.upstream
@pytest.mark.parametrize("table", TABLES)
def test_table_of_streams_breaks_no_rule(table: str) -> None:
    expect_none(play(TABLES[table]()))


@pytest.mark.upstream
@pytest.mark.parametrize("streams", [100, *long(cases(1_100, 100_000))])
def test_random_streams_break_no_rule(capsys: pytest.CaptureFixture[str], streams: int) -> None:
    report = play(generated(streams))
    if FULL:
        with capsys.disabled():
            sys.stdout.write(f"\nSTREAMS_SEED={SEED}\n{report.classes()}\n")
    expect_none(report)


def generated(streams: int) -> Iterator[Case]:
    """Yield cases with at least ``streams`` streams in total."""
    if ONLY:
        yield grammar.case(SEED, int(ONLY))
        return
    number = 0
    while streams > 0:
        case = grammar.case(SEED, number)
        yield case
        number, streams = number + 1, streams - case.streams


def test_streams_number_at_least_3000() -> None:
    of_tables = sum(case.streams for table in TABLES.values() for case in table())
    assert of_tables + cases(1_100, 100_000) >= cases(3_000, 100_000)
