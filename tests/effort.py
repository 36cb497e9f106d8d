"""The extent of the tests: make test, make test-long, or complete with FUZZ=full."""

import os

import pytest
from _pytest.mark import ParameterSet

FULL = os.environ.get("FUZZ") == "full"


def long(*values: object) -> list[ParameterSet]:
    """Return the values of a parameter, or of several, that make test leaves to make test-long."""
    tuples = [each if isinstance(each, tuple) else (each,) for each in values]
    return [pytest.param(*each, marks=pytest.mark.long) for each in tuples]


def cases(short: int, full: int) -> int:
    return full if FULL else short


def seconds(short: float, full: float) -> float:
    """Return the duration of a test that is limited by time, not by a number of cases."""
    return full if FULL else short
