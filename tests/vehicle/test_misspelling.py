"""The plate or Renavam that a mistyped text probably means."""

import pytest

from portal.vehicle import Plate, Renavam, probable_subject


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AB01D23", Plate("ABO1D23")),
        ("a8c-1d23", Plate("ABC1D23")),
        ("5BCID2O", Plate("SBC1D20")),
        ("7983I854647", Renavam("79831854647")),
        ("79831854O4\u200b7", Renavam("79831854047")),
        ("Renavam n\u00ba 798.318.546", Renavam("00798318546")),
        ("0798318546", Renavam("00798318546")),
    ],
)
def test_probable_subject(typed: str, meant: Plate | Renavam) -> None:
    assert probable_subject(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        *("", "ABC12", "ABC1D23", "abc-1d23", "ABCD123", "ABCDEFG"),
        *("12345678", "12345678910", "000000000", "OOOOOOOOOOO"),
        *("\u00c1B01D23", "\u0130B01D23", "\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669"),
    ],
)
def test_no_probable_subject(typed: str) -> None:
    assert probable_subject(typed) is None
