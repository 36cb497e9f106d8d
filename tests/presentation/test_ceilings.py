"""A ceiling that no buyer loses money by: the lowest of the prices that may be the car's."""

from decimal import Decimal

import pytest

from portal.presentation.exports.explained import explained
from portal.presentation.vehicle.negotiation import NegotiationPage
from tests.factories import Record, decode_body, fipe_entry, renainf_body, renajud_body
from tests.presentation.pages import negotiation_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of

TORO: Record = {
    "marca": "FIAT",
    "descricao": "FIAT/TORO",
    "combustivel": "DIESEL",
    "anoModelo": "2021",
    "anoFabricacao": "2021",
    "cilindradas": "1956",
    "potencia": "170",
}
VERSIONS = (
    ("Ultra 2.0 Diesel", "146000"),
    ("Ranch 2.0 Diesel", "141000"),
    ("Freedom 2.0 Diesel", "118000"),
    ("Endurance 2.0 Diesel", "109000"),
)


def history(end: tuple[int, int], first: int, step: str = "1") -> list[Record]:
    """Return 36 months up to ``end`` (year, month), each ``step`` times the one before."""
    last = end[0] * 12 + end[1] - 1
    return [
        {
            "mes": str(month % 12 + 1),
            "ano": str(month // 12),
            "valor": str(round(Decimal(first) * Decimal(step) ** number, 2)),
            "predicao": False,
        }
        for number, month in enumerate(range(last - 35, last + 1))
    ]


def toro(*versions: tuple[str, str]) -> bytes:
    entries = [
        fipe_entry(
            fipeId=str(81900 + number),
            marca="Fiat",
            modelo="Toro",
            versao=version,
            ano="2021",
            combustivel="Diesel",
            valorAtual=price,
            historicoPreco=[],
        )
        for number, (version, price) in enumerate(versions)
    ]
    return decode_body(str(PLATE), **TORO, informacoesFipe=entries)


def sheet(decode: bytes, **query: str) -> NegotiationPage:
    return negotiation_page(PLATE, panels(decode, renainf_body(), renajud_body()), CONTEXT, query)


@pytest.mark.parametrize("order", [VERSIONS, VERSIONS[::-1], VERSIONS[2:] + VERSIONS[:2]])
def test_ceiling_starts_from_the_cheapest_version_in_whatever_order(
    order: tuple[tuple[str, str], ...],
) -> None:
    page = sheet(toro(*order), pedido="140000")
    assert page.ceiling == Decimal(109000)
    assert page.asking_words.startswith("R$\u00a031.000 acima do teto.")
    assert "acima da FIPE da mais barata das 4 versões prováveis" in page.asking_words
    text = text_of(check_html(render(page)))
    assert "(a menor de 4 versões)" in text
    document = explained(
        CONTEXT.dossier(PLATE, panels(toro(*order), renainf_body(), renajud_body())), NOW
    )
    assert document["price_summary"] == {
        "lowest": Decimal(109000),
        "highest": Decimal(146000),
        "versions": 4,
        "ceiling_base": Decimal(109000),
        "why_none": None,
    }


def test_chosen_version_is_the_visitors() -> None:
    decode = toro(*VERSIONS)
    page = sheet(decode, versao="1", pedido="140000")
    assert page.ceiling == Decimal(146000)
    assert "desta versão" in page.asking_words
    assert "a menor de" not in text_of(check_html(render(page)))


@pytest.mark.parametrize(
    ("register", "entry"),
    [
        ("FIAT/STRADA ENDURANCE CS13", {"modelo": "Strada", "versao": "Volcano CD Aut."}),
        ("FIAT/STRADA WORKING CS", {"modelo": "Strada", "versao": "Working CD"}),
        ("FIAT/ARGO DRIVE MT", {"modelo": "Argo", "versao": "Drive Aut."}),
    ],
)
def test_another_version_gives_no_ceiling_until_it_is_chosen(
    register: str, entry: dict[str, str]
) -> None:
    car = {"marca": "FIAT", "descricao": register, "anoModelo": "2021", "anoFabricacao": "2021"}
    other = fipe_entry(marca="Fiat", ano="2021", valorAtual="98000", historicoPreco=[], **entry)
    decode = decode_body(str(PLATE), **car, cilindradas="", potencia="", informacoesFipe=[other])
    page = sheet(decode)
    assert page.ceiling is None
    assert "de outra versão" in page.no_ceiling
    assert sheet(decode, versao="1").ceiling == Decimal(98000)
    answers = panels(decode, renainf_body(), renajud_body())
    shown = text_of(check_html(render(vehicle_page(PLATE, answers, UNASKED, CONTEXT))))
    assert "A tabela fala em" in shown


@pytest.mark.parametrize(
    ("end", "price", "ceiling"),
    [
        ((2026, 11), "50000", Decimal(50000)),
        ((2024, 11), "50000", None),  # an old table needs the visitor's choice
        ((2024, 11), "80000", None),
        ((2021, 11), "110000", None),
        ((2025, 9), "62000", None),
    ],
)
def test_old_history_lets_no_price_pass(
    end: tuple[int, int], price: str, ceiling: Decimal | None
) -> None:
    entry = fipe_entry(valorAtual=price, historicoPreco=history(end, 50000))
    assert sheet(decode_body(str(PLATE), informacoesFipe=[entry])).ceiling == ceiling


def test_sentence_on_the_months_is_computed_from_them() -> None:
    """A price that every month of the table was below is not called low."""
    months = history((2026, 11), 35295, "1.01")
    entry = fipe_entry(valorAtual="50900", historicoPreco=months)
    page = sheet(decode_body(str(PLATE), informacoesFipe=[entry]), pedido="50300")
    assert "nenhum mês teve preço tão baixo" not in page.asking_words
    assert "preço de" in page.asking_words


def audi(version: str, **vehicle: str) -> bytes:
    entry = fipe_entry(versao=version, modelo="A3", historicoPreco=history((2026, 11), 89_000))
    return decode_body(str(PLATE), **vehicle, informacoesFipe=[entry])


@pytest.mark.parametrize(
    ("version", "vehicle", "doubt"),
    [
        ("SEDAN 1.8 S-TRONIC", {"caixaCambio": "MANUAL"}, "outra versão (caixa automática)"),
        ("SEDAN 1.8 Manual", {"caixaCambio": "AUTOMATICA 7 MARCHAS"}, "(caixa manual)"),
        ("SEDAN 1.8 S-TRONIC", {"caixaCambio": "S-TRONIC"}, ""),
        ("SEDAN 1.8 Manual", {"caixaCambio": "AT1234567"}, ""),
        ("SEDAN 1.8 S-TRONIC", {"descricao": "A3 1.8 AT", "caixaCambio": "MANUAL"}, "outra versão"),
        ("SED. 1.8 TFSI", {"descricao": "A3 SPORTBACK 1.8"}, "outra versão (sedã)"),
        ("SPORTBACK 1.8 TFSI", {"descricao": "A3 SPORTBACK 1.8"}, ""),
        ("1.8 TFSI", {"tipoVeiculo": "MOTOCICLETA"}, "da tabela de carros"),
        ("1.8 TFSI", {"tipoVeiculo": "AUTOMOVEL"}, ""),
    ],
)
def test_gearbox_body_and_kind_of_the_register_are_compared_with_the_table(
    version: str, vehicle: dict[str, str], doubt: str
) -> None:
    page = sheet(audi(version, **vehicle))
    assert bool(page.no_ceiling) is bool(doubt), page.no_ceiling
    assert doubt in page.no_ceiling
    assert (page.ceiling is None) is bool(doubt)


def test_likely_version_without_a_price_may_be_the_cheapest() -> None:
    page = sheet(toro(VERSIONS[0], ("Endurance 2.0 Diesel", "")))
    assert page.ceiling is None
    assert "Das 2 versões prováveis, 1 sem preço na fonte" in page.no_ceiling
    assert sheet(toro(VERSIONS[0], ("Endurance 2.0 Diesel", "")), versao="1").ceiling == 146_000


@pytest.mark.parametrize(
    ("vehicle", "words"),
    [
        ({"descricao": "A3 1.8 BLINDADO"}, "Veículo blindado"),
        ({"tipoVeiculo": "AUTOMOVEL ALUGUEL"}, "Veículo de aluguel ou táxi"),
        ({"tipoVeiculo": "AUTOMOVEL PCD"}, "Compra com isenção (PCD)"),
        ({"tipoVeiculo": "AUTOMOVEL COLECAO"}, "Veículo de coleção"),
        ({"tipoVeiculo": "AUTOMOVEL"}, ""),
    ],
)
def test_special_use_is_told_beside_the_price(vehicle: dict[str, str], words: str) -> None:
    page = sheet(audi("SEDAN 1.8", **vehicle))
    told = " ".join(page.cautions)
    assert words in told
    assert bool(told) is bool(words)
    assert page.ceiling is not None
