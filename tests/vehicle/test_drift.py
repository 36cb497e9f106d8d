"""Drift detection reports unexpected field names, but none that may be data."""

import pytest

from portal.vehicle.drift import unexpected, unexpected_members


@pytest.mark.parametrize("name", ["ABC1D23", "abc1d23", "JOAO", "12345678910", "a b", "x" * 60, ""])
def test_field_name_that_could_be_data_is_not_repeated(name: str) -> None:
    found = unexpected("decode", {name: 1})
    assert "?" in found
    assert not name or not any(name in path for path in found)


def test_new_field_is_reported() -> None:
    assert "novoCampo" in unexpected("decode", {"novoCampo": 1})


def test_new_top_level_member_is_reported_with_a_prefix() -> None:
    document = {"status": "DONE", "result": {}, "message": "x", "ABC1D23": 1}
    assert unexpected_members(document) == {"$.message", "$.?"}


def test_number_of_reported_top_level_members_is_limited() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [first + second for first in letters for second in letters]
    assert len(unexpected_members(dict.fromkeys(names, 1))) == 64
