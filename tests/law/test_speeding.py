"""Speeds are compared with the range of their code (art. 218 of the CTB)."""

from decimal import Decimal

import pytest

from portal.law.infractions import find
from portal.law.speeding import excess_of, is_speeding, range_note
from portal.vehicle.field import EMPTY, HIDDEN
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
    note = range_note(find(code), excess_of(known(limit), known(considered)))
    assert (f"o código seria {named}" in note) if named else note == ""


def test_speed_within_the_limit_is_flagged() -> None:
    assert "não passa do limite" in range_note(find("7455"), excess_of(known("80"), known("80")))


def test_unreadable_speed_decides_nothing() -> None:
    """The excess is unknown if the limit or the considered speed is unreadable."""
    assert excess_of(known("80"), EMPTY) is None
    assert range_note(find("7455"), None) == ""
    assert excess_of(HIDDEN, known("88")) is None
    assert excess_of(known("80"), known("x")) is None


def test_excess_and_spellings() -> None:
    for limit, considered in (("080", "88,0"), ("80 km/h", "88 KM/H")):
        assert excess_of(known(limit), known(considered)) == Decimal("0.1")


def test_other_codes_are_not_speeds() -> None:
    assert is_speeding("7463") and not is_speeding("6831")
    assert range_note(find("6831"), excess_of(known("10"), known("90"))) == ""
    assert range_note(None, excess_of(known("10"), known("90"))) == ""
