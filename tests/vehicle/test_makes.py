"""Conversion of registration spellings to display names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.decode import Decoded, read_decode
from portal.vehicle.makes import read_name, vehicle_name


def decoded(**fields: str) -> Decoded:
    return read_decode(fields, "INFORMACAO OCULTADA")


@pytest.mark.parametrize(
    ("text", "make", "model"),
    [
        ("I/AUDI A3", "Audi", "A3"),
        ("IMP/BMW X1", "BMW", "X1"),
        ("VW/GOL 1.0", "Volkswagen", "Gol 1.0"),
        ("HONDA/CG 160 FAN", "Honda", "CG 160 Fan"),
        ("SR/RANDON SR CA", "Randon", "SR CA"),
        ("HYU/HB20S 1.0M COMFORT", "Hyundai", "HB20S 1.0M Comfort"),
        ("LAND ROVER DISCOVERY", "Land Rover", "Discovery"),
        ("CITROËN C3", "Citroën", "C3"),
        ("GM - Chevrolet", "Chevrolet", ""),
        ("VW - VolksWagen", "Volkswagen", ""),
        ("VW - VolksWagen GOL 1.0", "Volkswagen", "Gol 1.0"),
        ("LAND ROVER - Land Rover DISCOVERY", "Land Rover", "Discovery"),
        ("vw/gol 1.0", "Volkswagen", "Gol 1.0"),
        ("i/audi a3 lm", "Audi", "A3 LM"),
        ("I/HAVAL H6 GT", "GWM", "H6 GT"),
        ("JEEP RENEGADE LNGTD T270", "Jeep", "Renegade LNGTD T270"),
        ("RE NOVA", "", "RE Nova"),
        ("", "", ""),
    ],
)
def test_registration_text_is_split_into_make_and_model(text: str, make: str, model: str) -> None:
    name = read_name(text)
    assert (name.make, name.model) == (make, model)


@pytest.mark.parametrize(
    ("make", "description", "shown"),
    [
        ("AUDI", "A3 LM 180CV", "Audi A3 LM 180CV"),
        ("AUDI", "I/AUDI A3", "Audi A3"),
        ("VW", "VW/T-CROSS HL TSI", "Volkswagen T-Cross HL TSI"),
        ("", "VW/GOL 1.0", "Volkswagen Gol 1.0"),
        ("ACME", "ACME ROADSTER", "Acme Roadster"),
        ("ACME", "ACME/ROADSTER 2.0", "Acme Roadster 2.0"),
        ("ACME", "ACME", "Acme"),
        ("FIAT", "", "Fiat"),
        ("", "", ""),
        ("Toyota", "Corolla XEi 2.0", "Toyota Corolla XEi 2.0"),
    ],
)
def test_vehicle_name_is_the_display_name(make: str, description: str, shown: str) -> None:
    assert str(vehicle_name(decoded(marca=make, descricao=description))) == shown


@given(st.text(max_size=40), st.text(max_size=40))
def test_vehicle_name_never_raises(make: str, description: str) -> None:
    str(vehicle_name(decoded(marca=make, descricao=description)))
