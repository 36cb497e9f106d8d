"""The extent of the fuzz and fault tests: short, or complete with FUZZ=full."""

import os

FULL = os.environ.get("FUZZ") == "full"


def cases(short: int, full: int) -> int:
    return full if FULL else short


def seconds(short: float, full: float) -> float:
    """Return the duration of a test that is limited by time, not by a number of cases."""
    return full if FULL else short
