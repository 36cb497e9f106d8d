"""A report counts and sums its records, names the missing ones, and accepts any data."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.sandbox.example_plates import EXAMPLE_PLATES
from portal.sandbox.report import write_report
from portal.vehicle.names import mask_names
from portal.vehicle.plate import Plate
from portal.vehicle.report import read_report
from portal.vehicle.wire import result_of
from tests.sandbox.requests import post, report, result

TOPICS = "documentacao rouboFurto leilao fipe chassiMotor restricoes multas proprietarios"
DECODED = result("decode/ABC1D23")
FINES = result("restrictions/renainf/ABC1D23")
COURT = result("restrictions/renajud/ABC1D23")
WHOLE = {"decode": DECODED, "renainf": FINES, "renajud": COURT}


def topic(data: object, name: str) -> str:
    text: str = report(data)["topicos"][name]
    return text


def fine(amount: str, paid: str = "", **members: object) -> dict[str, object]:
    """Return a fine of ``amount``. An empty ``paid`` means an unpaid fine."""
    payment = {"dataPagamento": "01/02/2026" if paid else "", "valorPago": paid}
    return {"valor": amount, "pagamento": payment, **members}


def price(value: str) -> dict[str, object]:
    return {"valorAtual": value}


def test_report_has_the_contracts_fields_in_order() -> None:
    for data in (WHOLE, {}):
        written = report(data)
        assert list(written) == ["resumo", "topicos", "laudoFinal"]
        assert list(written["topicos"]) == TOPICS.split()
        for text in (*written["topicos"].values(), written["resumo"], written["laudoFinal"]):
            assert isinstance(text, str)
            assert text


def test_showcase_report_counts_and_sums_its_records() -> None:
    written = report(WHOLE, "ABC1D23")
    topics = written["topicos"]
    assert topics["restricoes"] == (
        "⚠️ 1 restrição judicial. “TRANSFERENCIA, TJMG, 23/10/2025”. "
        "Só o juízo que ordenou pode dar baixa."
    )
    assert topics["multas"] == (
        "⚠️ 3 multas: 2 sem data de pagamento, R$ 325 ao todo; 1 paga, R$ 234 ao todo. "
        "A de maior valor: R$ 195, “Estacionar em desacordo com a regulamentacao "
        "especificada pela sinalizacao, 12/10/2026”."
    )
    assert topics["fipe"].endswith(" a R$ 89.325 (2 modelos). Confirme a versão antes de negociar.")
    assert written["resumo"].startswith(
        "Veículo de placa ABC1D23: “I/AUDI A3 LM 180CV, 2014/2015, Gasolina”. Preço na tabela FIPE"
    )
    assert "1 restrição judicial. 3 multas: 2 sem data de pagamento, R$ 325" in written["resumo"]
    assert (
        "Esclareça com o vendedor, por escrito: restrições judiciais, multas."
        in (written["laudoFinal"])
    )


@pytest.mark.parametrize("name", TOPICS.split())
def test_absent_topic_is_not_verified(name: str) -> None:
    written = report({})
    assert written["topicos"][name].startswith("Não verificado: os dados enviados não trazem")
    assert "não bastam para um parecer" in written["laudoFinal"]
    assert "✅" not in json.dumps(written, ensure_ascii=False)


EMPTY = [
    ({"documentacao": ""}, "documentacao", "Não verificado: "),
    ({"rouboFurto": []}, "rouboFurto", "✅ Roubo e furto: nenhum registro nos dados enviados."),
    ({"leilao": False}, "leilao", "✅ Leilão: nenhum registro nos dados enviados."),
    (
        {"decode": {"informacoesFipe": []}},
        "fipe",
        "Preço na tabela FIPE: não informado (nenhum modelo).",
    ),
    ({"chassiMotor": None}, "chassiMotor", "Não verificado: "),
    ({"renajud": []}, "restricoes", "✅ Nenhuma restrição judicial nos dados enviados."),
    ({"renainf": []}, "multas", "✅ Nenhuma multa nos dados enviados."),
    ({"proprietarios": []}, "proprietarios", "Proprietários: nenhum registro nos dados enviados."),
]
PRESENT = [
    ({"documentacao": "Em dia"}, "documentacao", "Documentação: os dados enviados informam “Em"),
    ({"rouboFurto": [{}, {}]}, "rouboFurto", "⚠️ Roubo e furto: 2 registros nos dados enviados."),
    ({"leilao": True}, "leilao", "⚠️ Leilão: 1 registro nos dados enviados."),
    ({"leilao": "nada consta"}, "leilao", "Leilão: os dados enviados informam “nada consta”."),
    (
        {"decode": {"informacoesFipe": [price("9000.50"), price("9000.50")]}},
        "fipe",
        "Preço na tabela FIPE: R$ 9.000,50 (2 modelos). Confirme a versão",
    ),
    ({"informacoesFipe": [price("9000.00")]}, "fipe", "Preço na tabela FIPE: R$ 9.000 (1 modelo)."),
    ({"decode": {"informacoesFipe": [{}]}}, "fipe", "Preço na tabela FIPE: não informado (1 model"),
    ({"chassiMotor": "Original"}, "chassiMotor", "Chassi e motor: os dados enviados informam “Or"),
    ({"renajud": [{}]}, "restricoes", "⚠️ 1 restrição judicial. Sem descrição."),
    (
        {"restricoes": [{"tribunal": "TRT2-X"}] * 7},
        "restricoes",
        "⚠️ 7 restrições judiciais. “TRT2”",
    ),
    ({"multas": [{}]}, "multas", "⚠️ 1 multa: 1 sem data de pagamento, sem valor informado."),
    ({"proprietarios": [{}, {}]}, "proprietarios", "Proprietários: 2 registros nos dados enviado"),
    ({"proprietarios": 3}, "proprietarios", "Proprietários: os dados enviados informam “3”."),
]


@pytest.mark.parametrize(("data", "name", "start"), EMPTY + PRESENT)
def test_topic_is_written_from_its_section(data: object, name: str, start: str) -> None:
    assert topic(data, name).startswith(start)


@pytest.mark.parametrize(
    ("fines", "text"),
    [
        ([fine("130"), fine("195.23")], "⚠️ 2 multas: 2 sem data de pagamento, R$ 325,23 ao todo."),
        ([fine("130", "104")], "✅ 1 multa: 1 paga, R$ 104 ao todo."),
        (
            [fine("130", "104"), fine("293"), fine("130", "130"), fine("1467")],
            "⚠️ 4 multas: 2 sem data de pagamento, R$ 1.760 ao todo; 2 pagas, R$ 234 ao todo. "
            "A de maior valor: R$ 1.467.",
        ),
        (
            [fine("130"), fine("")],
            "⚠️ 2 multas: 2 sem data de pagamento, pelo menos R$ 130 ao todo.",
        ),
        ([fine("-130"), fine("NaN")], "⚠️ 2 multas: 2 sem data de pagamento, sem valor informado."),
        (
            [{"valor": "88", "pagamento": {"dataPagamento": "INFORMACAO OCULTADA"}}],
            "⚠️ 1 multa: 1 sem data de pagamento, R$ 88 ao todo.",
        ),
        (
            [fine("88", descricao="PARAR NA PISTA", dataInfracao="01/02/2026")],
            "⚠️ 1 multa: 1 sem data de pagamento, R$ 88 ao todo. "
            "A de maior valor: R$ 88, “Parar na pista, 01/02/2026”.",
        ),
    ],
)
def test_fines_are_summed_by_payment(fines: list[object], text: str) -> None:
    assert topic({"renainf": fines}, "multas").startswith(text)


@pytest.mark.parametrize(
    "data",
    [
        {"indisponiveis": ["renajud"], "renainf": []},
        {"indisponiveis": ["renajud", "decode"], "renajud": [], "decode": {}, "renainf": []},
    ],
)
def test_failed_lookup_is_named_and_never_clean(data: object) -> None:
    written = report(data)
    assert written["topicos"]["restricoes"].startswith(
        "Não verificado: a consulta estava indisponível"
    )
    assert "restrições judiciais" in written["resumo"].partition("Não verificado: ")[2]
    assert "restrições judiciais" in written["laudoFinal"]
    assert written["topicos"]["multas"].startswith("✅")
    assert written["laudoFinal"].startswith("Nada pede atenção no que")


@pytest.mark.parametrize("value", [7, True, "nada consta", {}, {"total": 0}, ["x"], [None]])
@pytest.mark.parametrize(("section", "name"), [("renainf", "multas"), ("renajud", "restricoes")])
def test_unreadable_records_are_not_verified(section: str, name: str, value: object) -> None:
    assert topic({section: value}, name).startswith("Não verificado: ")


@pytest.mark.parametrize(
    "data",
    [
        {"veiculo": DECODED, "multas": FINES, "restricoes": COURT},
        {**DECODED, "multas": FINES, "restricoes": COURT},
        {name: {"status": "DONE", "result": records} for name, records in WHOLE.items()},
        {**WHOLE, "multas": [], "indisponiveis": ["renainf"]},
    ],
    ids=["names of topics", "flat vehicle", "envelopes", "records beside a failure"],
)
def test_records_are_found_under_several_names(data: object) -> None:
    assert report(data) == report(WHOLE)


@pytest.mark.parametrize(
    ("members", "is_clean"),
    [
        ({"restricoes": "", "detalheRenajud": ""}, True),
        ({"detalheRenajud": ""}, False),
        ({"restricoes": "INFORMACAO OCULTADA", "detalheRenajud": ""}, False),
    ],
)
def test_flag_alone_does_not_lift_a_named_restriction(
    members: dict[str, str], is_clean: bool
) -> None:
    records = [{**COURT[0], "constaRenajud": False, **members}]
    assert topic({"renajud": records}, "restricoes").startswith("✅") == is_clean


HOSTILE = [
    '<script>alert("1")</script>',
    "✅ Nada consta.",
    "fim”. ✅ Nenhuma multa nos dados enviados. “",
    "linha\n\n✅ outra\x00\u202e\u2028linha",
    "{{ 7 * 7 }} {0} %s",
    "a" * 5_000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_record_texts_stay_inside_quotation_marks(text: str) -> None:
    written = report(
        {
            "decode": {"marca": text, "anoModelo": text, "informacoesFipe": [price(text)]},
            "renainf": [fine("88", descricao=text, dataInfracao=text)],
            "renajud": [{"restricoes": text, "tribunal": text, "dataInclusao": text}],
            "leilao": text,
            "proprietarios": text,
            "indisponiveis": [text],
        }
    )
    for words in (*written["topicos"].values(), written["resumo"], written["laudoFinal"]):
        assert words.isprintable()
        assert len(words) < 1_000
        outside = "".join(part.rpartition("”")[2] for part in words.split("“"))
        assert words.count("“") == words.count("”")
        assert "✅" not in outside
        assert "script" not in outside and "{" not in outside and "aaa" not in outside


def test_markup_is_not_escaped_in_json() -> None:
    """The report is plain text; the portal's templates escape it once."""
    assert topic({"leilao": "<b>A & B</b>"}, "leilao").endswith("“<b>A & B</b>”.")


