"""Hints about typing errors in plates and Renavam numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation.site.search_page import SearchPage
from portal.presentation.typed_subject import (
    plates_in,
    suggestion_for,
    what_is_wrong,
)
from portal.vehicle.typed import read_typed
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN
from tests.presentation.rendering import render
from tests.web.html_checker import check_html, text_of
from tests.web.page_client import PageClient
from tests.web.person import Person

CONTRACT = "Por favor, informe uma placa válida."


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("1234567891", "Um Renavam tem 11 algarismos; aqui há 10."),
        ("123.456.789-101", "Um Renavam tem 11 algarismos; aqui há 12."),
        ("008946382-73", "com um hífen só antes do último."),
        ("ABC12", "“ABC12” tem 5 dos 7 caracteres de uma placa."),
        ("abc-12", "“abc12” tem 5 dos 7 caracteres de uma placa."),
        ("ABCD1234", "“ABCD1234” tem 8 caracteres; uma placa tem 7."),
        ("ABCK123", "Uma placa tem 3 letras"),
        ("ÁBC1D23", "sem acento"),
        ("00000000000", "Um Renavam só de zeros não existe."),
        ("renavam 798318546", "aqui há 9. Documentos antigos omitem os zeros da frente."),
        ("9BWZZZ377VT004251", "Parece um chassi, que tem 17 caracteres."),
        ("", ""),
        (" - ", ""),
    ],
)
def test_hint_says_what_is_wrong(typed: str, expected: str) -> None:
    assert (expected in what_is_wrong(typed)) if expected else what_is_wrong(typed) == ""


@pytest.mark.parametrize("path", ["/placa/ABC12", "/buscar?q=ABC12"])
def test_hint_follows_the_contracts_message(buyer: PageClient, path: str) -> None:
    page = buyer.get(path, 400)
    assert f"{CONTRACT} “ABC12” tem 5 dos 7 caracteres de uma placa." in page.text


def test_renavam_of_ten_digits_gets_a_hint(buyer: PageClient) -> None:
    assert "Um Renavam tem 11 algarismos; aqui há 10." in buyer.get("/renavam/1234567891", 400).text


@pytest.mark.parametrize("typed", ["798.318.546", "0798318546", "Renavam: 798318546"])
def test_short_renavam_is_padded_on_request(buyer: PageClient, typed: str) -> None:
    page = buyer.get(f"/buscar?q={typed}", 400)
    (link,) = page.all("a", href="/renavam/00798318546")
    assert "00798318546" in text_of(link)


@pytest.mark.parametrize("typed", ["12345678", "123456789012", "000000000", "ABC12", ""])
def test_other_texts_are_not_padded(typed: str) -> None:
    assert suggestion_for(typed) is None


@pytest.mark.parametrize(
    "typed", ["renavam 79831854647", "RENAVAM: 79831854647", "Renavam nº 798.318.546-47"]
)
def test_renavam_pasted_with_the_word_is_found(typed: str) -> None:
    subject = read_typed(typed).subject
    assert subject is not None and subject.text == "79831854647"


def test_word_renavam_without_number_stays() -> None:
    assert "Uma placa tem 3 letras" in what_is_wrong("renavam")


@pytest.mark.parametrize("path", ["/buscar?q=00000000000", "/renavam/00000000000"])
def test_renavam_of_zeros_is_refused_as_invented(buyer: PageClient, path: str) -> None:
    assert "Um Renavam só de zeros não existe." in buyer.get(path, 400).text


def test_search_page_without_problem_has_no_hint() -> None:
    assert SearchPage(query="ABC12").hint == ""


@pytest.mark.parametrize(
    "typed",
    [
        "\u200bABC1D23\u200b",
        "ABC1\u2060D23",
        "\ufeffabc-1d23",
        "placa: ABC1D23",
        "Placa ABC1D23.",
        "(ABC1D23)",
        "A.B.C 1 D 2 3",
        "ABC–1D23",
        "ABC1D23 ano 2019",
        "ABC1D23, abc1d23",
    ],
)
def test_one_plate_in_a_text_is_found(buyer: PageClient, typed: str) -> None:
    answer = buyer.client.get("/buscar", query_string={"q": typed})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/placa/ABC1D23")


@pytest.mark.parametrize("typed", ["Renavam\u200b 79831854647", "RENAVAM: 7983.1854-647"])
def test_renavam_with_format_characters_is_found(buyer: PageClient, typed: str) -> None:
    answer = buyer.client.get("/buscar", query_string={"q": typed})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/renavam/79831854647")


@pytest.mark.parametrize(
    ("typed", "reason", "link"),
    [
        ("12345678910", "O dígito verificador deste Renavam não confere.", "12345678910"),
        ("11987654321", "Parece um telefone.", "11987654321"),
        ("79831854647.0", "Um Renavam são 11 algarismos seguidos", "79831854647"),
        ("79.831.854.647", "Um Renavam são 11 algarismos seguidos", "79831854647"),
        ("7,98318546E+10", "A planilha arredondou este número.", ""),
        ("529.982.247-25", "Parece um CPF.", ""),
        ("52998224725", "Parece um CPF.", ""),
        ("11 98765-4321", "Parece um telefone.", ""),
    ],
)
def test_number_that_may_be_no_renavam_asks_first(
    buyer: PageClient, upstream: FaultUpstream, typed: str, reason: str, link: str
) -> None:
    page = buyer.get("/buscar", 400, query_string={"q": typed})
    assert f"{CONTRACT} {reason}" in page.text
    links = [one.get("href") for one in page.all("a") if "/renavam/" in one.get("href", "")]
    assert links == ([f"/renavam/{link}"] if link else [])
    assert upstream.count() == 0


def test_tax_number_reaches_neither_source_nor_history(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    assert "Parece um CPF." in buyer.get("/renavam/52998224725", 400).text
    assert upstream.count() == 0
    assert "52998224725" not in buyer.get("/historico").text


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ABC1D23 KZZ9999", "ABC1D23 KZZ9999"),
        ("ABC-1D23; kzz-9999 / ABC1D23", "ABC1D23 KZZ9999"),
        ("placas: ABC 1D23 e KZZ 9999", "ABC1D23 KZZ9999"),
        ("vendo ABC1D23 2019 R$ 50.000", "ABC1D23"),
        ("ABC1D23 e KZZ 9999", "ABC1D23 KZZ9999"),
        ("ABC 1D23 KZZ 9A99", "ABC1D23 KZZ9A99"),
        ("Placa: ABC1D23\nRenavam: 79831854647", "ABC1D23"),
        ("chassi 9BWZZZ377VT004251 placa ABC1D23", "ABC1D23"),
        ("ABC1D23/SP", "ABC1D23"),
        ("gol placa-ABC1D23", "ABC1D23"),
        ("ABC1D23/KZZ9999", "ABC1D23 KZZ9999"),
        ("vendo HB20 ABC1D23.", "ABC1D23"),
        ("vendo ABC1D23 CBR600", "ABC1D23"),
        ("sac 0800 ABC1D23", "ABC1D23"),
        ("placa SEG1030 branca", "SEG1030"),
        ("ABC1D23 não tem multa", "ABC1D23"),
        ("Fiat uno 2019", ""),
        ("chassi 9BWZZZ377VT004251", ""),
        ("xABC1D23", ""),
        ("\u0661ABC1D23", ""),
        ("", ""),
    ],
)
def test_plates_are_found_in_a_text(typed: str, expected: str) -> None:
    assert " ".join(plate.text for plate in plates_in(typed)) == expected


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ABC 1D23 GOL 2019", "ABC1D23"),
        ("abc 1d23 uno 2012", "ABC1D23"),
        ("ABC 1234 apt 1204", "ABC1234 APT1204"),
        ("abc 1d23 mar 2023", "ABC1D23"),
        ("ABC 1D23 hrv 2019", "ABC1D23 HRV2019"),
        ("por 5000 ABC 1D23", "ABC1D23 POR5000"),
        ("ABC 1D23 xyz 5001", "ABC1D23 XYZ5001"),
        ("ABC1D23 GOL2019", "ABC1D23 GOL2019"),
        ("moto CBR1000 placa ABC1D23", "ABC1D23 CBR1000"),
        ("a ABC1D23 ou a KZZ9999", "ABC1D23 KZZ9999"),
        ("vendo HRV2019 branco", "HRV2019"),
        ("VIN 9BW ABC9D99 ZZZ", "ABC9D99"),
        ("9BW ABC9D99 ZZZ", "ABC9D99"),
        ("VIN 93Y.ABC9D99.004251", "ABC9D99"),
        ("chassi: ABC9D99 004251", "ABC9D99"),
        ("ABC9D99 (chassi)", "ABC9D99"),
        ("motor ABC9D99", "ABC9D99"),
        ("VIN ABC9D99", "ABC9D99"),
        ("NF 2026/ABC9D99/77", "ABC9D99"),
        ("pedido lote-ABC9D99-2026", "ABC9D99"),
        ("seg 1030", "SEG1030"),
        ("reunião sex 1400", "SEX1400"),
        ("SAC 0800", "SAC0800"),
        ("OBS 2024", "OBS2024"),
        ("ligar ter0930 hoje", "TER0930"),
        ("ABC9D99@x.com", "ABC9D99"),
        ("contato joao.abc9d99@oficina.com.br", "ABC9D99"),
        ("fala com @ABC9D99 no instagram", "ABC9D99"),
        ("https://x.com/ABC9D99", "ABC9D99"),
        ("www.site.com.br/carros/ABC9D99?ver=1", "ABC9D99"),
        ("R$ POR1023", "POR1023"),
        ("valor R$ABC9D99", "ABC9D99"),
        ("não consultar ABC9D99", "ABC9D99"),
        ("exceto ABC9D99", "ABC9D99"),
        ("todas menos a ABC9D99", "ABC9D99"),
        ("ABC9D99 (não consultar)", "ABC9D99"),
        ("ABC1D23 exceto KLM9A33", "ABC1D23 KLM9A33"),
        ("ABC1D23, não KLM9A33", "ABC1D23 KLM9A33"),
        ("ABC1D23 KLM1AZ7", "ABC1D23 KLM1A27"),
        ("KLM1AZ7, ABC1D23", "ABC1D23 KLM1A27"),
        ("ABC1D23 e KLM 1AZ7", "ABC1D23 KLM1A27"),
        ("ABC1D23 KLM1A2", "ABC1D23"),
        ("ABC1D23; KLMA123", "ABC1D23"),
    ],
)
def test_what_stands_beside_a_plate_is_offered_and_not_opened(
    buyer: PageClient, upstream: FaultUpstream, typed: str, offered: str
) -> None:
    assert plates_in(typed) == ()
    page = buyer.get("/buscar", 400, query_string={"q": typed})
    found = [one.get("href", "") for one in page.all("a", rel="nofollow")]
    assert found == [f"/placa/{plate}" for plate in offered.split()]
    buyer.get("/comparar", 400, query_string={"placas": typed})
    assert upstream.count() == 0


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ABC1D23 KLM1AZ7", "“KLM1AZ7”: o sexto caractere de uma placa é um algarismo"),
        ("ABC1D23 KLM1A2", "“KLM1A2” tem 6 dos 7 caracteres de uma placa."),
        ("não consultar KLM1A33", "O texto diz para não consultar esta placa."),
        ("KLM1A27@x.com", "Faz parte de um endereço de e-mail ou de página."),
        ("seg 1030", "Parece endereço, modelo ou código, não placa."),
    ],
)
def test_what_is_not_opened_is_named(buyer: PageClient, typed: str, said: str) -> None:
    assert said in buyer.get("/buscar", 400, query_string={"q": typed}).text


@pytest.mark.parametrize("typed", ["UNO 1.0/8V 4P", "SED.1.8/1.8", "GOL 1.0 16"])
def test_a_version_is_no_plate(buyer: PageClient, upstream: FaultUpstream, typed: str) -> None:
    page = buyer.get("/buscar", 400, query_string={"q": typed})
    assert not page.all("a", rel="nofollow")
    assert upstream.count() == 0


@pytest.mark.parametrize("typed", ["Placa ABCID23", "placa: ABC1DZ3", '{"plate":"abcid23"}'])
def test_a_labelled_misread_plate_is_suggested_on_every_face(
    portal: PortalFactory, upstream: FaultUpstream, typed: str
) -> None:
    here = portal()
    stranger = PageClient(here.client)
    page = stranger.get("/buscar", 400, query_string={"q": typed})
    assert page.all("a", href="/placa/ABC1D23") and "caractere de uma placa" in page.text
    ana = Person.at(here).signed_in()
    page = ana.pages.get("/comparar", 400, query_string={"placas": typed})
    assert "Quis dizer ABC1D23?" in page.text
    created = ana.post("/lote", placas=typed, consulta="renainf")
    assert "Quis dizer ABC1D23?" in ana.pages.get(created.headers["Location"]).text
    refused = here.client.post(
        "/api/v1/batches", json={"plates": [typed]}, headers={"Authorization": PORTAL_TOKEN}
    )
    assert refused.status_code == 400 and "Quis dizer ABC1D23?" in refused.text
    assert upstream.count() == 0


def test_a_list_of_vins_says_so(buyer: PageClient, portal: PortalFactory) -> None:
    vins = ["9BWZZZ377VT004251", "9BWZZZ377VT004252"]
    page = buyer.get("/buscar", 400, query_string={"q": " ".join(vins)})
    assert "Parece um chassi" in page.text
    ana = Person.at(portal()).signed_in()
    assert "Parecem chassis" in ana.post("/lote", placas="\n".join(vins), consulta="renainf").text
    refused = ana.client.post(
        "/api/v1/batches", json={"plates": vins}, headers={"Authorization": PORTAL_TOKEN}
    )
    assert "Parecem chassis" in refused.text


def test_several_plates_lead_to_their_comparison(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    answer = buyer.client.get("/buscar", query_string={"q": "ABC1D23 e KZZ-9999"})
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        "/comparar?placas=ABC1D23,KZZ9999",
    )
    assert upstream.count() == 0
    page = buyer.get(answer.headers["Location"])
    assert "2 placas no que você colou: aqui estão lado a lado." in page.text


@pytest.mark.parametrize("path", ["/buscar", "/comparar"])
def test_more_plates_than_a_comparison_holds_lead_to_the_preview_of_a_batch(
    buyer: PageClient, upstream: FaultUpstream, path: str
) -> None:
    typed = "[25/11 20:12] João: AAA1A11\nAAA1A12 AAA1A13 (branco)\nAAA1A14 ABC12 AAA1A15"
    query = {"q": typed} if path == "/buscar" else {"placas": ["", typed]}
    answer = buyer.client.get(path, query_string=query)
    assert answer.status_code == 303
    preview = buyer.get(answer.headers["Location"])
    assert sorted(str(one.get("value")) for one in preview.all("input", name="linha")) == [
        f"AAA1A1{number}" for number in range(1, 6)
    ]
    assert "ABC12" in preview.text and "Consultar 5 placas" in preview.text
    assert upstream.count() == 0


def test_list_of_a_stranger_leads_to_the_form(portal: PortalFactory) -> None:
    answer = portal().client.get("/buscar?q=AAA1A11+AAA1A12+AAA1A13+AAA1A14+AAA1A15")
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/lote?placas=AAA1A11+AAA1A12")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AB01D23", "ABO1D23"),
        ("a81-1d23", "ABI1D23"),
        ("ABCID23", "ABC1D23"),
        ("ABC1D2O", "ABC1D20"),
        ("5BC1D23", "SBC1D23"),
        ("7983I854647", "79831854647"),
        ("ABC1D23", ""),
        ("ABCK123", ""),
        ("ABCO123", "ABC0123"),
        ("12345678910", "12345678910"),
        ("ABC12", ""),
        ("OOOOOOOOOOO", ""),
        ("ÁB01D23", ""),
    ],
)
def test_signs_that_look_alike_are_suggested(typed: str, meant: str) -> None:
    found = suggestion_for(typed)
    assert (found.subject.text if found else "") == meant


def test_suggestion_is_a_link_with_its_reason(buyer: PageClient, upstream: FaultUpstream) -> None:
    page = buyer.get("/buscar", 400, query_string={"q": "AB01D23"})
    assert f"{CONTRACT} A placa começa por três letras" in page.text
    assert "o terceiro caractere é um zero. Quis dizer ABO1D23?" in page.text
    assert page.all("a", href="/placa/ABO1D23")
    assert upstream.count() == 0


@given(st.text(max_size=200))
def test_any_text_renders_a_valid_form(typed: str) -> None:
    html = render(SearchPage(query=typed, problem=CONTRACT))
    check_html(html)
    assert len(what_is_wrong(typed)) < 150
