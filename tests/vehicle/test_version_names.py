"""The names of versions, in words."""

import pytest

from portal.vehicle.version_names import version_name


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("SED.1.8/1.8 Ambit.16V TB FSI S-Tronic", "Sedan 1.8 Ambition 16V TB FSI S-Tronic"),
        ("LTZ 2.8 TDI 4X4 CD Dies. AUT.", "LTZ 2.8 TDI 4X4 cabine dupla Diesel automático"),
        ("Sportback 1.4 TFSI S-Tronic", "Sportback 1.4 TFSI S-Tronic"),
        ("1.6/1.8 Mi", "1.6/1.8 Mi"),
        ("Versão 2", "Versão 2"),
        ("", ""),
    ],
)
def test_abbreviations_of_the_table_are_written_out(sent: str, shown: str) -> None:
    assert version_name(sent) == shown
    assert version_name(shown) == shown
