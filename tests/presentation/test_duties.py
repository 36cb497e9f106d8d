"""The duties of a vehicle's kind, in one line on the page, on paper and in JSON."""

from portal.dossier.answers import Panels
from portal.presentation.exports.explained import explained
from tests.factories import decode_body, renainf_body, renajud_body
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, answered, render
from tests.web.html_checker import check_html, text_of


def test_duties_stand_on_every_face() -> None:
    said = "GNV: em regra, inspeção todo ano para licenciar; peça o certificado."
    answers = Panels(
        answered(decode_body(str(PLATE), combustivel="GASOLINA/GNV")),
        answered(renainf_body()),
        answered(renajud_body()),
    )
    paper = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://p.example")
    for page in (vehicle_page(PLATE, answers, UNASKED, CONTEXT), paper):
        assert said in text_of(check_html(render(page)))
    attributes = explained(CONTEXT.dossier(PLATE, answers), NOW)["vehicle"]["attributes"]
    assert {"label": "Deveres da espécie", "value": said, "hidden": False} in attributes
