"""A test that is not marked cannot start what ``make test-fast`` leaves out."""

from contextlib import closing

import pytest

from tests.fakes import FaultUpstream
from tests.fakes.processes import ServerProcess


def test_unmarked_test_starts_no_process() -> None:
    with (
        closing(ServerProcess(["true"])) as server,
        pytest.raises(AssertionError, match=r"mark it with @pytest\.mark\.slow"),
    ):
        server.start()


def test_unmarked_test_starts_no_upstream() -> None:
    with pytest.raises(AssertionError, match=r"mark it with @pytest\.mark\.upstream"):
        FaultUpstream().start()
