"""A report states what its data holds and what it lacks, and accepts any data."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.sandbox.report import write_report
from portal.vehicle import Plate
from tests.sandbox.requests import TODAY, post, report, result

TOPICS = "documentacao rouboFurto leilao fipe chassiMotor restricoes multas proprietarios"
DECODED = result("decode/ABC1D23")
FINES = result("restrictions/renainf/ABC1D23")
COURT = result("restrictions/renajud/ABC1D23")
WHOLE = {"decode": DECODED, "renainf": FINES, "renajud": COURT}


def topic(data: object, name: str) -> str:
    text: str = report(data)["topicos"][name]
    return text


def test_report_has_the_contracts_fields_in_order() -> None:
    written = report(WHOLE)
    assert list(written) == ["resumo", "topicos", "laudoFinal"]
    assert list(written["topicos"]) == TOPICS.split()
    assert all(written["topicos"].values())


def test_showcase_report_has_the_right_sums() -> None:
    written = report(WHOLE, "ABC1D23")
    topics = written["topicos"]
    assert topics["multas"] == (
        "⚠️ 3 multas nos dados enviados: 2 em aberto e 1 paga. Total em aberto: R$ 325,39."
    )
    assert topics["restricoes"].startswith("⚠️ 1 restrição judicial: transferência (TJMG, em ")
    assert "R$ 89.325,00" in topics["fipe"]
    assert "2 multas em aberto, R$ 325,39" in written["resumo"]
    assert "1 restrição judicial em vigor" in written["resumo"]
    assert "impede transferir" in written["laudoFinal"]
    assert "R$ 325,39" in written["laudoFinal"]


@pytest.mark.parametrize(
    "data",
    [
        {"decode": DECODED, "renainf": FINES, "renajud": COURT},
        {"veiculo": DECODED, "multas": FINES, "restricoes": COURT},
        {**DECODED, "multas": FINES, "restricoesJudiciais": COURT},
        {
            "decode": {"status": "DONE", "result": DECODED},
            "renainf": {"status": "SUCCESS", "result": FINES},
            "renajud": {"status": "SUCCESS", "result": COURT},
        },
        {"decode": DECODED, "restrictions": {"renainf": FINES, "renajud": COURT}},
        {"a": DECODED, "b": {"c": FINES}, "d": [*COURT]},
    ],
    ids=["own names", "portuguese", "flat", "envelopes", "nested", "by shape alone"],
)
def test_upstream_shapes_are_recognised_at_any_place(data: object) -> None:
    assert report(data) == report(WHOLE)


def test_data_with_only_prices_is_recognised() -> None:
    entry = DECODED["informacoesFipe"][:1]
    for data in ({"informacoesFipe": entry}, {"fipe": entry[0]}):
        text = topic(data, "fipe")
        assert text.startswith("✅ Preço de referência na tabela FIPE: R$ 89.325,00 (A3 SED.1.8")
        assert re.search(r"Em doze meses o preço (caiu|subiu) \d+,\d %\.", text)


def test_empty_data_leaves_every_topic_unassessed() -> None:
    written = report({})
    assert all("nada trazem" in text for text in written["topicos"].values())
    assert written["topicos"]["leilao"] == "Os dados enviados nada trazem sobre leilão."
    assert "não bastam" in written["laudoFinal"]


def test_missing_data_never_gives_a_tick() -> None:
    assert "✅" not in json.dumps(report({}), ensure_ascii=False)


def test_empty_lists_are_clean_records() -> None:
    written = report({"renainf": [], "renajud": []})
    assert written["topicos"]["multas"] == "✅ Nenhuma multa consta nos dados enviados."
    assert written["topicos"]["restricoes"].startswith("✅ Nenhuma restrição judicial")
    assert "Nada desabona" in written["laudoFinal"]


@pytest.mark.parametrize(
    "data",
    [
        {"indisponiveis": ["renajud"], "renainf": []},
        {"indisponiveis": "renajud", "renajud": []},
        {"indisponiveis": {"renajud": True, "renainf": False}, "multas": []},
        {"renajud": None, "renainf": []},
        {"renajud": "Indisponível", "renainf": []},
        {"renajud": {"indisponivel": True}, "renainf": []},
    ],
)
def test_unavailable_section_is_named_as_not_assessed(data: object) -> None:
    written = report(data)
    text = written["topicos"]["restricoes"]
    assert "não avaliado" in text
    assert "não significa que nada conste" in text
    assert not text.startswith("✅")
    assert "Não avaliados, por indisponibilidade da consulta: restrições" in written["resumo"]
    assert "Repita a consulta" in written["laudoFinal"]


def test_unavailable_decoder_leaves_its_three_topics_open() -> None:
    written = report({"indisponiveis": ["decode", "renainf"], "renajud": []})
    for name in ("documentacao", "fipe", "chassiMotor", "multas"):
        assert "não avaliado" in written["topicos"][name]
    assert written["topicos"]["restricoes"].startswith("✅")


@pytest.mark.parametrize(
    ("value", "start"),
    [
        (True, "⚠️ Consta passagem por leilão"),
        (False, "✅ Nada consta sobre passagem por leilão"),
        ("nada consta", "✅ "),
        ("NÃO", "✅ Nada consta"),
        ("sim", "⚠️ Consta"),
        ("Irregular", "⚠️ "),
        ("Consta registro de 2019", "⚠️ "),
        ("não consta", "✅ "),
        ("NEGATIVO", "✅ "),
        ([], "✅ Nada consta"),
        ([{"data": "2019"}, {"data": "2020"}], "⚠️ 2 registros de passagem por leilão"),
        ({"consta": False}, "✅ Nada consta"),
        ({"possui": "sim", "leiloeiro": "X"}, "⚠️ Consta"),
        (0, "✅ "),
        (3, "⚠️ "),
        ("verificar com a origem", "Os dados enviados informam: “verificar com a origem”"),
        ("indisponível", "Registros de passagem por leilão: não avaliado"),
    ],
)
def test_free_section_is_read_as_yes_no_or_text(value: object, start: str) -> None:
    assert topic({"leilao": value}, "leilao").startswith(start)


def test_owners_are_counted_and_named() -> None:
    two = [{"nome": "MARIA DE SOUZA"}, {"nome": "JOAO DA SILVA"}]
    text = topic({"proprietarios": two}, "proprietarios")
    assert text == "✅ 2 proprietários nos dados enviados: MARIA DE SOUZA, JOAO DA SILVA."
    assert topic({"proprietarios": 6}, "proprietarios").startswith("⚠️ 6 proprietários")


def test_lien_is_shown_with_the_court_restrictions() -> None:
    text = topic({"renajud": [], "gravame": {"situacao": "ATIVO"}}, "restricoes")
    assert text.startswith("⚠️ Nenhuma restrição judicial")
    assert "Gravame" in text
    assert "ATIVO" in text
    alone = topic({"gravame": False}, "restricoes")
    assert not alone.startswith("✅")
    assert "nada trazem sobre restrições judiciais" in alone


def test_lifted_record_restricts_nothing() -> None:
    lifted = {**COURT[0], "constaRenajud": False, "restricoes": "", "detalheRenajud": ""}
    for said in ({}, {"detalheRenajud": "NADA CONSTA"}):
        assert topic({"renajud": [lifted | said]}, "restricoes").startswith("✅")


def test_flag_alone_does_not_lift_a_named_restriction() -> None:
    contradicted = [{**COURT[0], "constaRenajud": False}]
    text = topic({"renajud": contradicted}, "restricoes")
    assert text.startswith("⚠️ 1 restrição judicial: transferência")
    assert "a fonte se contradiz: confirme com o juízo" in text
    hidden = [{**COURT[0], "constaRenajud": False, "restricoes": "informação ocultada"}]
    assert not topic({"renajud": hidden}, "restricoes").startswith("✅")


def test_licensing_restriction_overrides_valid_documents() -> None:
    stopped = [{**COURT[0], "restricoes": "LICENCIAMENTO"}]
    data = {"renajud": stopped, "documentacao": "Em dia"}
    assert topic(data, "documentacao").startswith("⚠️ Licenciamento em risco")
    assert topic({"documentacao": "Em dia"}, "documentacao").startswith("✅")


def test_paid_fines_are_not_owed() -> None:
    paid = [fine for fine in FINES if fine["pagamento"]["dataPagamento"]]
    text = topic({"multas": paid}, "multas")
    assert text.startswith("✅ 1 multa nos dados enviados, nenhuma em aberto")


def test_fine_without_amount_makes_the_total_a_minimum() -> None:
    unknown = {"codigoInfracao": "", "valor": "", "dataInfracao": "01/02/2026"}
    text = topic({"multas": [FINES[1], unknown]}, "multas")
    assert "2 em aberto" in text
    assert "pelo menos R$ 130,16" in text


def test_several_prices_are_given_as_a_range() -> None:
    text = topic({"decode": DECODED}, "fipe")
    assert text.startswith("✅ 2 modelos da tabela FIPE")
    assert "de R$ 78." in text
    assert "a R$ 89.325,00" in text


def test_chassis_is_never_confirmed_as_sound() -> None:
    text = topic({"decode": DECODED}, "chassiMotor")
    assert "vistoria" in text
    assert "INFORMACAO OCULTADA" not in json.dumps(report(WHOLE))
    assert not text.startswith("✅")


WORDS = (
    "decode renainf renajud multas restricoes fipe informacoesFipe leilao result rouboFurto "
    "gravame proprietarios documentacao chassi indisponiveis status nome marca descricao "
    "codigoInfracao tribunal valor valorAtual historicoPreco ano mes pagamento dataInfracao "
    "constaRenajud situacao"
)
names = st.sampled_from(WORDS.split()) | st.text(max_size=6)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*WHOLE, "indisponiveis", "leilao"]), json_values))
def test_report_never_raises_for_odd_data(data: dict[str, Any]) -> None:
    written = write_report(Plate("XYZ1D23"), data, TODAY)
    topics = written["topicos"]
    assert isinstance(topics, dict)
    assert list(topics) == TOPICS.split()
    for text in (*topics.values(), written["resumo"], written["laudoFinal"]):
        assert isinstance(text, str)
        assert text.strip()


@pytest.mark.parametrize("depth", [60, 400, 900, 5_000])
def test_deep_data_is_answered_or_refused(depth: int) -> None:
    nested = b'{"plate":"XYZ1D23","data":' + b'{"renainf":' * depth + b"[]" + b"}" * depth + b"}"
    assert post(nested).status in (200, 400)


@pytest.mark.parametrize(
    "text", [r'"\ud800"', '"' + "9" * 5_000 + '"', "9" * 400, '"\\u202e\\u0000“x”"', "1e308"]
)
def test_hostile_values_are_answered_or_refused(text: str) -> None:
    for name in ("leilao", "proprietarios", "renainf", "decode", "documentacao"):
        body = f'{{"plate":"XYZ1D23","data":{{"{name}":{text}}}}}'.encode()
        answer = post(body)
        assert answer.status in (200, 400)
        json.loads(answer.body)
