"""What a source could not read of a vehicle is never told as what the source does not have."""

import json
from dataclasses import replace
from typing import Any

import pytest

from portal.dossier.answers import Panel, Panels, answer_panel, kept_panel
from portal.dossier.changes import changes_of
from portal.gateway.lookup import Served
from portal.presentation.exports.explained import explained
from portal.presentation.exports.vehicle_tables import vehicle_table
from tests.factories import HIDDEN, decoded, fipe_entry, renainf_body, renajud_body
from tests.presentation.rendering import CONTEXT, NOW, PLATE, answered
from tests.presentation.test_findings_on_every_face import faces

MISSING = ("sem preço na fonte", "não traz preço", "ele não foi informado", '"sem preço"')


def panel(result: dict[str, Any], beside: dict[str, Any] | None = None) -> Panel:
    now = NOW.timestamp()
    body = json.dumps({"status": "DONE", "result": result, **(beside or {})}).encode()
    return answer_panel(Served(200, body, "miss", True, now, 0, 60, "primary", now + 60))


def panels(result: dict[str, Any], beside: dict[str, Any] | None = None) -> Panels:
    return Panels(panel(result, beside), answered(renainf_body()), answered(renajud_body()))


def car(**fields: Any) -> dict[str, Any]:
    return decoded(str(PLATE), informacoesFipe=[]) | fields


PRICES_DOWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an error inside": (car(erro="FIPE fora do ar"), {}),
    "an error beside": (car(), {"erro": "FIPE fora do ar"}),
    "an error of another spelling": (car(msgErroFipe="Tente novamente mais tarde"), {}),
    "a text": (car(observacao="Tabela FIPE indisponível no momento"), {}),
    "a text that still works": (car(mensagemFipe="Consulta em processamento"), {}),
    "a text deeper": (car(retorno={"fontes": [{"fipe": {"mensagem": "Falha na consulta"}}]}), {}),
    "a text beside, deeper": (car(), {"meta": {"avisos": ["FIPE: serviço em manutenção"]}}),
    "a flag": (car(fipeIndisponivel=True), {}),
    "a flag of success": (car(fipe={"sucesso": False}), {}),
    "a status": (car(statusFipe=503), {}),
    "a status in words": (car(), {"statusFipe": "ERRO"}),
    "in place of the list": (car(informacoesFipe="Serviço indisponível"), {}),
    "in place of an entry": (car(informacoesFipe=[{"mensagem": "FIPE fora do ar"}]), {}),
    "in an entry of blanks": (
        car(informacoesFipe=[fipe_entry(valorAtual="") | {"erro": "tabela não respondeu"}]),
        {},
    ),
    "in place of a price": (car(informacoesFipe=[fipe_entry(valorAtual="INDISPONIVEL")]), {}),
    "partial": (car(), {"avisos": ["Consulta parcial: tabela FIPE não consultada"]}),
}


@pytest.mark.parametrize("name", PRICES_DOWN)
def test_outage_of_the_price_table_is_not_a_missing_price(name: str) -> None:
    answers = panels(*PRICES_DOWN[name])
    dossier = CONTEXT.dossier(PLATE, answers)
    shown = faces(answers)
    for face, text in shown.items():
        found = [words for words in MISSING if words in text.lower()]
        assert not found, (face, found)
    for face in ("page", "paper", "comparison", "link", "row", "stored row"):
        assert "não lido na fonte" in shown[face], face
    told = explained(dossier, NOW)["price_summary"]["why_none"]
    assert told.startswith("O preço FIPE não pôde ser lido na fonte"), told
    table = vehicle_table("prices", dossier)
    assert table is None or list(table.rows)  # a table without rows would say that there is none
    assert dossier.verdict.level == "clear"  # no more is out than the prices


@pytest.mark.parametrize(
    ("result", "beside"),
    [
        (car(observacao="Preço médio de mercado conforme a tabela"), {}),
        (car(mensagem="Nenhum registro FIPE encontrado"), {}),
        (car(fipeEncontrada=False), {}),
        (car(informacoesFipe=[fipe_entry(valorAtual="0,00")]), {}),
        (car(informacoesFipe=[{}]), {}),
        (car(erro=None, erros=[]), {"sucesso": True}),
        (car(falhaMotor="NADA CONSTA", carroceriaFerro="S"), {}),
    ],
)
def test_price_that_the_source_does_not_have_is_missing(
    result: dict[str, Any], beside: dict[str, Any]
) -> None:
    prices = CONTEXT.dossier(PLATE, panels(result, beside)).prices
    assert prices is not None
    assert prices.no_price == "sem preço na fonte"


