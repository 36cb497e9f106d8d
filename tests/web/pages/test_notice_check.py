"""``/conferir-multa``: open in every mode, free, without JavaScript, and never a confirmation."""

import re
from urllib.parse import urlencode

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import managed, pass_through
from tests.hostile.strings import STRINGS
from tests.web.html_checker import check_html, text_of
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import PageClient

PATH = "/conferir-multa"
FORGED = {"orgao": "000100", "auto": "X12", "codigo": "745-4", "valor": "R$ 250"}
PLAUSIBLE = {"orgao": "271070", "codigo": "745-50", "valor": "130,16", "infracao": "2026-03-10"}


def shown(client: PageClient, typed: dict[str, str], status: int = 200) -> str:
    response = client.client.get(f"{PATH}?{urlencode(typed)}")
    assert response.status_code == status
    html = response.get_data(as_text=True)
    text = " ".join(text_of(check_html(html)).split())
    assert not re.search("verdadeir|autêntic|legítim|genuín", text, re.IGNORECASE)
    return text


@pytest.mark.parametrize("mode", ["demo", "managed", "pass-through"])
def test_page_is_open_in_every_mode(
    portal: PortalFactory, upstream: FaultUpstream, mode: str
) -> None:
    settings = {
        "demo": {},
        "managed": managed(upstream.url),
        "pass-through": pass_through(upstream.url),
    }[mode]
    client = PageClient(portal(settings).client)
    with no_upstream_call(upstream):
        assert "Só o órgão pode confirmar" in shown(client, {})
        assert "2 pontos não batem" in shown(client, FORGED)
    assert client.client.head(PATH).status_code == 200


@pytest.fixture
def anyone(portal: PortalFactory) -> PageClient:
    return PageClient(portal({}).client)


def test_no_contradiction_is_no_proof(anyone: PageClient) -> None:
    text = shown(anyone, PLAUSIBLE)
    assert "Nada se contradiz no que você digitou Isto não prova que a multa existe" in text
    assert "corresponde a Prefeitura de São Paulo/SP, na esfera municipal" in text


def test_bad_input_is_kept_and_explained(anyone: PageClient) -> None:
    typed = {"orgao": "abc", "valor": "muito", "infracao": "ontem", "codigo": "7455"}
    text = shown(anyone, typed, 400)
    assert "Corrija para conferir" in text
    assert text.count("Escreva a data como 31/12/2026.") == 2  # above the form and at the input
    page = anyone.get(f"{PATH}?{urlencode(typed)}", 400)
    for name, value in typed.items():
        (field,) = page.all("input", name=name)
        assert field.get("value") == value
        assert (field.get("aria-invalid") == "true") == (name != "codigo")
    assert "Preencha ao menos um campo" in shown(anyone, {"orgao": "", "valor": " "})


def test_valid_day_is_kept_beside_a_bad_value(anyone: PageClient) -> None:
    page = anyone.get(f"{PATH}?orgao=x&infracao=10/03/2026", 400)
    (field,) = page.all("input", name="infracao")
    assert (field.get("type"), field.get("value")) == ("date", "2026-03-10")


# An input may hold "javascript:" as text, which the checker refuses in every attribute.
TYPED = [each for each in STRINGS if "javascript:" not in each]


def test_no_text_breaks_the_page(anyone: PageClient) -> None:
    names = ("orgao", "auto", "codigo", "valor", "infracao", "vencimento")
    for string in TYPED:
        text = string.encode("utf-8", "replace").decode()
        response = anyone.client.get(f"{PATH}?{urlencode(dict.fromkeys(names, text))}")
        assert response.status_code in (200, 400), string
        check_html(response.get_data(as_text=True))


def test_page_is_linked_where_people_look(anyone: PageClient) -> None:
    for path in ("/", "/glossario", "/placa/ABC1D23?completo=1"):
        assert anyone.get(path).all("a", href=PATH), path


def test_one_typed_day_is_compared_with_nothing(anyone: PageClient) -> None:
    for typed in ({"vencimento": "2026-12-20"}, {"vencimento": "2020-09-14"}, {"valor": "130,16"}):
        text = shown(anyone, typed)
        assert "Não há o que comparar" in text
        assert "Nada se contradiz" not in text
