"""Speeds are compared with the range of their code (art. 218 of the CTB)."""

from decimal import Decimal
from typing import Any

import pytest

from portal.law.infractions import find
from portal.law.speeding import (
    SpeedConflict,
    excess_of,
    is_speeding,
    range_conflict,
    tolerance_conflict,
)
from portal.vehicle.field import EMPTY, HIDDEN
from tests.law.records import known


@pytest.mark.parametrize(
    ("code", "limit", "considered", "named"),
    [
        ("7455", "80", "96", ""),
        ("7455", "80", "97", "7463"),
        ("7463", "80", "120", ""),
        ("7463", "80", "121", "7471"),
        ("7463", "80", "88", "7455"),
        ("7471", "80", "121", ""),
        ("7471", "80", "90", "7455"),
    ],
)
def test_code_outside_the_range_of_its_speeds_is_flagged(
    code: str, limit: str, considered: str, named: str
) -> None:
    found = range_conflict(find(code), excess_of(known(limit), known(considered)))
    assert found == (SpeedConflict("other_range", fitting=named) if named else None)


def test_speed_within_the_limit_is_flagged() -> None:
    for considered in ("80", "79"):
        over = excess_of(known("80"), known(considered))
        assert range_conflict(find("7455"), over) == SpeedConflict("within_limit")


@pytest.mark.parametrize(
    ("limit", "measured", "considered", "code", "fair"),
    [
        ("80", "95", "88", "", 0),
        ("80", "95", "87", "", 0),
        ("80", "95", "89", "above_fair", 88),
        ("80", "95", "95", "above_fair", 88),
        ("80", "100", "93", "", 0),
        ("80", "100", "94", "above_fair", 93),
        # Above 100 km/h, a difference of 1 km/h may come from rounding.
        ("80", "110", "103", "", 0),
        ("80", "110", "104", "above_fair", 102),
        ("110", "117", "110", "", 0),
        ("110", "117", "111", "fair_within_limit", 109),
        ("60", "66", "63", "fair_within_limit", 59),
        ("60", "70", "65", "above_fair", 63),
        ("100", "107", "102", "fair_within_limit", 100),
        ("100", "120", "113", "", 0),
        ("100", "120", "115", "above_fair", 112),
        ("80", "87", "81", "fair_within_limit", 80),
        ("80", "88", "82", "above_fair", 81),
        ("30", "5", "5", "fair_within_limit", 0),
        ("", "95", "95", "above_fair", 88),
        ("80", "95", "96", "above_measured", 0),
        ("80", "", "96", "", 0),
        ("80", "95", "", "", 0),
    ],
)
def test_considered_speed_is_the_measured_one_less_the_tolerance(
    limit: str, measured: str, considered: str, code: Any, fair: int
) -> None:
    found = tolerance_conflict(known(limit), known(measured), known(considered))
    assert found == (SpeedConflict(code, fair=fair) if code else None)


def test_unreadable_speed_decides_nothing() -> None:
    """The excess is unknown if the limit or the considered speed is unreadable."""
    assert excess_of(known("80"), EMPTY) is None
    assert range_conflict(find("7455"), None) is None
    assert excess_of(HIDDEN, known("88")) is None
    assert excess_of(known("80"), known("x")) is None


def test_excess_and_spellings() -> None:
    for limit, considered in (("080", "88,0"), ("80 km/h", "88 KM/H")):
        assert excess_of(known(limit), known(considered)) == Decimal("0.1")


def test_other_codes_are_not_speeds() -> None:
    assert is_speeding("7463") and not is_speeding("6831")
    assert range_conflict(find("6831"), excess_of(known("10"), known("90"))) is None
    assert range_conflict(None, excess_of(known("10"), known("90"))) is None
