"""Every month of the price chart can be read with keys, taps and a pointer."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.browser.conftest import PageFactory
from tests.browser.found import content_of
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

WIDTHS = (320, 360, 768, 1024, 1440)
SIX = "/placa/FIP0A06?completo=1"
MONTHS = ("jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez")
READING = "[data-chart-reading]"
SLIDER = "[data-chart-slider]"
# The cells of the month table as (year, month, price); "*" marks a prediction.
TABLE = """() => {
  const rows = [...document.querySelectorAll("#preco .price-table tbody tr")];
  return rows.flatMap((row) => [...row.querySelectorAll("td")].map((cell, month) =>
    [row.querySelector("th").textContent, month, cell.textContent]));
}"""
# Pairs of texts of the price section whose boxes overlap by more than a rounding error.
OVERLAPS = """() => {
  const shown = (part) => part.checkVisibility({ visibilityProperty: true });
  const section = document.querySelector("#preco");
  const texts = [...section.querySelectorAll("svg text, p, th, td, li, summary, .price__ranges a")]
    .filter((part) => shown(part) && part.textContent.trim()
      && !part.closest(".visually-hidden")
      && getComputedStyle(part.closest("thead") ?? section).position !== "absolute")
    .flatMap((part) => {
      if (part.closest("svg")) return [[part.textContent, part.getBoundingClientRect()]];
      const words = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      const boxes = [];
      while (words.nextNode()) {
        if (words.currentNode.parentElement.closest(".visually-hidden")) continue;
        const range = document.createRange();
        range.selectNodeContents(words.currentNode);
        boxes.push(...range.getClientRects());
      }
      return boxes.map((box) => [part.textContent, box, part]);
    })
    .filter(([, box]) => box.width > 2 && box.height > 2);
  const out = [];
  texts.forEach(([text, a, owner], i) => texts.slice(i + 1).forEach(([other, b, holder]) => {
    if (owner && owner === holder) return;
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 3) out.push([text, other, across, down]);
  }));
  return out;
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def months_of(page: "Page") -> list[str]:
    """Return the readings expected from the month table, as "jul/24 · R$ 31.315".

    The reading of a predicted month ends with "previsão".
    """
    page.locator("#preco details").first.evaluate("fold => fold.open = true")
    found = {}
    for year, month, text in page.evaluate(TABLE):
        if text != "—":
            note = " · previsão" if text.endswith("*") else ""
            price = f"R$\u00a0{text.removesuffix('*')}"
            found[int(year) * 12 + month] = f"{MONTHS[month]}/{year[2:]} · {price}{note}"
    return [found[index] for index in sorted(found)]


def month_of(text: str) -> str:
    return re.sub(r" · (−.* do pico|pico)$", "", text)


def reading(page: "Page") -> str:
    return month_of(content_of(page.locator(READING)))


def readings(page: "Page", acts: Iterable[Callable[[], None]]) -> list[str]:
    """Return what the chart shows one after the other during the acts.

    The page records it, because to ask for it after each act takes as long as the acts.
    """
    page.locator(READING).evaluate("""(reading) => {
      window.read = [];
      window.observer?.disconnect();
      window.observer = new MutationObserver(() => read.push(reading.textContent));
      observer.observe(reading, { childList: true });
    }""")
    for act in acts:
        act()
    return [month_of(text) for text, _ in groupby(page.evaluate("read"))]


@pytest.mark.parametrize("steps", [12, *long(119)])
def test_arrow_keys_read_every_month(page: "Page", portal: PortalProcess, steps: int) -> None:
    """The reading is made of the slider's values, which are those of the table."""
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    assert len(wanted) == 120
    assert sum("previsão" in text for text in wanted) > 0
    values = page.locator(SLIDER).evaluate("one => JSON.parse(one.dataset.chartSlider).values")
    # A prediction is a negative value.
    amounts = [f"R$\u00a0{abs(value):,}".replace(",", ".") for value in values]
    assert [(amount, value < 0) for amount, value in zip(amounts, values, strict=True)] == [
        (text.split(" · ")[1], "previsão" in text) for text in wanted
    ]
    page.focus(SLIDER)
    press = page.keyboard.press
    forth = readings(page, [partial(press, key) for key in ["Home", *["ArrowRight"] * steps]])
    assert forth == wanted[: steps + 1]
    press("End")
    press("ArrowRight")
    assert reading(page) == wanted[-1]
    assert readings(page, [partial(press, "ArrowLeft")] * steps) == wanted[-2 : -2 - steps : -1]
    press("Home")
    press("ArrowLeft")
    assert reading(page) == wanted[0]


