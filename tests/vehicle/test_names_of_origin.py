"""A make that is only the mark of an import or a trailer leaves the make to the description."""

import pytest

from portal.vehicle.decode import read_decode
from portal.vehicle.makes import vehicle_name


@pytest.mark.parametrize(
    ("make", "description", "name"),
    [
        ("I", "BMW X1 S20I", "BMW X1 S20I"),
        ("IMP.", "BMW X1 S20I", "BMW X1 S20I"),
        ("SR", "RANDON SR CA", "Randon SR CA"),
        ("BMW", "BMW X1 S20I", "BMW X1 S20I"),
        ("MARCA NOVA", "MODELO", "Marca Nova Modelo"),
    ],
)
def test_mark_of_origin_is_no_make(make: str, description: str, name: str) -> None:
    decoded = read_decode({"marca": make, "descricao": description}, "")
    assert str(vehicle_name(decoded)) == name
