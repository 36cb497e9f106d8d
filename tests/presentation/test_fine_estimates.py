"""Interest and the authority's site stand on the page, the paper, in JSON and in CSV."""

import json

from portal.dossier.answers import Panels
from portal.presentation.exports.explained import explained
from portal.presentation.exports.vehicle_tables import vehicle_table
from tests.factories import decode_body, fine, renainf_body, renajud_body
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, answered, render
from tests.presentation.test_records_on_every_face import cells
from tests.web.html_checker import check_html, text_of

OLD = fine(
    dataInfracao="14/08/2024",
    dataEmissaoNotificacao="22/08/2024",
    dataEmissaoPenalidade="01/12/2024",
)
SITE = "https://www.gov.br/prf/pt-br/servicos/multas/nada-consta"


def test_interest_and_site_stand_on_every_face() -> None:
    answers = Panels(
        answered(decode_body(str(PLATE))), answered(renainf_body(OLD)), answered(renajud_body())
    )
    paper = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://p.example")
    for page in (vehicle_page(PLATE, answers, UNASKED, CONTEXT), paper):
        text = text_of(check_html(render(page))).replace("\u00a0", " ")
        assert "ao menos R$ 162,06, Selic até set/2026 e 1%, se venceu em 31/12/2024" in text
        assert f"{SITE} (confira o endereço)" in text
    dossier = CONTEXT.dossier(PLATE, answers)
    (told,) = explained(dossier, NOW)["fines"]["records"]
    (row,) = cells(vehicle_table("fines", dossier))
    for name, value in {
        "amount_with_interest": "162.06",
        "interest_is_minimum": "True",
        "authority_site": SITE,
    }.items():
        assert str(told[name]) == value
        assert row[name] is not None, json.dumps(row, default=str)
