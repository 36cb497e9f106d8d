"""Page and paper warn of a record with another vehicle, code or speed."""

import pytest

from tests.factories import Record, fine, renainf_body, renajud_body, restriction
from tests.presentation.rendering import panels
from tests.presentation.test_every_field import shown_on


def shown(medium: str, *, record: Record | None = None, order: Record | None = None) -> str:
    answers = panels(
        renainf=renainf_body(record or fine()), renajud=renajud_body(order or restriction())
    )
    return shown_on(medium, answers)


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_other_vehicle_in_a_fine(medium: str) -> None:
    text = shown(medium, record=fine(marcaModelo="VW/GOL 1.0"))
    assert "descreve outro veículo (VW/GOL 1.0): erro de cadastro ou placa clonada?" in text
    assert "descreve outro veículo" not in shown(medium)


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_other_vehicle_in_a_court_record(medium: str) -> None:
    order = restriction(placa="XYZ9A99", marcaModelo="VW/GOL", anoModelo="2003")
    text = shown(medium, order=order)
    assert "descreve outro veículo (XYZ9A99 VW/GOL ano-modelo 2003)" in text


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_speeds_of_another_code(medium: str) -> None:
    text = shown(medium, record=fine(limitePermitido="80", medicaoConsiderada="130"))
    assert "o código seria 747-1, e o registro traz 745-5" in text


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_description_of_another_code(medium: str) -> None:
    text = shown(medium, record=fine(descricao="ESTACIONAR NO PASSEIO"))
    assert "Estacionar no passeio" in text
    assert "é a do código 545-2, e o registro traz o código 745-5" in text
    assert "Na tabela de infrações: Transitar em velocidade superior à máxima" in text
