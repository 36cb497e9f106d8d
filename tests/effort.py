"""The extent of the tests: make test, make test-long, or complete with FUZZ=full.

``calls`` measures the effort of the portal itself, which is the same in each run.
"""

import os
import sys
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest.mark import ParameterSet

PORTAL = str(Path(__file__).parents[1] / "portal")
FULL = os.environ.get("FUZZ") == "full"


def long(*values: object) -> list[ParameterSet]:
    """Return the values of a parameter, or of several, that make test leaves to make test-long."""
    tuples = [each if isinstance(each, tuple) else (each,) for each in values]
    return [pytest.param(*each, marks=pytest.mark.long) for each in tuples]


def covering(values: Iterable[Any], parts: Callable[[Any], Iterable[Hashable]]) -> list[Any]:
    """Return all values of a parameter. Those with parts of earlier ones alone are ``long``.

    A part is what a test tries with a value, so that ``make test`` tries each part once.
    """
    seen: set[Hashable] = set()
    found: list[Any] = []
    for value in values:
        new = {*parts(value)} - seen
        seen |= new
        found += [value] if new else long(value)
    return found


def cases(short: int, full: int) -> int:
    return full if FULL else short


def seconds(short: float, full: float) -> float:
    """Return the duration of a test that is limited by time, not by a number of cases."""
    return full if FULL else short


def calls(work: Callable[[], Any], inside: str = PORTAL) -> list[str]:
    """Return the file of each Python call of this thread while ``work`` runs.

    Calls in other files than those below ``inside`` are left out.
    """
    files = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(inside):
            files.append(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files
