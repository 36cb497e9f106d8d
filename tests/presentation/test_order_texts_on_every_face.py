"""What an order's detail and the vehicle's other data say is on each face."""

from typing import Any

import pytest

from portal.dossier.answers import Panels
from portal.presentation.exports.explained import explained
from portal.presentation.exports.vehicle_tables import vehicle_table
from tests.factories import decoded, encode, renainf_body, renajud_body, restriction
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, answered, render
from tests.presentation.test_findings_on_every_face import faces
from tests.web.html_checker import check_html, text_of


def answers_of(vehicle: dict[str, Any], *orders: dict[str, Any]) -> Panels:
    body = encode({"status": "DONE", "result": {**decoded(str(PLATE)), **vehicle}})
    return Panels(answered(body), answered(renainf_body()), answered(renajud_body(*orders)))


@pytest.mark.parametrize("member", ["detalheRenajud", "codigoJudicial", "tipoBloqueio"])
def test_order_to_seize_beside_the_kind_is_judged_and_exported(member: str) -> None:
    seized = restriction(restricoes="TRANSFERENCIA", **{member: "RESTRICAO TOTAL, APREENDER"})
    answers = answers_of({}, seized)
    dossier = CONTEXT.dossier(PLATE, answers)
    (order,) = explained(dossier, NOW)["restrictions"]["records"]
    assert (order["drive"]["mark"], order["removal"]["mark"]) == ("no", "no")
    column = {
        "detalheRenajud": "detail",
        "codigoJudicial": "judicial_code",
        "tipoBloqueio": "block_type",
    }[member]
    assert (order["kinds_text"], order[column]) == ("TRANSFERENCIA", "RESTRICAO TOTAL, APREENDER")
    table = vehicle_table("restrictions", dossier)
    assert table is not None
    names = [each.name for each in table.columns]
    row = dict(zip(names, next(iter(table.rows)), strict=True))
    assert row[column] == "RESTRICAO TOTAL, APREENDER"
    shown = faces(answers)
    for name in ("page", "paper", "link"):
        assert "Não pode circular nem ser transferido" in shown[name], name
        assert "sem ordem de remoção" not in shown[name], name
    assert "Sem teto" in shown["negotiation"]


def test_unknown_member_of_the_vehicle_is_shown_and_judged() -> None:
    answers = answers_of({"restricao1": "ALIENACAO FIDUCIARIA", "situacao": "EM USO"})
    dossier = CONTEXT.dossier(PLATE, answers)
    assert dossier.verdict.level == "caution"
    attributes = explained(dossier, NOW)["vehicle"]["attributes"]
    assert {"label": "Outros dados (situacao)", "value": "EM USO", "hidden": False} in attributes
    pages = (
        vehicle_page(PLATE, answers, answers.report, CONTEXT),
        dossier_page(PLATE, answers, answers.report, CONTEXT, address="https://p.example"),
    )
    for page in pages:
        shown = text_of(check_html(render(page)))
        assert "Outros dados (restricao1)" in shown
        assert "Os dados do veículo trazem “ALIENACAO FIDUCIARIA”" in shown


def test_deve_stands_only_beside_a_sum() -> None:
    answers = answers_of({}, restriction())
    shown = text_of(check_html(render(vehicle_page(PLATE, answers, answers.report, CONTEXT))))
    hero = shown.partition("Transfere?")[2].partition("Vale")[0]
    assert "Deve" not in hero
    assert "nenhuma nos registros" in hero


@pytest.mark.parametrize(
    ("kinds", "named"),
    [
        ("ALIENACAO FIDUCIARIA", "alienação fiduciária"),
        ("BLOQUEIO DETRAN", "bloqueio administrativo"),
        ("ALIENACAO FIDUCIARIA, BLOQUEIO DETRAN", "alienação fiduciária e bloqueio administrativo"),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_what_no_judge_ordered_is_no_court_order_on_any_face(
    kinds: str, named: str, number: int
) -> None:
    answers = answers_of({}, *[restriction(restricoes=kinds)] * number)
    shown = faces(answers)
    assert named in shown["page"].lower()
    for name, text in shown.items():
        for wrong in ("Restrição judicial de", "restrições judiciais de", "Ordem judicial: "):
            assert wrong not in text, name
        assert "Baixa da restrição judicial" not in text, name
        assert "Só a Justiça a retira" not in text, name
    assert "Só depois da baixa, conferida no Detran" in shown["negotiation"]
    assert "baixa da restrição judicial" not in shown["negotiation"]
    judged = faces(answers_of({}, restriction(restricoes=f"{kinds}, PENHORA")))
    assert "Ordem judicial: " in judged["negotiation"]
