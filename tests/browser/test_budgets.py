"""A page says each thing once: how many words, pixels and bytes it may take, and its rhythm."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import conftest
from tests.browser.conftest import PageFactory
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality.measures import wire_bytes

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

pytestmark = pytest.mark.long

DESK = {"width": 1440, "height": 900}
# What a reader sees of an element without opening anything.
WORDS = """(selector) => {
  const words = [];
  const root = document.querySelector(selector);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent.closest("svg, script, template, .visually-hidden")) continue;
    if (!parent.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    if (range.getBoundingClientRect().height) words.push(...walker.currentNode.data.split(/\\s+/));
  }
  return words.filter((word) => /[\\p{L}\\p{N}]/u.test(word));
}"""
# The smallest room in px between a box with a border or a ground of its own and what is beside it.
CRAMPED = """() => {
  const boxes = [...document.querySelectorAll("main *")].filter((one) => {
    if (!one.matches(".documents, .notice, .restriction, .since, .hero, .checklist")) return false;
    return one.checkVisibility();
  });
  const found = [];
  for (const box of boxes) {
    const next = box.nextElementSibling;
    if (!next || !next.checkVisibility()) continue;
    const room = next.getBoundingClientRect().top - box.getBoundingClientRect().bottom;
    const isBand = box.matches(".hero, .checklist");
    if (!isBand && room < 8) found.push([box.className, next.className || next.tagName, room]);
  }
  for (const box of document.querySelectorAll("main .documents, main .renavam-note")) {
    const before = box.previousElementSibling;
    if (!box.checkVisibility() || !before?.checkVisibility()) continue;
    const room = box.getBoundingClientRect().top - before.getBoundingClientRect().bottom;
    if (room < 8) found.push([before.className, box.className, room]);
  }
  return found;
}"""
MOST_WIRE_BYTES = 60_000


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def words(page: "Page", selector: str = "main") -> list[str]:
    found: list[str] = page.evaluate(WORDS, selector)
    return found


@pytest.mark.parametrize(
    ("plate", "most"), [("MUL0A45", 900), *long(("ABC1D23", 700), ("LMP0A01", 500))]
)
def test_page_has_few_words(
    new_page: PageFactory, portal: PortalProcess, plate: str, most: int
) -> None:
    for options in (conftest.PHONE, {"viewport": DESK}):
        page = new_page(**options)
        page.goto(f"{portal.url}/placa/{plate}?completo=1")
        assert len(words(page)) <= most, (options, len(words(page)))


@pytest.mark.long  # make test counts the words of six vehicles in test_vehicle_page.py
@pytest.mark.parametrize(
    ("plate", "most"), [("ABC1D23", 55), ("LMP0A01", 55), ("MUL0A45", 62), ("JUD0A04", 55)]
)
def test_first_screen_of_a_phone_has_few_words(
    phone_page: "Page", portal: PortalProcess, plate: str, most: int
) -> None:
    phone_page.goto(f"{portal.url}/placa/{plate}?completo=1")
    said = words(phone_page, ".hero")
    assert len(said) <= most, (len(said), said)


def test_section_of_45_fines_is_short(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport=DESK)
    page.goto(f"{portal.url}/placa/MUL0A45?completo=1")
    height = "document.querySelector('#multas').offsetHeight"
    assert page.evaluate(height) <= 900  # the ledger is folded
    page.click("text=Ver as 45")
    assert page.evaluate(height) <= 2600


def test_link_to_a_fine_opens_the_folded_ledger(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/MUL0A45?completo=1#multa-7")
    page.wait_for_selector("#multa-7 details[open]")
    assert page.locator("#multa-7").is_visible()


def test_nothing_found_is_said_once_on_a_clean_car(
    phone_page: "Page", portal: PortalProcess
) -> None:
    phone_page.goto(f"{portal.url}/placa/LMP0A01?completo=1")
    said = " ".join(words(phone_page, ".hero")).lower()
    assert said.count("nada encontrado") == 1
    first = phone_page.locator(".hero__answer > *").nth(1)
    assert "Falta conferir" in first.inner_text()


@pytest.mark.parametrize(
    "path", ["/placa/ABC1D23", *long("/placa/LMP0A01", "/renavam/79831854647")]
)
def test_boxes_have_room_between_them(page: "Page", portal: PortalProcess, path: str) -> None:
    page.goto(f"{portal.url}{path}?completo=1")
    for width in at_each_width(page, 390, 820, 1440, height=900):
        assert page.evaluate(CRAMPED) == [], width


@pytest.mark.parametrize("plate", ["MUL0A45", *long("ABC1D23")])
def test_page_is_small_on_the_wire(page: "Page", portal: PortalProcess, plate: str) -> None:
    """Everything that the first visit needs, as the portal sends it, without the font."""
    sent: list[str] = []

    def note(response: "Response") -> None:
        kind = response.headers.get("content-type", "")
        if "font" not in kind and "image" not in kind:
            sent.append(response.url)

    page.on("response", note)
    page.goto(f"{portal.url}/placa/{plate}?completo=1")
    page.wait_for_load_state("networkidle")
    weights = {url: wire_bytes(url, ()) for url in sent}
    assert len(weights) >= 4 and sum(weights.values()) < MOST_WIRE_BYTES, weights


def test_more_opens_over_the_dock(phone_page: "Page", portal: PortalProcess) -> None:
    phone_page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    at = phone_page.evaluate("scrollY")
    phone_page.locator(".dock button[popovertarget]").tap()
    documents = phone_page.locator("#documentos")
    assert documents.is_visible() and phone_page.evaluate("scrollY") == at
    assert not documents.locator("text=Enviar dossiê").is_visible()
    for name in ("Comparar", "Ver o dossiê antes de enviar", "Atualizar agora"):
        assert documents.locator(f"text={name}").is_visible(), name
    phone_page.keyboard.press("Escape")
    assert not documents.is_visible()