def test_pages_and_ends_are_keys(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    page.focus(SLIDER)
    for key, index in (("End", 119), ("PageDown", 107), ("PageDown", 95), ("PageUp", 107)):
        page.keyboard.press(key)
        assert reading(page) == wanted[index]
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    assert reading(page) == wanted[0]
    page.keyboard.press("Escape")
    assert not page.locator(READING).is_visible()


def middles(page: "Page") -> list[tuple[float, float]]:
    """Return a point of each month, at half the height of the plot."""
    points: list[tuple[float, float]] = page.evaluate(
        f"""() => {{
          const slider = document.querySelector("{SLIDER}");
          const {{ x: [from, to], values }} = JSON.parse(slider.dataset.chartSlider);
          const box = slider.getBoundingClientRect();
          return values.map((_, index) => [
            box.left + box.width * (from + (to - from) * index / (values.length - 1)) / 100,
            box.top + box.height / 2,
          ]);
        }}"""
    )
    return points


@pytest.mark.long  # make test reads every month by keys, and a tap in test_tap_reads_a_month
def test_every_month_is_read_by_tap(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    page.locator(SLIDER).scroll_into_view_if_needed()
    assert readings(page, [partial(page.touchscreen.tap, *at) for at in middles(page)]) == wanted
    page.touchscreen.tap(20, 100)
    assert not page.locator(READING).is_visible()


def test_tap_reads_a_month(phone_page: "Page", portal: PortalProcess) -> None:
    page = phone_page
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    page.locator(SLIDER).scroll_into_view_if_needed()
    points = middles(page)
    for month in (0, len(wanted) // 2, len(wanted) - 1):
        page.touchscreen.tap(*points[month])
        assert reading(page) == wanted[month]
    page.touchscreen.tap(20, 100)
    assert not page.locator(READING).is_visible()


@pytest.mark.long  # the slider reads a tap and a pointer's move by one function
def test_every_month_is_read_by_pointer(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    page.locator(SLIDER).scroll_into_view_if_needed()
    assert readings(page, [partial(page.mouse.move, *at) for at in middles(page)]) == wanted
    page.mouse.move(5, 5)
    assert not page.locator(READING).is_visible()


def test_reading_is_in_the_accessibility_tree(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    slider = page.get_by_role("slider", name="Preço FIPE de 1.0 MI Total Flex")
    assert slider.count() == 1
    spoken = str(slider.get_attribute("aria-valuetext"))
    assert re.fullmatch(r"\w+ de 2026: R\$\u00a0[\d.]+, [\d,]+% abaixo do pico", spoken)
    slider.focus()
    page.keyboard.press("End")
    assert str(slider.get_attribute("aria-valuetext")).endswith(", previsão")
    assert slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax")
    assert "slider" in page.locator("[data-chart]").aria_snapshot()


def test_chart_that_arrives_later_is_readable(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/FIP0A03")
    page.wait_for_selector(SLIDER)
    page.focus(SLIDER)
    page.keyboard.press("ArrowLeft")
    assert page.locator(READING).is_visible()


def test_label_gives_way_to_crosshair(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    wanted = months_of(page)
    label = page.locator(".price-chart__label")
    peak = max(range(len(wanted)), key=lambda i: (" · previsão" not in wanted[i], wanted[i][8:]))
    page.focus(SLIDER)
    page.keyboard.press("Home")
    assert label.is_visible()
    years, months = divmod(peak, 12)
    for key in ["PageUp"] * years + ["ArrowRight"] * months:
        page.keyboard.press(key)
    assert content_of(page.locator(READING)).endswith("· pico")
    assert not label.is_visible()
    page.keyboard.press("Home")
    assert label.is_visible()


def test_ranges_and_versions_need_no_script(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    page.goto(f"{portal.url}{SIX}&ordem=valor")
    assert page.locator(SLIDER).count() == 1 and not page.locator(SLIDER).is_visible()
    page.get_by_role("link", name="3\u00a0anos").click()
    assert page.locator(".price__ranges [aria-current]").text_content() == "3\u00a0anos"
    page.get_by_role("link", name="Trendline").click()
    assert {"completo=1", "ordem=valor", "anos=3", "versao=3"} <= set(
        page.url.partition("?")[2].removesuffix("#fipe").split("&")
    )
    assert "Trendline" in content_of(page.locator(".price-version[aria-current]"))
    assert page.locator(".price-chart__other--1").count() == 1
    assert page.locator(".price-chart__other--3").count() == 0
    page.get_by_role("link", name="Tudo").click()
    assert "anos=" not in page.url and "versao=3" in page.url


def test_choice_with_script_keeps_page_and_address(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}{SIX}&ordem=valor")
    page.evaluate("window.kept = true; history.replaceState(null, '', location.href + '&busca=x')")
    page.get_by_role("link", name="Trendline").click()
    page.wait_for_selector(".price-version--3[aria-current]")
    assert page.evaluate("window.kept")
    assert {"ordem=valor", "busca=x", "versao=3"} <= set(page.url.partition("?")[2].split("&"))
    assert "Trendline" in page.evaluate("document.activeElement.textContent")
    page.get_by_role("link", name="1\u00a0ano").click()
    page.wait_for_selector(".price__ranges [aria-current]:text('1\u00a0ano')")
    page.focus(SLIDER)
    page.keyboard.press("ArrowLeft")
    assert page.locator(READING).is_visible()


# Without scripts the server's page answers, which tests/web/pages/test_negotiation.py reads.
with_scripts = pytest.mark.parametrize("scripts", [True, *long(False)])


@with_scripts
def test_asking_price_is_compared(
    new_page: PageFactory, portal: PortalProcess, scripts: bool
) -> None:
    page = new_page(java_script_enabled=scripts)
    page.goto(f"{portal.url}{SIX}&versao=3&ordem=valor")
    page.get_by_label("Preço pedido").press_sequentially("60.000")
    if not scripts:
        page.get_by_role("button", name="Comparar").click()
    page.wait_for_selector("#pedido-resposta:text('da FIPE desta versão')")
    assert {"versao=3", "ordem=valor", "pedido=60.000"} <= set(
        page.url.partition("?")[2].removesuffix("#fipe").split("&")
    )
    assert page.get_by_label("Preço pedido").input_value() == "60.000"
    assert page.locator(".price-chart__asking").count() == 1
    assert content_of(page.locator(".price-chart__asked")) == "pedido 60.000"


@with_scripts
def test_negotiation_follows_what_is_typed(
    new_page: PageFactory, portal: PortalProcess, scripts: bool
) -> None:
    """With the script the sheet follows each input, and the fields keep what they hold."""
    page = new_page(java_script_enabled=scripts)
    page.goto(f"{portal.url}/placa/MUL0A45?completo=1")
    page.goto(f"{portal.url}/placa/MUL0A45/negociacao")
    page.get_by_label("Preço pedido").press_sequentially("170.000")
    page.get_by_label("Reparos").press_sequentially("1.000")
    page.get_by_label("com 20% de desconto").check()
    if not scripts:
        page.get_by_role("button", name="Calcular").click()
    page.wait_for_selector("#pedido-resposta:text('acima do teto')")
    page.wait_for_selector(".scenarios__chosen:has-text('20%')")
    page.wait_for_selector(".sheet tr:has-text('Reparos')")
    asked = dict(parse_qsl(urlsplit(page.url).query))
    assert (asked["pedido"], asked["reparos"], asked["parte"]) == ("170.000", "1.000", "80")
    assert page.get_by_role("searchbox", name="Preço pedido").input_value() == "170.000"


def test_pointing_at_a_row_raises_its_line(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    colour = "line => getComputedStyle(line).stroke"
    line = page.locator(".price-chart__other--4")
    before = line.evaluate(colour)
    page.hover(".price-version--4")
    assert line.evaluate(colour) != before


@pytest.mark.long  # test_overlaps.py looks at the page with all years
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [SIX, "/placa/ABC1D23?completo=1", "/placa/MES0A01?completo=1"])
def test_no_texts_overlap(
    new_page: PageFactory, portal: PortalProcess, path: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(portal.url + path)
    for years in ("1\u00a0ano", "3\u00a0anos", "5\u00a0anos", "Tudo"):
        link = page.get_by_role("link", name=years)
        if link.count():
            link.click()
            page.wait_for_selector(f".price__ranges [aria-current]:text('{years}')")
        for width in at_each_width(page, *WIDTHS):
            assert page.evaluate(OVERLAPS) == [], (width, years)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_reading_stays_inside_the_chart(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + SIX)
    for width in at_each_width(page, *WIDTHS, height=800):
        page.focus(SLIDER)
        for key in ("Home", "End"):
            page.keyboard.press(key)
            inside = page.evaluate(
                f"""() => {{
                  const a = document.querySelector("{READING}").getBoundingClientRect();
                  const b = document.querySelector("[data-chart]").getBoundingClientRect();
                  return a.left >= b.left - 1 && a.right <= b.right + 1;
                }}"""
            )
            assert inside, (width, key)
        page.keyboard.press("Escape")


def test_sparkline_is_in_the_comparison(page: "Page", portal: PortalProcess) -> None:
    """MES0A01 has a price of one month only, so it has no sparkline."""
    page.goto(f"{portal.url}/comparar?placas=ABC1D23,MES0A01&completo=1")
    assert page.locator("svg.sparkline").count() == 1
