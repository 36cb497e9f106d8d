"""What stands beside the records of an answer, and warns of the vehicle, is a finding."""

import json
from dataclasses import replace
from typing import Any

import pytest

from portal.dossier.answers import Panel, Panels, answer_panel
from portal.gateway.lookup import Served
from portal.law.findings import AdverseData
from portal.presentation.exports.explained import explained
from portal.vehicle.operation_name import LookupName
from tests.factories import decode_body, fine, renainf_body, renajud_body, restriction
from tests.presentation.rendering import CONTEXT, NOW, PLATE, answered

BODIES: dict[LookupName, bytes] = {
    "decode": decode_body(str(PLATE)),
    "renainf": renainf_body(fine()),
    "renajud": renajud_body(restriction()),
}


def panel(body: bytes, beside: dict[str, Any]) -> Panel:
    now = NOW.timestamp()
    sent = json.dumps({**json.loads(body), **beside}).encode()
    return answer_panel(Served(200, sent, "miss", True, now, 0, 60, "primary", now + 60))


def codes(lookup: LookupName, beside: dict[str, Any]) -> set[str]:
    """Return the codes of the findings that an answer with further members adds."""
    usual = Panels(*(answered(body) for body in BODIES.values()))
    answers = usual.with_answers({lookup: panel(BODIES[lookup], beside)})
    found, without = (CONTEXT.dossier(PLATE, each).verdict.reasons for each in (answers, usual))
    return {each.code for each in found} - {each.code for each in without}


@pytest.mark.parametrize(
    ("lookup", "beside", "added"),
    [
        ("decode", {"alerta": "VEICULO COM REGISTRO DE ROUBO"}, {"vehicle_theft"}),
        ("decode", {"roubo": True}, {"vehicle_theft"}),
        ("decode", {"alerta": "NADA CONSTA", "tempo": 12, "cache": False}, set()),
        ("renainf", {"alerta": "VEICULO COM QUEIXA DE ROUBO"}, {"vehicle_theft"}),
        ("renainf", {"mensagem": "1 multa encontrada", "totalMultas": 1}, set()),
        ("renajud", {"alerta": "CIRCULACAO PROIBIDA"}, {"vehicle_block"}),
        ("renajud", {"mensagem": "1 restrição encontrada", "possuiRestricao": True}, set()),
        ("renajud", {"message": "Consulta realizada com sucesso"}, set()),
    ],
)
def test_text_beside_the_records_is_judged(
    lookup: LookupName, beside: dict[str, Any], added: set[str]
) -> None:
    assert codes(lookup, beside) == added


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("CIRCULACAO PROIBIDA", {"transfer", "licence", "drive", "removal"}),
        ("RESTRICAO DE LICENCIAMENTO", {"transfer", "licence", "drive", "removal"}),
        ("1 restrição de transferência encontrada", None),
    ],
)
def test_graver_order_beside_the_records_reaches_what_it_forbids(
    text: str, reached: set[str] | None
) -> None:
    usual = Panels(*(answered(body) for body in BODIES.values()))
    answers = replace(usual, orders=panel(BODIES["renajud"], {"alerta": text}))
    verdict = CONTEXT.dossier(PLATE, answers).verdict
    found = [one for one in verdict.reasons if one.code == "vehicle_block"]
    assert [set(one.reach) for one in found if isinstance(one, AdverseData)] == (
        [reached] if reached else []
    )
    assert (verdict.row("drive").mark == "careful") is bool(reached)


@pytest.mark.parametrize(
    ("lookup", "sent", "added"),
    [
        ("renainf", {"result": [], "observacao": "Veículo com queixa de furto ativa"}, {"theft"}),
        ("renainf", {"result": [{"mensagem": "Veículo com queixa de furto ativa"}]}, {"theft"}),
        ("renajud", {"result": [], "aviso": "HÁ ALIENAÇÃO FIDUCIÁRIA EM ABERTO"}, {"lien"}),
        ("renajud", {"result": [], "bloqueio": "INDISPONIVEL"}, set()),
        ("renajud", {"result": [], "aviso": "Base estadual indisponível"}, set()),
        ("renainf", {"result": [], "observacao": "Sem queixa de furto"}, set()),
    ],
)
def test_answer_that_confirms_nothing_is_judged_by_what_it_says(
    lookup: LookupName, sent: dict[str, Any], added: set[str]
) -> None:
    """It is shown as not confirmed, so what it warns of must count (the price, the reasons)."""
    clean = {
        "decode": decode_body(str(PLATE)),
        "renainf": renainf_body(),
        "renajud": renajud_body(),
    }
    answers = Panels(*(answered(body) for body in clean.values()))
    dossier = CONTEXT.dossier(PLATE, answers.with_answers({lookup: panel(clean[lookup], sent)}))
    found = [one for one in dossier.verdict.reasons if isinstance(one, AdverseData)]
    assert {one.code for one in found} == {f"vehicle_{name}" for name in added}
    assert all(one.source == lookup for one in found)
    assert bool(dossier.verdict.ends_ceiling) is bool(added)


@pytest.mark.parametrize(
    ("lookup", "words"),
    [
        ("renajud", "A fonte não confirmou as restrições judiciais."),
        ("renainf", "A fonte não confirmou as multas."),
    ],
)
def test_no_price_is_suggested_beside_an_answer_that_confirms_nothing(
    lookup: LookupName, words: str
) -> None:
    usual = Panels(*(answered(body) for body in (BODIES["decode"], renainf_body(), renajud_body())))
    unclear = panel(b'{"status": "SUCCESS", "result": []}', {"mensagem": "Procure o Detran"})
    answers = usual.with_answers({lookup: unclear})
    summary = explained(CONTEXT.dossier(PLATE, answers), NOW)["price_summary"]
    assert (summary["ceiling_base"], summary["why_none"]) == (None, words)
