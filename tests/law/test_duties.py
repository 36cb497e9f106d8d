"""The duties of a vehicle's kind follow from its type, its fuel and its use."""

import pytest

from portal.law.duties import duties_of
from portal.vehicle.decode import read_decode
from tests.factories import HIDDEN, decoded


@pytest.mark.parametrize(
    ("vehicle", "duties"),
    [
        ({"tipoVeiculo": "Automóvel"}, []),
        ({"tipoVeiculo": "MOTOCICLETA"}, ["motorcycle"]),
        ({"tipoVeiculo": "MOTONETA"}, ["motorcycle"]),
        ({"tipoVeiculo": "CICLOMOTOR"}, ["moped"]),
        ({"tipoVeiculo": "CAMINHAO TRATOR"}, ["truck"]),
        ({"tipoVeiculo": "CAMINHONETE"}, []),
        ({"tipoVeiculo": "SEMI-REBOQUE"}, ["trailer"]),
        ({"tipoVeiculo": "MICRO-ONIBUS", "combustivel": "DIESEL"}, ["bus"]),
        ({"combustivel": "GASOLINA/GNV"}, ["gas"]),
        ({"combustivel": "GASOLINA"}, []),
        (
            {"tipoVeiculo": "AUTOMOVEL ALUGUEL", "combustivel": "ALCOOL/GAS NATURAL"},
            ["gas", "hired"],
        ),
        ({"tipoVeiculo": ""}, []),
    ],
)
def test_duties_follow_from_kind_and_fuel(vehicle: dict[str, str], duties: list[str]) -> None:
    read = read_decode(decoded("ABC1D23", **vehicle), HIDDEN)
    assert list(duties_of(read)) == duties