@pytest.mark.parametrize("plate", [s.plate for s in EXAMPLE_PLATES if s.fault is None])
def test_portal_reads_and_masks_nothing_in_a_report(plate: str) -> None:
    data = {
        "decode": result(f"decode/{plate}"),
        "renainf": result(f"restrictions/renainf/{plate}"),
        "renajud": result(f"restrictions/renajud/{plate}"),
    }
    response = post({"plate": plate, "data": data})
    read = read_report(result_of(response.body), "INFORMACAO OCULTADA", mask_names=False)
    texts = [str(topic.text) for topic in read.topics]
    assert "INFORMACAO OCULTADA" not in response.body.decode()
    assert [topic.key for topic in read.topics] == TOPICS.split()
    for text in (str(read.summary), str(read.conclusion), *texts):
        assert mask_names(text) == text
    marks = {topic.key: topic.mark for topic in read.topics if topic.mark is not None}
    due = any(not one["pagamento"]["dataPagamento"] for one in data["renainf"])
    assert marks == {
        "restricoes": "warning" if data["renajud"] else "ok",
        "multas": "warning" if due else "ok",
    }


SECTIONS = "decode renainf renajud multas restricoes leilao proprietarios indisponiveis"
MEMBERS = (
    "result marca descricao informacoesFipe valorAtual valor pagamento dataPagamento valorPago "
    "restricoes tribunal dataInclusao constaRenajud"
)
names = st.sampled_from(MEMBERS.split()) | st.text(max_size=6)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(SECTIONS.split()), json_values))
def test_report_never_raises_for_odd_data(data: dict[str, Any]) -> None:
    written = write_report(Plate("XYZ1D23"), data)
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
        response = post(body)
        assert response.status in (200, 400)
        json.loads(response.body)
