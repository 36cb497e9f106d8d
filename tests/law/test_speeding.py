"""Speeds are compared with the range of their code (art. 218 of the CTB)."""

from decimal import Decimal

import pytest

from portal.law import find, is_speeding, speeds_of
from portal.vehicle import EMPTY, HIDDEN
from tests.law.records import known


@pytest.mark.parametrize(
    ("code", "limit", "considered", "named"),
    [
        ("7455", "80", "96", ""),
        ("7455", "80", "97", "746-3"),
        ("7463", "80", "120", ""),
        ("7463", "80", "121", "747-1"),
        ("7463", "80", "88", "745-5"),
        ("7471", "80", "121", ""),
        ("7471", "80", "90", "745-5"),
    ],
)
def test_code_outside_the_range_of_its_speeds_is_flagged(
    code: str, limit: str, considered: str, named: str
) -> None:
    note = speeds_of(find(code), known(limit), EMPTY, known(considered)).note
    assert (f"o código seria {named}" in note) if named else note == ""


def test_speed_within_the_limit_is_flagged() -> None:
    assert "não passa do limite" in speeds_of(find("7455"), known("80"), EMPTY, known("80")).note


def test_measured_speed_alone_decides_nothing() -> None:
    """Without the considered speed the tolerance of the meter is not known."""
    speeds = speeds_of(find("7455"), known("80"), known("130"), EMPTY)
    assert (speeds.over, speeds.note) == (None, "")
    assert speeds_of(find("7455"), HIDDEN, EMPTY, known("x")).over is None


def test_excess_and_spellings() -> None:
    speeds = speeds_of(find("7455"), known("080"), known("95 KM/H"), known("88,0"))
    assert (speeds.limit, speeds.measured, speeds.considered) == (80, 95, 88)
    assert speeds.over == Decimal("0.1")


def test_other_codes_are_not_speeds() -> None:
    assert is_speeding("7463") and not is_speeding("6831")
    assert speeds_of(find("6831"), known("10"), EMPTY, known("90")).note == ""
    assert speeds_of(None, known("10"), EMPTY, known("90")).note == ""
