"""One vehicle of a long list stands in one batch, which asks it once."""

import pytest
from dossie_veicular_client.lists import grouped, sizes_of, vehicle_key


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("ABC1234", "ABC1C34", True),
        ("abc-1234", "ABC 1C34", True),
        ("ABC1D23", "ABC1323", True),
        ("ABC1D23", "ABC1D23", True),
        ("ABC1234", "ABC1D34", False),
        ("ABC1K34", "ABC1034", False),
        ("79831854647", "7983185464-7", True),
    ],
)
def test_forms_of_a_plate_are_one_vehicle(one: str, other: str, is_same: bool) -> None:
    assert (vehicle_key(one) == vehicle_key(other)) == is_same


def test_entries_of_a_vehicle_stand_together() -> None:
    listed = ["ABC1234", "XYZ1D23", "KKK1A11", "ABC1C34"]
    assert grouped(listed) == [["ABC1234", "ABC1C34"], ["XYZ1D23"], ["KKK1A11"]]


@pytest.mark.parametrize(
    ("groups", "sizes"),
    [
        ([1, 1, 1], [2, 1]),
        ([1, 2, 1], [1, 2, 1]),
        ([2, 2], [2, 2]),
        ([1], [1]),
        # A group that no batch can hold is parted.
        ([1, 5, 1], [1, 2, 2, 2]),
    ],
)
def test_no_batch_parts_a_vehicle(groups: list[int], sizes: list[int]) -> None:
    found = sizes_of([["ABC1D23"] * size for size in groups], 2)
    assert found == sizes
    assert sum(found) == sum(groups)
