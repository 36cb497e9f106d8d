"""Plates in both national formats, and Renavam numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.plate import InvalidSubject, Plate, Renavam, each_once, parse_subject


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ABC1234", "ABC1C34"),
        ("PZS3819", "PZS3I19"),
        ("AAA0000", "AAA0A00"),
        ("ZZZ9999", "ZZZ9J99"),
    ],
)
def test_old_and_mercosul_plates_are_twins(old: str, new: str) -> None:
    assert Plate.parse(old).twin == Plate.parse(new)
    assert Plate.parse(new).twin == Plate.parse(old)
    assert Plate.parse(new).names_same_vehicle(f" {old.lower()} ")


def test_two_formats_of_a_plate_are_one_vehicle() -> None:
    texts = ("ABC1234", "79831854647", "ABC1K34")
    found = [parse_subject(each) for each in (*texts, "ABC1C34", *texts)]
    assert tuple(one.text for one in each_once(found)) == texts


def test_fifth_letter_beyond_j_has_no_twin() -> None:
    assert Plate.parse("ABC1K34").twin is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "ABC123", "ABC12345", "AB1C234", "ABC--1234", "ABC 1234", "ABC1234\n", "ABC١234"),
        *("ßBC1234", "ÀBC1234", "ABCD234", "1234567890", "123456789012", "abc-1-234"),
        *("001234567-89", "0012345678--9", "0012345678-9\n"),
    ],
)
def test_invalid_subject_raises(text: str) -> None:
    with pytest.raises(InvalidSubject):
        parse_subject(text)


@given(st.from_regex(r"[A-Za-z]{3}-?[0-9][0-9A-Za-z][0-9]{2}", fullmatch=True))
def test_plate_ignores_case_and_hyphen(text: str) -> None:
    plate = Plate.parse(text)
    assert plate.text == text.replace("-", "").upper()
    assert Plate.parse(plate.display) == plate


@pytest.mark.parametrize("text", ["79831854647", "86769597308", "19525197703", "03607626105"])
def test_published_renavam_has_a_valid_check_digit(text: str) -> None:
    assert Renavam.parse(text).check_digit_holds


@pytest.mark.parametrize("text", ["12345678901", "19525227703", "12345678910"])
def test_renavam_with_wrong_check_digit_is_accepted(text: str) -> None:
    renavam = parse_subject(text)
    assert isinstance(renavam, Renavam)
    assert not renavam.check_digit_holds


@pytest.mark.parametrize(
    "text", ["0012345678-9", "0012345678–9", "0012345678\u20119", "'00123456789"]
)
def test_dash_and_apostrophe_are_no_part_of_a_renavam(text: str) -> None:
    assert parse_subject(text) == Renavam("00123456789")


def test_short_renavam_matches_the_zero_padded_one() -> None:
    assert Renavam("00123456789").names_same_vehicle("123456789")
    assert not Renavam("00123456789").names_same_vehicle("1234567890")


@pytest.mark.parametrize("text", ["N/A", "-", "0000000", "nada consta", "ABC1***", "", "ABC 1D 23"])
def test_text_without_plate_names_same_vehicle(text: str) -> None:
    assert Plate.parse("ABC1D23").names_same_vehicle(text)


@pytest.mark.parametrize("text", ["ZZZ9Z99", "zzz-9z99", "ZZZ 9Z99", "ZZZ9Z99/SP", "Z Z Z 9.Z99"])
def test_text_with_other_plate_names_another_vehicle(text: str) -> None:
    assert not Plate.parse("ABC1D23").names_same_vehicle(text)


@pytest.mark.parametrize("text", ["N/A", "0", "00000000000", "-"])
def test_text_without_renavam_names_same_vehicle(text: str) -> None:
    assert Renavam("00123456789").names_same_vehicle(text)
    assert not Renavam("00123456789").names_same_vehicle("RENAVAM 98765432100")
