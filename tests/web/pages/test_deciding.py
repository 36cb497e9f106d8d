"""The pages that go through a list one vehicle at a time, without JavaScript."""

from urllib.parse import parse_qs, urlsplit

import pytest

from portal.presentation.query import kept_query
from portal.presentation.walk import Walk
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal
from tests.web.html_checker import text_of
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import Page, PageClient
from tests.web.pages.test_batches import act, ended, send
from tests.web.signed_in import visitor

PLATES = ("ABC1D23", "LMP0A01", "MUL0A45")


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(PRICE_DECODE="0.85", PRICE_RENAINF="0.95", PRICE_RENAJUD="0.65")


@pytest.fixture
def dealer(here: InProcessPortal) -> PageClient:
    return visitor(here)


@pytest.fixture
def batch(here: InProcessPortal, dealer: PageClient) -> str:
    path = str(send(dealer, " ".join(PLATES)))
    act(dealer, path, "iniciar")
    ended(here, dealer, path)
    return path


def car(page: Page) -> str:
    return str(page.all("input", name="carro")[0].get("value"))


def decide(dealer: PageClient, page: Page, tag: str) -> Page:
    return dealer.get(pressed(dealer, page, tag))


def pressed(dealer: PageClient, page: Page, tag: str) -> str:
    """Press one of the page's buttons, and return where it leads."""
    (form,) = page.all("form", class_="deciding__bar")
    fields = {str(one.get("name")): str(one.get("value")) for one in form.iter() if one.get("name")}
    return str(dealer.post(str(form.get("action")), data=fields | {"etiqueta": tag}))


def counts(page: Page) -> str:
    return text_of(page.by_id("fim"))


def test_list_is_decided_one_by_one_without_a_call(
    dealer: PageClient, batch: str, upstream: FaultUpstream
) -> None:
    with no_upstream_call(upstream):
        page = dealer.get(f"{batch}/mesa")
        listed = [str(cell[0].get("href")) for cell in dealer.get(batch).all("th", scope="row")]
        seen = []
        for tag in ("fora", "negociar", "comprar"):
            seen.append(car(page))
            page = decide(dealer, page, tag)
        assert [f"/placa/{plate}" for plate in seen] == [urlsplit(one).path for one in listed]
        assert counts(page) == "1 fora · 1 negociar · 1 comprar"
        rows = dealer.get(batch)
        assert {text_of(tag) for tag in rows.all("span", class_="tag")} >= {"fora", "comprar"}
        # The list begins where nothing is decided, and ends where all is.
        assert counts(dealer.get(f"{batch}/mesa")) == counts(page)


def test_note_and_choice_are_kept(dealer: PageClient, batch: str) -> None:
    note = {"consulta": "MUL0A45", "nota": "Esperar a baixa", "etiqueta": "comprar"}
    token = dealer.get(f"{batch}/mesa").csrf_token()
    dealer.post("/historico/nota", data={"csrf_token": token, **note})
    page = dealer.get(f"{batch}/mesa?carro=MUL0A45&etiqueta=comprar")
    assert "Nota: Esperar a baixa" in page.text
    assert [one.get("value") for one in page.all("button", aria_pressed="true")] == ["comprar"]
    assert len(page.by_id("mesa").findall(".//*[@aria-current='true']")) == 1
    where = pressed(dealer, page, "fora")
    # No vehicle of the choice is left.
    assert dealer.client.get(where).headers["Location"] == f"{batch}?etiqueta=comprar"
    assert "Esperar a baixa" in dealer.get(f"{batch}?etiqueta=fora").text


def test_end_issues_what_is_bought_once(dealer: PageClient, batch: str) -> None:
    page = dealer.get(f"{batch}/mesa")
    for tag in ("fora", "comprar", "comprar"):
        page = decide(dealer, page, tag)
    (form,) = [one for one in page.all("form") if one.get("action") == "/dossies/emitir"]
    fields = [
        (str(one.get("name")), str(one.get("value"))) for one in form.iter() if one.get("name")
    ]
    data: dict[str, list[str]] = {}
    for name, value in fields:
        data.setdefault(name, []).append(value)
    page = dealer.get(str(dealer.post("/dossies/emitir", data=data)))
    assert "2 de 2 dossiês emitidos com as respostas de agora" in page.text
    assert "Enviar" not in text_of(page.by_id("mesa")).replace("Ver e enviar", "")
    # Another form of the same page finds them issued.
    data["idempotency_key"] = ["another"]
    dealer.post("/dossies/emitir", data=data)
    assert len(dealer.get("/dossies").all("li", class_="lookup-row")) == 2


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"carro": "ABC1D23", "etiqueta": "talvez"}, 400),
        ({"carro": "ABC", "etiqueta": "fora"}, 400),
        ({"etiqueta": "fora"}, 400),
    ],
)
def test_unknown_decision_is_refused(
    dealer: PageClient, batch: str, fields: dict[str, str], status: int
) -> None:
    token = dealer.get(f"{batch}/mesa").csrf_token()
    dealer.post(f"{batch}/mesa", status, data={"csrf_token": token, **fields})


def test_unknown_batch_and_place_are_not_found(dealer: PageClient, batch: str) -> None:
    dealer.get("/lote/" + "0" * 24 + "/mesa", 404)
    dealer.get(f"{batch}/carro/x", 404)
    assert dealer.get(f"{batch}/mesa?carro=ZZZ9Z99").status == 200  # the first that is open


def test_history_is_decided_too(dealer: PageClient, batch: str, upstream: FaultUpstream) -> None:
    for plate in PLATES:
        dealer.get(f"/placa/{plate}?completo=1")
    with no_upstream_call(upstream):
        page = dealer.get("/historico/mesa")
        for _ in PLATES:
            page = decide(dealer, page, "negociar")
        assert counts(page) == "0 fora · 3 negociar · 0 comprar"


def test_empty_list_leads_to_itself(dealer: PageClient) -> None:
    response = dealer.client.get("/historico/mesa")
    assert (response.status_code, response.headers["Location"]) == (303, "/historico")


def walk_of(page: Page) -> tuple[str, list[str]]:
    (bar,) = page.all("nav", class_="walk")
    return text_of(bar.findall(".//{*}p")[0]), [
        str(one.get("href"))
        for one in bar.iter()
        if one.get("class") == "walk__step" and one.get("href")
    ]


def test_vehicle_from_a_list_leads_to_the_next(
    dealer: PageClient, batch: str, upstream: FaultUpstream
) -> None:
    first, second, third = (
        str(cell[0].get("href")) for cell in dealer.get(batch).all("th", scope="row")
    )
    with no_upstream_call(upstream):
        page = dealer.get(first)
        words, (onward,) = walk_of(page)
        assert words == "1 de 3 · Decidir"
        assert dealer.client.get(onward).headers["Location"] == second
        words, (back, onward) = walk_of(dealer.get(second))
        assert words == "2 de 3 · Decidir"
        assert dealer.client.get(back).headers["Location"] == first
        assert dealer.client.get(onward).headers["Location"] == third
        assert not dealer.get("/placa/ABC1D23").all("nav", class_="walk")


@pytest.mark.parametrize(
    "query",
    [
        "lista=//evil.example&n=1&de=2",
        "lista=/lote/x&n=1&de=2",
        "lista=/historico&n=3&de=2",
        "lista=/historico&n=0&de=2",
        "lista=/historico&n=1",
        "lista=/historico/x&n=1&de=2",
    ],
)
def test_forged_place_is_ignored(query: str) -> None:
    pairs = [(name, one) for name, values in parse_qs(query).items() for one in values]
    assert Walk.of(kept_query(pairs)) is None
