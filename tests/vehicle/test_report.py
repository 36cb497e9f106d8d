"""The analytical report: contract order, marks, masked owners, no raw marker text."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.field import HIDDEN_MARKER, fold
from portal.vehicle.names import mask_names
from portal.vehicle.report import TOPIC_LABELS, Report, read_report, split_mark
from portal.vehicle.wire import result_of


def report(result: object, *, mask: bool = True) -> Report:
    return read_report(result, HIDDEN_MARKER, mask_names=mask)


def test_topics_are_in_contract_order_then_extra_ones() -> None:
    sent = {"kmRodado": "⚠️ 80 mil", "multas": "✅ Sem multas.", "documentacao": "Em dia."}
    topics = report({"topicos": sent}).topics
    assert [t.key for t in topics] == [*TOPIC_LABELS, "kmRodado"]
    assert topics[-1].label == "kmRodado"
    assert (topics[-1].mark, str(topics[-1].text)) == ("warning", "80 mil")
    assert (topics[6].label, topics[6].mark, str(topics[6].text)) == ("Multas", "ok", "Sem multas.")
    assert (topics[0].mark, str(topics[0].text)) == (None, "Em dia.")
    assert topics[1].text.state == "empty"


@pytest.mark.parametrize(
    ("text", "mark", "rest"),
    [
        ("✅ Nada consta", "ok", "Nada consta"),
        ("⚠️ Atenção", "warning", "Atenção"),
        ("⚠Atenção", "warning", "Atenção"),
        ("✅⚠️ Misto", "warning", "Misto"),
        ("⚠️", "warning", ""),
        ("Nada ✅", None, "Nada ✅"),
    ],
)
def test_leading_symbol_becomes_a_mark(text: str, mark: str | None, rest: str) -> None:
    assert split_mark(text) == (mark, rest)


def test_report_without_text_is_falsy() -> None:
    assert not report({})
    assert not report({"topicos": [], "resumo": None})
    assert report({"laudoFinal": "Pode comprar."})


def test_marker_in_prose_is_replaced() -> None:
    sent = {
        "resumo": f"Chassi {HIDDEN_MARKER.lower()}.",
        "topicos": {"chassiMotor": HIDDEN_MARKER, "multas": f"✅ Auto {HIDDEN_MARKER}"},
    }
    read = report(sent)
    assert str(read.summary) == "Chassi oculto pela fonte."
    topics = {t.key: t for t in read.topics}
    assert topics["chassiMotor"].text.is_hidden
    assert str(topics["multas"].text) == "Auto oculto pela fonte"


@pytest.mark.parametrize(
    "quoted",
    [
        "INFORMAÇÃO OCULTADA",
        "informação ocultada",
        unicodedata.normalize("NFD", "Informação Ocultadã"),
        "INFORMACAO\nOCULTADA",
        "INFORMAÇÃO \u00a0 OCULTADA",
        "ＩＮＦＯＲＭＡＣＡＯ ＯＣＵＬＴＡＤＡ",
    ],
)
def test_marker_in_prose_is_replaced_in_every_spelling(quoted: str) -> None:
    """Accents, case and white space in the marker do not matter."""
    summary = str(report({"resumo": f"Ação ½: chassi ({quoted}), e {quoted}. Até já."}).summary)
    assert summary == "Ação ½: chassi (oculto pela fonte), e oculto pela fonte. Até já."


@given(st.text(max_size=60), st.text(max_size=12), st.text(max_size=60))
def test_any_marker_in_prose_is_replaced(before: str, marker: str, after: str) -> None:
    sent = json.dumps({"result": {"resumo": before + marker + after}}).encode()
    summary = read_report(result_of(sent), marker, mask_names=False).summary
    if fold(marker) and fold(marker) not in fold("oculto pela fonte"):
        pieces = str(summary).split("oculto pela fonte")
        assert not any(fold(marker) in fold(piece) for piece in pieces)


def test_paragraphs_keep_a_line_break() -> None:
    assert str(report({"resumo": "Um.\r\n\r\nDois."}).summary) == "Um.\nDois."


def test_owner_names_in_a_report_are_masked() -> None:
    sent = {
        "resumo": "Veículo em nome de MARIA DA SILVA SOUZA.",
        "topicos": {"proprietarios": "✅ Marinalva Quirino Torres desde 2015."},
        "laudoFinal": "Negocie com João Pereira Neto.",
    }
    masked = report(sent)
    assert str(masked.summary) == "Veículo em nome de M. D. S. S."
    assert str(masked.topics[7].text) == "M. Q. T. desde 2015."
    assert str(masked.conclusion) == "Negocie com J. P. N."
    assert "MARIA DA SILVA SOUZA" in str(report(sent, mask=False).summary)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("MARIA DA SILVA SOUZA", "M. D. S. S."),
        ("Proprietário atual: Ubirajara dos Reis.", "Proprietário atual: U. D. R."),
        ("Pertence a João.", "Pertence a J."),
        ("Houve JOSÉ CARLOS e Ana Lima antes", "Houve J. C. e A. L. antes"),
        ("MARIA DE SÁ BRANCO", "M. D. S. B."),
        ("PEDRO S. ÁLVARES comprou", "P. S. Á. comprou"),
        ("JOSE SA vendeu", "J. S. vendeu"),
        ("D'ÁVILA COSTA NETO", "D. C. N."),
        ("CPF 123.456.789-00", "CPF ***.***.***-**"),
    ],
)
def test_full_name_becomes_initials(text: str, masked: str) -> None:
    assert mask_names(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS, VIGESIMA TERCEIRA VARA CIVEL",
        "O Audi A3 LM 180CV está regular no DETRAN de São Paulo.",
        "VEICULO SEM RESTRICOES ATE O MOMENTO",
        "FIPE: VW GOL 1.0 FLEX, valor de R$ 30.000 na Tabela FIPE",
        "Veículo BMW/R1250 GS PREMIUM, Ranger LIMITED CD AUT., HILUX CD SRV",
        "POLICIA RODOVIARIA FEDERAL, Rio de Janeiro",
        "Alienação fiduciária ao Banco Bradesco Financiamentos S.A.",
        "Dois proprietários anteriores, nenhum registro de leilão.",
        "INFORMACAO OCULTADA",
        "",
    ],
)
def test_courts_agencies_makes_and_places_are_not_masked(text: str) -> None:
    assert mask_names(text) == text


@given(st.text(max_size=200))
def test_masking_never_raises_and_limits_the_length(text: str) -> None:
    once = mask_names(text)
    assert mask_names("Em nome de MARIA DA SILVA. " + text).startswith("Em nome de M. D. S.")
    assert len(once) <= 2 * len(text) + 2


def test_report_of_other_members_alone_is_one() -> None:
    assert report({"alertas": ["Veículo com registro de leilão"]})
    assert not report({"placa": "ABC1D23", "renavam": "79831854647", "alertas": []})


def test_text_longer_than_rules_read_is_told() -> None:
    long = "Sem registro. " * 20_000
    for part in ({"resumo": long}, {"topicos": {"multas": [long]}}, {"alertas": long}):
        assert report(part).is_cut, [*part]
        assert not report(json.loads(json.dumps(part).replace(long, "Sem registro."))).is_cut
