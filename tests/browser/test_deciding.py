"""Deciding a list of forty vehicles: taps, keys, swipes, and without JavaScript."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, PageFactory
from tests.browser.found import box_of
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality.visits import SETTINGS, Visit, prepared

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

PLATES, MOST_TAPS = 40, 45
PLACE = ".deciding__place"


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def batch(portal: PortalProcess) -> tuple[str, str]:
    """The path of a batch of forty plates that has ended, and the Cookie header of its owner."""
    return prepared(portal.url, Visit("list", "/lote", batch="done"))


def open_list(page: "Page", portal: PortalProcess, batch: tuple[str, str]) -> None:
    path, cookie = batch
    name, _, value = cookie.partition("=")
    page.context.add_cookies([{"name": name, "value": value, "url": portal.url}])
    page.goto(portal.url + path)


def test_lines_of_a_lists_tools_end_with_it(
    page: "Page", portal: PortalProcess, batch: tuple[str, str]
) -> None:
    """A list has a tab of each kind here. Once there are tags, the tools take two lines."""
    open_list(page, portal, batch)
    most = 2 if page.locator(".list-tools .tag").count() else 1
    for width in at_each_width(page, 1280, 1440, height=900):
        controls = page.locator(".list-tools :is(a, input, select)")
        boxes = [box_of(one) for one in controls.all() if one.is_visible()]
        assert len({round(box["y"]) for box in boxes}) == most, width
        table = box_of(page.locator(".vehicles"))
        last = [box for box in boxes if box["y"] == max(box["y"] for box in boxes)]
        assert abs(min(box["x"] for box in last) - table["x"]) < 1, width
        ends = max(box["x"] + box["width"] for box in last)
        assert abs(ends - table["x"] - table["width"]) < 1, width
        field = page.locator("#lista-busca")
        assert field.evaluate("(one) => one.scrollWidth <= one.clientWidth"), width


@pytest.mark.over_5_s("forty vehicles")
@pytest.mark.parametrize(
    ("has_script", "decided"),
    [(True, 4), *long((True, PLATES), (False, PLATES))],
    ids=["4", "script", "no script"],
)
def test_forty_vehicles_are_decided_in_45_taps(
    new_page: PageFactory,
    portal: PortalProcess,
    batch: tuple[str, str],
    has_script: bool,
    decided: int,
) -> None:
    """Each takes one tap, and the list leads to the first of them by one."""
    page = new_page(**PHONE, java_script_enabled=has_script)
    open_list(page, portal, batch)
    first = page.locator(".vehicles__plate a").first.inner_text()
    page.get_by_role("link", name="Decidir uma a uma").tap()
    page.locator("#mesa").wait_for()
    if page.locator("#fim").count():  # decided by another test
        page.goto(f"{portal.url}{batch[0]}/mesa?carro={first}")
    taps = 1
    for at in range(1, decided + 1):
        page.locator(PLACE, has_text=f"{at} de {PLATES}").wait_for()
        tag = "Fora" if at <= 7 else "Negociar" if at <= 11 else "Comprar"
        page.get_by_role("button", name=tag).tap()
        taps += 1
    if decided < PLATES:
        page.locator(PLACE, has_text=f"{decided + 1} de {PLATES}").wait_for()
        return
    page.locator("#fim").wait_for()
    assert taps <= MOST_TAPS
    assert page.locator("#fim").inner_text().replace("\n", " ").split() == (
        ["7", "fora", "·", "4", "negociar", "·", "29", "comprar"]
    )
    assert page.get_by_role("button", name="Enviar 12 dossiês").is_visible()


def test_keys_decide_and_walk(page: "Page", portal: PortalProcess, batch: tuple[str, str]) -> None:
    open_list(page, portal, batch)
    path = f"{portal.url}{batch[0]}/mesa"
    first = page.locator(".vehicles__plate a").first.inner_text()
    page.goto(f"{path}?carro={first}")
    page.keyboard.press("2")
    page.locator(PLACE, has_text="2 de 40").wait_for()
    assert "2 de 40" in page.locator("#andamento").inner_text()
    page.keyboard.press("]")
    page.locator(PLACE, has_text="3 de 40").wait_for()
    page.keyboard.press("[")
    page.locator(PLACE, has_text="2 de 40").wait_for()
    page.go_back()
    page.locator(PLACE, has_text="3 de 40").wait_for()
    page.goto(f"{path}?carro={first}")
    assert page.locator("[aria-pressed=true]").inner_text().startswith("Negociar")
    # The same keys lead through the vehicles' own pages.
    page.get_by_role("link", name="Ver tudo deste veículo").click()
    page.wait_for_url("**/placa/**n=1**")
    page.keyboard.press("]")
    page.wait_for_url("**/placa/**n=2**")


def test_focus_stays_on_the_button(
    page: "Page", portal: PortalProcess, batch: tuple[str, str]
) -> None:
    open_list(page, portal, batch)
    first = page.locator(".vehicles__plate a").first.inner_text()
    page.goto(f"{portal.url}{batch[0]}/mesa?carro={first}")
    page.get_by_role("button", name="Negociar").focus()
    for at in (2, 3):
        page.keyboard.press("Enter")
        page.locator(PLACE, has_text=f"{at} de 40").wait_for()
        assert page.evaluate("document.activeElement.value") == "negociar"


SWIPE = """([selector, by]) => {
  const card = document.querySelector(selector), box = card.getBoundingClientRect();
  const finger = { bubbles: true, pointerId: 7, pointerType: "touch", clientY: box.top + 40 };
  const x = box.left + box.width / 2;
  for (const [name, dx] of Object.entries({ pointerdown: 0, pointermove: by, pointerup: by })) {
    card.dispatchEvent(new PointerEvent(name, { ...finger, clientX: x + dx }));
  }
}"""


@pytest.mark.parametrize(("by", "tag"), [(-160, "Fora"), (40, ""), *long((160, "Comprar"))])
def test_swipe_decides(
    phone_page: "Page", portal: PortalProcess, batch: tuple[str, str], by: int, tag: str
) -> None:
    page = phone_page
    open_list(page, portal, batch)
    last = page.locator(".vehicles__plate a").nth(38).inner_text()
    address = f"{portal.url}{batch[0]}/mesa?carro={last}"
    page.goto(address)
    assert page.locator("[data-swipe]").is_visible()
    page.evaluate(SWIPE, [".car-card", by])
    if not tag:
        assert page.locator(PLACE).inner_text() == "39 de 40"
        return
    page.locator(PLACE, has_text="40 de 40").wait_for()
    page.goto(address)
    assert page.locator("[aria-pressed=true]").inner_text().startswith(tag)


def test_vehicle_and_buttons_fit_a_phone(
    phone_page: "Page", portal: PortalProcess, batch: tuple[str, str]
) -> None:
    open_list(phone_page, portal, batch)
    first = phone_page.locator(".vehicles__plate a").first.inner_text()
    phone_page.goto(f"{portal.url}{batch[0]}/mesa?carro={first}")
    boxes = phone_page.evaluate(
        "[...document.querySelectorAll('.deciding__bar, .car-card__prices')]"
        ".map(one => one.getBoundingClientRect().bottom)"
    )
    assert max(boxes) <= PHONE["viewport"]["height"]


def test_forty_rows_are_short_on_a_phone_and_open_to_the_rest(
    phone_page: "Page", portal: PortalProcess, batch: tuple[str, str]
) -> None:
    open_list(phone_page, portal, batch)
    table = phone_page.locator(".vehicles").bounding_box()
    # At most three lines each, and a fourth where the counts need one.
    assert table is not None and table["height"] <= 115 * PLATES
    row = phone_page.locator(".vehicles tbody tr").first
    assert not row.locator(".vehicles__trend").is_visible()
    row.locator(".vehicles__more summary").tap()
    for part in ("trend", "note", "sheet", "acts"):
        assert row.locator(f".vehicles__{part}").is_visible(), part


def test_list_is_heard_as_it_is_decided(
    page: "Page", portal: PortalProcess, batch: tuple[str, str]
) -> None:
    """Each tick of the ribbon has a name, and a status says the next vehicle and its answer."""
    open_list(page, portal, batch)
    first = page.locator(".vehicles__plate a").first.inner_text()
    page.goto(f"{portal.url}{batch[0]}/mesa?carro={first}")
    ribbon = page.get_by_role("navigation", name="Veículos da lista")
    ticks = ribbon.get_by_role("link").all_inner_texts()
    assert len(ticks) == PLATES and all(" " in tick or "," in tick for tick in ticks), ticks
    current = ribbon.locator("[aria-current=true]").inner_text()
    assert first in current and page.get_by_role("article").count() == 1
    for key, name in enumerate(("Fora", "Negociar", "Comprar"), 1):
        button = page.get_by_role("button", name=name, exact=True)
        assert button.get_attribute("data-key") == str(key)
    page.get_by_role("button", name="Negociar", exact=True).press("Enter")
    status = page.get_by_role("status").filter(has_text=f"2 de {PLATES}")
    status.wait_for(state="attached")
    said, _, place = status.inner_text().rpartition(", ")
    assert ": " in said and place == f"2 de {PLATES}"
    assert ": negociar" in ribbon.get_by_role("link").first.inner_text()
