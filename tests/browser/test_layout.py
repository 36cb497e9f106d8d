"""Long words do not widen pages, and an amount that fits on a line is not split."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import PageFactory
from tests.browser.test_hostile_strings import sign_in
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.factories import (
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess
from tests.web.json_paths import PLATE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

PAGES = (
    "/placa/{}?completo=1",
    "/placa/{}/negociacao?reparos=1.000,00",
    "/placa/{}/dossie",
    "/comparar?placas={},KZZ9999",
    "/comparar?placas={}",
)
LONG, ABSURD, AMOUNT = "W" * 60, "M" * 300, "999999999999999"
WIDTHS = (320, 768, 1180)
OTHER_WIDTHS = (360, 700, 820, 1024, 1280)
each_widths = pytest.mark.parametrize("widths", [WIDTHS, *long((OTHER_WIDTHS,))], ids=len)
# The width of the page with all <details> open.
WIDTH = """() => {
  document.querySelectorAll("details").forEach(one => one.open = true);
  return document.documentElement.scrollWidth;
}"""
BROKEN = """([selector, pattern]) => {
  const root = document.querySelector(selector), broken = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (!text.parentElement.checkVisibility()) continue;
    for (const found of text.data.matchAll(new RegExp(pattern, "g"))) {
      const range = document.createRange();
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(found[0]);
    }
  }
  return broken;
}"""
AMOUNTS = ["body", r"-?R\$\u00a0[\d.,]*\d"]
TITLE_WORDS = ["h1", r"\S+"]


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[PortalProcess, FaultUpstream]]:
    settings = {f"PORTAL_FRESH_{name}": "0" for name in ("DECODE", "RENAINF", "RENAJUD")}
    with (
        FaultUpstream() as upstream,
        PortalProcess(managed(upstream.url) | settings, workers=1) as server,
    ):
        yield server, upstream


def answer(upstream: FaultUpstream, decode: bytes, renainf: bytes, renajud: bytes) -> None:
    bodies: dict[Operation, bytes] = {"decode": decode, "renainf": renainf, "renajud": renajud}
    for operation, body in bodies.items():
        upstream.script(path_of(operation, PLATE), faults.answer("given", body))


def versions(text: str, **overrides: Any) -> list[Any]:
    """Return eight versions, too many for tabs, so that the page lists the others."""
    return [fipe_entry(versao=f"{number}{text}", **overrides) for number in range(8)]


def unbreakable(text: str) -> tuple[bytes, bytes, bytes]:
    """Return records with one long word in every text, and absurdly high amounts."""
    return (
        decode_body(
            PLATE,
            marca=text,
            descricao=text,
            combustivel=text,
            caixaCambio=text,
            informacoesFipe=versions(text, fipeId=text, combustivel=text, valorAtual=AMOUNT),
        ),
        renainf_body(
            *[
                fine(
                    codigoInfracao="99999",
                    descricao=text,
                    orgaoAutuador=text,
                    localInfracao=text,
                    dataInfracao=text,
                    tipo=text,
                    valor=AMOUNT,
                )
            ]
            * 6
        ),
        renajud_body(
            restriction(tribunal=text, orgaoJudiciario=text, restricoes=text, detalheRenajud=text)
        ),
    )


@each_widths
@pytest.mark.parametrize("text", [LONG, *long(ABSURD)], ids=["long", "absurd"])
def test_long_words_and_amounts_do_not_widen_pages(
    page: "Page",
    running: tuple[PortalProcess, FaultUpstream],
    text: str,
    widths: tuple[int, ...],
) -> None:
    server, upstream = running
    answer(upstream, *unbreakable(text))
    sign_in(page, server)
    for path in PAGES:
        page.goto(server.url + path.format(PLATE))
        for width in at_each_width(page, *widths):
            assert page.evaluate(WIDTH) <= width, (path, width)


@each_widths
def test_fitting_amounts_stay_on_one_line(
    page: "Page", running: tuple[PortalProcess, FaultUpstream], widths: tuple[int, ...]
) -> None:
    server, upstream = running
    answer(
        upstream,
        decode_body(
            PLATE,
            informacoesFipe=versions(
                "SED.1.8/1.8 AMBIT.16V TB FSI S-TRONIC",
                valorAtual="1189325.00",
                historicoPreco=price_history(60, 3, (2021, 12), 1_200_000),
            ),
        ),
        renainf_body(
            *[fine(dataEmissaoPenalidade="01/12/2025", codigoInfracao="7633")] * 4,
            fine(pagamento=payment(dataPagamento="02/12/2025", valorPago="293.47")),
        ),
        renajud_body(),
    )
    sign_in(page, server)
    for path in PAGES:
        page.goto(server.url + path.format(PLATE))
        for width in at_each_width(page, *widths):
            assert page.evaluate(WIDTH) <= width, (path, width)
            assert page.evaluate(BROKEN, AMOUNTS) == [], (path, width)


def test_dossier_title_breaks_between_words(
    page: "Page", running: tuple[PortalProcess, FaultUpstream]
) -> None:
    server, upstream = running
    answer(upstream, decode_body(PLATE), renainf_body(), renajud_body())
    sign_in(page, server)
    page.goto(f"{server.url}/placa/{PLATE}/dossie")
    for width in at_each_width(page, 320, 360, 768):
        assert page.evaluate(BROKEN, TITLE_WORDS) == [], width


def test_glossary_has_space_below_lead(
    new_page: PageFactory, running: tuple[PortalProcess, FaultUpstream]
) -> None:
    server, _ = running
    page = new_page(viewport={"width": 360, "height": 640})
    page.goto(f"{server.url}/glossario")
    lead = page.evaluate("document.querySelector('.lead').getBoundingClientRect().bottom")
    first = page.evaluate("document.querySelector('.glossary').getBoundingClientRect().top")
    assert first - lead >= 24