@pytest.mark.parametrize(
    ("result", "beside"),
    [
        (decoded(str(PLATE)) | {"erro": "Base de roubo e furto fora do ar"}, {}),
        (decoded(str(PLATE)), {"avisos": ["BIN sem resposta"]}),
        (decoded(str(PLATE)), {"fontes": {"respondidas": 2, "total": 5}}),
        (decoded(str(PLATE)) | {"gravames": {"mensagem": "Serviço indisponível"}}, {}),
    ],
)
def test_outage_of_more_than_the_prices_is_a_reason(
    result: dict[str, Any], beside: dict[str, Any]
) -> None:
    answers = panels(result | {"caixaCambio": ""}, beside)
    dossier = CONTEXT.dossier(PLATE, answers)
    assert dossier.verdict.level == "caution"
    assert "data_unread" in {one.code for one in dossier.verdict.reasons}
    told = "Parte dos dados do veículo não pôde ser lida na fonte"
    shown = faces(answers)
    in_full = ("page", "paper", "link", "row", "stored row")
    assert not [face for face in in_full if told not in shown[face]]
    assert "indisponível na fonte" in shown["page"]  # the gearbox, which is blank


@pytest.mark.parametrize(
    ("member", "reasons"),
    [
        ({"recall": "PENDENTE"}, ["vehicle_recall"]),
        ({"recall": {"descricao": "FALHA NO SISTEMA DE FREIO"}}, ["vehicle_recall"]),
        ({"ipva": {"situacao": "PENDENTE"}}, ["vehicle_debts"]),
        ({"comunicacaoVenda": "SEM COMUNICACAO DE VENDA"}, []),
        ({"gravame": "CONTRATO CANCELADO"}, []),
        ({"situacao": "TRANSFERENCIA EM ANDAMENTO"}, []),
        ({"vistoria": "AGUARDANDO VISTORIA"}, []),
    ],
)
def test_state_of_the_vehicle_is_no_outage(member: dict[str, Any], reasons: list[str]) -> None:
    dossier = CONTEXT.dossier(PLATE, panels(decoded(str(PLATE)) | member))
    assert [one.code for one in dossier.verdict.reasons] == reasons


@pytest.mark.parametrize(
    "member",
    [
        {"recall": "Consulta em andamento"},
        {"recall": "FALHA NO SISTEMA"},
        {"recall": "FALHA NA COMUNICACAO COM O SERVIDOR"},
        {"debitos": "ERRO"},
        {"consultaIpva": "PENDENTE"},
        {"gravame": {"mensagem": "CONTRATO CANCELADO. Base fora do ar"}},
        {"mensagem": "Contrato suspenso"},
        {"recall": "PENDENTE; SISTEMA INDISPONIVEL"},
    ],
)
def test_outage_beside_a_state_of_the_vehicle_is_a_reason(member: dict[str, Any]) -> None:
    dossier = CONTEXT.dossier(PLATE, panels(decoded(str(PLATE)) | member))
    assert {one.code for one in dossier.verdict.reasons} == {"data_unread"}


def test_list_of_prices_beside_an_outage_may_lack_a_cheaper_one() -> None:
    answers = panels(decoded(str(PLATE)) | {"erro": "FIPE: tempo esgotado em parte das versões"})
    dossier = CONTEXT.dossier(PLATE, answers)
    assert dossier.prices is not None
    assert "pode estar incompleta" in dossier.prices.no_ceiling
    assert dossier.prices.price_summary is not None


@pytest.mark.parametrize("text", ["INDISPONIVEL", "Consulta indisponível", "ERRO AO CONSULTAR"])
def test_attribute_that_could_not_be_read_is_not_missing(text: str) -> None:
    answers = panels(decoded(str(PLATE), combustivel=text, potencia=text))
    found = {one.label: one.field.state for one in CONTEXT.dossier(PLATE, answers).attributes}
    assert (found["Combustível"], found["Potência"]) == ("unread", "unread")
    assert "indisponível na fonte" in faces(answers)["page"]


def test_what_could_not_be_read_has_not_changed() -> None:
    good = json.dumps({"status": "DONE", "result": decoded(str(PLATE))}).encode()
    former = kept_panel(good, NOW.timestamp() - 9_000)
    for result, beside in PRICES_DOWN.values():
        answers = panels(result, beside)
        answers = replace(answers, vehicle=replace(answers.vehicle, replaced=former))
        assert changes_of(answers, CONTEXT.today, HIDDEN) == ()
