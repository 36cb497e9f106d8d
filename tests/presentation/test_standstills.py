"""A deadline that did not run for a time is called late on no face."""

import json

import pytest

from portal.dossier.answers import Panels
from portal.presentation.exports.calendar import deadline_calendar
from portal.presentation.exports.explained import explained
from portal.presentation.site.notice_check import notice_check_page
from tests.factories import Record, decode_body, fine, renainf_body, renajud_body
from tests.presentation.pages import dossier_page, negotiation_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, answered, render
from tests.web.html_checker import check_html, text_of

OF_RS = {"ufOrgaoAutuador": "RS", "codigoOrgaoAutuador": "121100", "orgaoAutuador": "DETRAN RS"}
LATE_IN_RS = fine(
    **OF_RS,
    dataInfracao="02/05/2024",
    dataEmissaoNotificacao="20/08/2024",
    dataEmissaoPenalidade="20/12/2025",
)
NOT_YET_IN_RS = fine(**OF_RS, dataInfracao="02/05/2024", dataEmissaoNotificacao="20/08/2024")
OF_2020 = fine(dataInfracao="10/03/2020", dataEmissaoNotificacao="25/09/2020")
LATER_OF_2020 = fine(
    dataInfracao="10/04/2020",
    dataEmissaoNotificacao="10/02/2021",
    dataEmissaoPenalidade="10/06/2021",
)


def faces(record: Record) -> dict[str, str]:
    answers = Panels(
        answered(decode_body(str(PLATE))), answered(renainf_body(record)), answered(renajud_body())
    )
    dossier = CONTEXT.dossier(PLATE, answers)
    html = {
        "page": vehicle_page(PLATE, answers, UNASKED, CONTEXT),
        "paper": dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://p.example"),
        "negotiation": negotiation_page(PLATE, answers, CONTEXT, {}),
        "notice": notice_check_page(
            {
                "infracao": record["dataInfracao"],
                "autuacao": record["dataEmissaoNotificacao"],
                "penalidade": record["dataEmissaoPenalidade"],
                "orgao": record["codigoOrgaoAutuador"],
            },
            CONTEXT.today,
        ),
    }
    calendar = deadline_calendar([dossier], "Prazos", CONTEXT.today)
    assert calendar is not None
    return {
        **{name: text_of(check_html(render(page))) for name, page in html.items()},
        "calendar": calendar.decode().replace("\r\n ", ""),
        "json": json.dumps(explained(dossier, NOW), default=str, ensure_ascii=False),
    }


@pytest.mark.parametrize(
    ("record", "act"),
    [
        (LATE_IN_RS, "Deliberação Contran 274/2024 (RS)"),
        (NOT_YET_IN_RS, "Deliberação Contran 274/2024 (RS)"),
        (OF_2020, "Res. Contran 782/2020"),
        (LATER_OF_2020, "Res. Contran 782/2020"),
    ],
)
def test_no_face_calls_it_late(record: Record, act: str) -> None:
    shown = faces(record)
    for name, text in shown.items():
        for words in ("fora do prazo", "deveria ser arquivado", "já teria se perdido"):
            assert words not in text, name
        assert "não bate" not in text, name
    for name in ("page", "paper"):
        assert f"prazo afetado pela {act}, confirme" in shown[name], name
    for name in ("notice", "json"):
        assert f"afetado pela {act}" in shown[name], name


def test_clause_of_a_fine_without_a_last_day_names_none() -> None:
    shown = faces(NOT_YET_IN_RS)["negotiation"]
    assert "caducou" not in shown
    assert "até o órgão confirmar por escrito se é devido" in shown
